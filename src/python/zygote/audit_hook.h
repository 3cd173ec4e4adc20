#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "python/wire/gate.h"
#include "python/zygote/granted_folders.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// The interpreter's own eyes (PEP 578): notes what user code attempts and refuses, with a sentence,
// what the kernel would refuse with a number. Evidence and friction, never the boundary: hostile
// code can switch it off from inside.

// Before Py_Initialize, so that Python code cannot come first. Does nothing until StartAuditing().
void InstallAuditHook();

// What boxes may use of the file system: a path outside of it is noted. Once, before the first box.
void SetGrantedFolders(GrantedFolders folders);
// And this one of the box at hand.
void GrantFolder(const std::string& folder);

// Boxes have a network of their own: what is done in it is for the egress to judge and to tell.
void AllowNetwork();

// From here on attempts are noted; `user_file` tells the user's frames from others.
void StartAuditing(const std::string& user_file);

struct AuditRecord {
  std::vector<wire::RunEvent> events;  // at most wire::kEventsMax
  std::uint64_t dropped = 0;
};

// The line of the innermost frame that is the user's; 0 when there is none.
int UserLine();

// A refusal that somebody else made, as an event of this record.
void NoteRefusal(const std::string& operation, const std::string& target, const std::string& rule,
                 const std::string& remedy);

// Is asked first about every event between StartAuditing and StopAuditing; answers as an audit hook
// does. Null: nobody.
using EventWatch = int (*)(const char* event, PyObject* arguments);
void SetEventWatch(EventWatch watch);

// What was noted since StartAuditing; stops noting.
AuditRecord StopAuditing();

}  // namespace glovebox::zygote
