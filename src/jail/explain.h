#pragma once

// A policy in sentences, and the difference of two.

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/jail_policy.h"

namespace glovebox::jail {

// One thing that a policy says: a word of it, its value, and what that means.
struct PolicyLine {
  std::string word;      // "read"
  std::string value;     // "~/src"; for what has a default, the default
  std::string sentence;  // "may read ~/src and everything below it"
  bool said = true;      // by the policy, not by default
};
std::vector<PolicyLine> ExplainPolicy(const policy::JailPolicy& policy);

// How `after` differs from `before`: what it says besides, and what it does not say any more.
struct PolicyChange {
  bool added = false;
  bool widens = false;  // a program may do more
  PolicyLine line;
};
std::vector<PolicyChange> DiffPolicies(const policy::JailPolicy& before,
                                       const policy::JailPolicy& after);

// What is wrong with it on this host: a path that is not there, is sensitive or contradicts
// another.
Status CheckOnThisHost(const policy::JailPolicy& policy);

}  // namespace glovebox::jail
