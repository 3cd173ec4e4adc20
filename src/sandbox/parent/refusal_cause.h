#pragma once

#include <string>

#include "sandbox/parent/host_facts.h"

namespace glovebox::sandbox {

// What usually is behind a refusal on a host like this one, and the command that helps.
struct RefusalCause {
  std::string cause;  // empty when unknown
  std::string fix;
};

inline constexpr const char* kUnknownFix =
    "see `dmesg | tail` for a refusal by a security module, and report what you find";

// Why no user namespace can be made, or used, that failed with `sys_errno`. The error is the proof;
// `facts` only choose among its usual causes. doctor, error messages and results say these words.
RefusalCause WhyNoNamespaces(int sys_errno, const HostFacts& facts);

// For other walls: a filter above this process refuses `calls`, and how to start without it.
std::string FilterCause(const HostFacts& facts, const std::string& calls);
std::string FilterFix(const HostFacts& facts);

bool IsPodman(const HostFacts& facts);

}  // namespace glovebox::sandbox
