#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "python/wire/gate.h"

namespace glovebox::zygote {

// The interpreter's own eyes (PEP 578): notes what user code attempts and refuses, with a sentence,
// what the kernel would refuse with a number. Evidence and friction, never the boundary: hostile
// code can switch it off from inside.

// Before Py_Initialize, so that Python code cannot come first. Does nothing until StartAuditing().
void InstallAuditHook();

// From here on attempts are noted; `user_file` tells the user's frames from others.
void StartAuditing(const std::string& user_file);

struct AuditRecord {
  std::vector<wire::RunEvent> events;  // at most wire::kEventsMax
  std::uint64_t dropped = 0;
};

// What was noted since StartAuditing; stops noting.
AuditRecord StopAuditing();

}  // namespace glovebox::zygote
