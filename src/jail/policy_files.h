#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/jail_policy.h"

namespace glovebox::jail {

// The policies of policies/servers/, by name, as built into this program.
struct ShippedPolicy {
  std::string_view name;
  std::string_view text;
};
const std::vector<ShippedPolicy>& ShippedPolicies();

// The policy in the file `word`, or the shipped one of that name, which has no '/' and no '.'. An
// error begins with `word`.
Result<policy::JailPolicy> LoadPolicy(const std::string& word);

}  // namespace glovebox::jail
