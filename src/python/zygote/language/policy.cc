#include "python/zygote/language/policy.h"

#include <algorithm>
#include <utility>

namespace glovebox::zygote {
namespace {

// Whether `name` is `module` or lies below it.
bool Covers(std::string_view module, std::string_view name) {
  return name.starts_with(module) && (name.size() == module.size() || name[module.size()] == '.');
}

std::string Shortened(std::string text) {
  if (text.size() > wire::kFindingBytesMax) {
    std::size_t size = wire::kFindingBytesMax;
    while (size > 0 && (text[size] & 0xC0) == 0x80) --size;
    text.resize(size);
  }
  return text;
}

}  // namespace

ActivePolicy::ActivePolicy(const wire::LanguagePolicy& policy) : policy_(&policy) {
  if (!policy.enabled) off_.set();
  for (const std::string_view name : policy.rules_off) {
    if (const auto id = RuleByName(name)) off_.set(static_cast<std::size_t>(*id));
  }
}

bool ActivePolicy::Allows(std::string_view module) const {
  if (module == "__future__") return true;  // part of the grammar
  return std::any_of(policy_->modules.begin(), policy_->modules.end(),
                     [module](std::string_view listed) { return Covers(listed, module); });
}

bool ActivePolicy::LeadsToAllowed(std::string_view module) const {
  return std::any_of(policy_->modules.begin(), policy_->modules.end(),
                     [module](std::string_view listed) { return Covers(module, listed); });
}

bool ActivePolicy::Grants(std::string_view builtin) const {
  return std::find(policy_->builtins.begin(), policy_->builtins.end(), builtin) !=
         policy_->builtins.end();
}

wire::Finding ActivePolicy::Find(RuleId id, std::string what, std::string_view module) const {
  const Rule& rule = RuleOf(id);
  wire::Finding finding;
  finding.rule = rule.name;
  finding.what = Shortened(std::move(what));
  finding.why = rule.why;
  finding.instead = rule.instead;
  finding.refuses_program = rule.moment != Moment::kReached;
  if (module.empty()) return finding;
  for (auto word = policy_->remedies.begin(); word != policy_->remedies.end(); ++word) {
    const std::string_view name = *word++;
    if (word == policy_->remedies.end()) break;
    if (Covers(name, module)) finding.instead = Shortened("allowed by " + std::string(*word));
  }
  return finding;
}

}  // namespace glovebox::zygote
