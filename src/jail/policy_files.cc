#include "jail/policy_files.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/file.h"
#include "embedded/jail_policies.h"

namespace glovebox::jail {

const std::vector<ShippedPolicy>& ShippedPolicies() {
  static const std::vector<ShippedPolicy> policies = {
      {"everything", embedded::kEverythingServer},
      {"fetch", embedded::kFetchServer},
      {"filesystem", embedded::kFilesystemServer},
      {"memory", embedded::kMemoryServer},
  };
  return policies;
}

Result<policy::JailPolicy> LoadPolicy(const std::string& word) {
  std::optional<std::string> text;
  if (word.find_first_of("/.") == std::string::npos) {
    const auto& shipped = ShippedPolicies();
    const auto found = std::find_if(shipped.begin(), shipped.end(),
                                    [&](const ShippedPolicy& one) { return one.name == word; });
    if (found != shipped.end()) text = std::string(found->text);
  }
  if (!text) text = ReadFile(word);
  if (!text) {
    std::string names;
    for (const ShippedPolicy& one : ShippedPolicies()) {
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    return Error::FromErrno("reading the policy " + word + " (shipped are " + names + ")", errno);
  }
  auto policy = policy::ParseJailPolicy(*text);
  if (!policy) return std::move(policy).error().Within(word);
  return policy;
}

}  // namespace glovebox::jail
