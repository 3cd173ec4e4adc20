#pragma once

// The rules of the language layer as data: what is objected to, why, and what to do instead. The
// table in docs/language-layer.md is checked against this one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace glovebox::zygote {

enum class RuleId : std::uint8_t {
  kImport,
  kModuleWalk,
  kPrivateMember,
  kBuiltin,
  kInterpreterAttribute,
  kClassWalk,
  kFrame,
  kPickle,
  kFormat,
  kDynamicAttribute,
  kStringEvaluator,
  kNamespace,
  kSystemCall,
  kFile,
  kCount
};

// When a rule speaks.
enum class Moment : std::uint8_t {
  kBefore,   // in the syntax tree: the program is not started
  kReached,  // at run time, when the operation is reached; validation still reports what it can see
  kBoth,
};

struct Rule {
  RuleId id;
  const char* name;  // how findings, documents and `rules_off` call it
  Moment moment;
  const char* what;  // the subject, in the words of the documents
  const char* why;
  const char* instead;
};

std::span<const Rule> Rules();
const Rule& RuleOf(RuleId id);
std::optional<RuleId> RuleByName(std::string_view name);

// What an attribute's name means wherever it is written: `x.name`, getattr(x, "name"),
// attrgetter("name"), "{0.name}", `case C(name=v)`.
enum class AttributeAction : std::uint8_t {
  kRefuse,
  kGuard,  // depends on the object: looked at when it is reached
};

struct AttributeRule {
  const char* name;
  RuleId rule;
  AttributeAction action;
};
std::span<const AttributeRule> AttributeRules();

// Members of library modules that are not what the module was granted for.
struct MemberRule {
  const char* module;
  const char* member;
  RuleId rule;
};
// Null if there is none for it.
const MemberRule* MemberRuleOf(std::string_view module, std::string_view member);

// Audit events (PEP 578) that only a holder of `module` may cause from the program's own code.
struct EffectRule {
  const char* event_prefix;
  const char* module;
};
std::span<const EffectRule> EffectRules();

}  // namespace glovebox::zygote
