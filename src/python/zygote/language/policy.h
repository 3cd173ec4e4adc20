#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "python/wire/language.h"
#include "python/zygote/language/rules.h"

namespace glovebox::zygote {

// The request's policy, ready to be asked. Copies nothing: the request outlives it.
class ActivePolicy {
 public:
  explicit ActivePolicy(const wire::LanguagePolicy& policy);

  // The name itself, or a dotted prefix of it, is listed.
  bool Allows(std::string_view module) const;
  // Something below it is listed: `xml` on the way to `xml.etree.ElementTree`.
  bool LeadsToAllowed(std::string_view module) const;
  bool Grants(std::string_view builtin) const;
  bool applies(RuleId rule) const { return !off_[static_cast<std::size_t>(rule)]; }

  // A finding of `rule`, its remedy adapted to `module` when there is one.
  wire::Finding Find(RuleId rule, std::string what, std::string_view module = {}) const;

 private:
  const wire::LanguagePolicy* policy_;
  std::bitset<static_cast<std::size_t>(RuleId::kCount)> off_;
};

}  // namespace glovebox::zygote
