#include "policy/syscall_policy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "policy/toml_reader.h"

namespace glovebox {
namespace {

using policy::CheckKeys;
using policy::ReadText;

constexpr std::uint64_t kLow32Bits = 0xFFFFFFFF;
constexpr std::int64_t kSyscallArguments = 6;

// The errno values a refusal may use. Few, so that a typing error is not a new behaviour.
Result<int> ErrnoFromName(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, int>, 6> kNames = {{
      {"EPERM", EPERM},
      {"EACCES", EACCES},
      {"EINVAL", EINVAL},
      {"ENOSYS", ENOSYS},
      {"ENOTTY", ENOTTY},
      {"EAFNOSUPPORT", EAFNOSUPPORT},
  }};
  for (const auto& [known, value] : kNames) {
    if (name == known) return value;
  }
  return policy::InvalidPolicy("unknown errno `" + name +
                               "`: use EPERM, EACCES, EINVAL, ENOSYS, ENOTTY or EAFNOSUPPORT");
}

Result<int> ReadErrno(const toml::table& table, std::string_view key, const std::string& fix) {
  return ErrnoFromName(TRY(ReadText(table, key, fix)));
}

// An integer of the file as a register value. TOML integers are signed; a negative one is refused
// rather than extended to 64 bits, where the kernel would see 32.
Result<std::uint64_t> ReadRegister(const toml::node& node, std::string_view key) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < 0) {
    return policy::InvalidPolicy("`" + std::string(key) +
                                 "` must hold integers >= 0, such as 0x5401");
  }
  return static_cast<std::uint64_t>(*value);
}

Result<std::vector<std::uint64_t>> ReadValues(const toml::table& table) {
  const toml::node* equals = table.get("equals");
  const toml::node* one_of = table.get("one_of");
  if ((equals == nullptr) == (one_of == nullptr)) {
    return policy::InvalidPolicy("a test needs either `equals` or `one_of`");
  }
  std::vector<std::uint64_t> values;
  if (equals != nullptr) {
    values.push_back(TRY(ReadRegister(*equals, "equals")));
    return values;
  }
  const toml::array* list = one_of->as_array();
  if (list == nullptr || list->empty())
    return policy::InvalidPolicy("`one_of` must be a list of integers");
  for (const toml::node& node : *list) values.push_back(TRY(ReadRegister(node, "one_of")));
  return values;
}

Result<std::uint64_t> ReadMask(const toml::table& table) {
  std::int64_t bits = 32;
  if (const toml::node* node = table.get("bits"); node != nullptr) {
    bits = node->value_exact<std::int64_t>().value_or(0);
    if (bits != 32 && bits != 64) return policy::InvalidPolicy("`bits` must be 32 or 64");
  }
  const std::uint64_t width = bits == 64 ? ~std::uint64_t{0} : kLow32Bits;
  const toml::node* node = table.get("mask");
  if (node == nullptr) return width;
  const std::uint64_t mask = TRY(ReadRegister(*node, "mask"));
  if (mask == 0) return policy::InvalidPolicy("`mask` 0 tests nothing: remove the test");
  if ((mask & ~width) != 0) {
    return policy::InvalidPolicy(
        "`mask` has more than 32 bits: the kernel reads 32, or say `bits = 64`");
  }
  return mask;
}

Result<ArgumentTest> ReadTest(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr)
    return policy::InvalidPolicy("a test must be a table, such as { arg = 0, equals = 1 }");
  if (Status keys = CheckKeys(*table, {"arg", "bits", "mask", "equals", "one_of"}); !keys) {
    return std::move(keys).error();
  }
  const std::int64_t arg = (*table)["arg"].value_exact<std::int64_t>().value_or(-1);
  if (arg < 0 || arg >= kSyscallArguments) return policy::InvalidPolicy("`arg` must be 0 to 5");

  ArgumentTest test;
  test.arg = static_cast<int>(arg);
  test.mask = TRY(ReadMask(*table));
  test.values = TRY(ReadValues(*table));
  if (test.mask > kLow32Bits && test.values.size() != 1) {
    return policy::InvalidPolicy("a test with `bits = 64` compares with one value: use `equals`");
  }
  for (const std::uint64_t value : test.values) {
    if ((value & ~test.mask) != 0) {
      return policy::InvalidPolicy("value " + std::to_string(value) +
                                   " can never match: it has bits outside of the mask");
    }
  }
  return test;
}

// The tests in the list `key`; none when the entry does not have it.
Result<std::vector<ArgumentTest>> ReadTests(const toml::table& entry, std::string_view key) {
  std::vector<ArgumentTest> tests;
  const toml::node* found = entry.get(key);
  if (found == nullptr) return tests;
  const std::string name = "`" + std::string(key) + "`";
  const toml::array* list = found->as_array();
  if (list == nullptr || list->empty())
    return policy::InvalidPolicy(name + " must be a list of tests");
  for (const toml::node& node : *list) {
    auto test = ReadTest(node);
    if (!test) return std::move(test).error().Within(name);
    tests.push_back(std::move(test).value());
  }
  return tests;
}

// A value of `a` that a register can have while `b` holds too, if there is one. Precondition: both
// test the same argument.
std::optional<std::uint64_t> SharedValue(const ArgumentTest& a, const ArgumentTest& b) {
  const std::uint64_t both = a.mask & b.mask;
  for (const std::uint64_t value : a.values) {
    for (const std::uint64_t other : b.values) {
      if ((value & both) == (other & both)) return value;
    }
  }
  return std::nullopt;
}

// No call may match both lists: some argument must tell them apart, so that no order decides.
Status CheckApart(const std::vector<ArgumentTest>& pretend, const std::vector<ArgumentTest>& when) {
  std::string reason = "they test different arguments";
  for (const ArgumentTest& pretended : pretend) {
    for (const ArgumentTest& allowed : when) {
      if (pretended.arg != allowed.arg) continue;
      const auto shared = SharedValue(pretended, allowed);
      if (!shared) return {};
      reason = "value " + std::to_string(*shared) + " of `arg` " + std::to_string(pretended.arg) +
               " is in both";
    }
  }
  return policy::InvalidPolicy("a call can match `when` and `pretend`: " + reason +
                               ", and a call has one answer");
}

Result<std::vector<std::string>> ReadCalls(const toml::table& entry) {
  std::vector<std::string> calls;
  const toml::array* list = entry["calls"].as_array();
  if (list == nullptr || list->empty()) {
    return policy::InvalidPolicy("`calls` is missing: give a list of system call names");
  }
  for (const toml::node& node : *list) {
    const auto name = node.value_exact<std::string>();
    if (!name || name->empty())
      return policy::InvalidPolicy("`calls` must hold names of system calls");
    calls.push_back(*name);
  }
  return calls;
}

Result<AllowRule> ReadAllow(const toml::table& entry) {
  if (Status keys = CheckKeys(
          entry, {"calls", "pretend", "when", "otherwise", "needs", "without_namespaces", "why"});
      !keys) {
    return std::move(keys).error();
  }
  AllowRule rule;
  rule.calls = TRY(ReadCalls(entry));
  rule.why = TRY(ReadText(entry, "why", "say who needs these calls"));
  if (entry.contains("needs")) {
    const std::string needs = TRY(ReadText(entry, "needs", "name what the entry needs"));
    rule.needs_cgroup = needs == "cgroup";
    rule.needs_namespaces = needs == "namespaces";
    if (!rule.needs_cgroup && !rule.needs_namespaces) {
      return policy::InvalidPolicy("`needs` must be \"cgroup\" or \"namespaces\", or be left out");
    }
  }
  rule.pretend = TRY(ReadTests(entry, "pretend"));
  rule.when = TRY(ReadTests(entry, "when"));
  rule.without_namespaces = TRY(ReadTests(entry, "without_namespaces"));
  if (rule.when.empty() && entry.contains("otherwise")) {
    return policy::InvalidPolicy(
        "`otherwise` without `when` never happens: remove it or add a test");
  }
  if (rule.when.empty() && !rule.pretend.empty()) {
    return policy::InvalidPolicy(
        "`pretend` without `when`: add the tests of the calls that are made");
  }
  if (!rule.pretend.empty()) {
    if (Status apart = CheckApart(rule.pretend, rule.when); !apart) {
      return std::move(apart).error();
    }
  }
  if (!rule.when.empty()) {
    rule.otherwise = TRY(ReadErrno(entry, "otherwise",
                                   "an entry with `when` says how it refuses, such as \"EPERM\""));
  }
  return rule;
}

Result<DenyRule> ReadDeny(const toml::table& entry) {
  if (Status keys = CheckKeys(entry, {"calls", "errno", "why"}); !keys) {
    return std::move(keys).error();
  }
  DenyRule rule;
  rule.calls = TRY(ReadCalls(entry));
  rule.why = TRY(ReadText(entry, "why", "say what the danger is"));
  rule.error = entry.contains("errno") ? TRY(ReadErrno(entry, "errno", "name an errno")) : EPERM;
  return rule;
}

Result<ObserveRule> ReadObserve(const toml::table& entry) {
  TRY(CheckKeys(entry, {"calls", "unseen", "when", "otherwise", "why"}));
  ObserveRule rule;
  rule.calls = TRY(ReadCalls(entry));
  rule.why = TRY(ReadText(entry, "why", "say what the supervisor learns"));
  rule.unseen = TRY(ReadTests(entry, "unseen"));
  rule.when = TRY(ReadTests(entry, "when"));
  if (rule.when.empty() != !entry.contains("otherwise")) {
    return policy::InvalidPolicy("`when` and `otherwise` come together: what is refused, and how");
  }
  if (!rule.when.empty()) rule.otherwise = TRY(ReadErrno(entry, "otherwise", "name an errno"));
  return rule;
}

// "[[allow]] entry at line 12 (read, ...)": what a person needs to find it.
std::string Where(std::string_view kind, const toml::table& entry) {
  std::ostringstream where;
  where << "[[" << kind << "]] entry at line " << entry.source().begin.line;
  const toml::array* calls = entry["calls"].as_array();
  if (calls != nullptr && !calls->empty()) {
    where << " (" << calls->front().value_or(std::string("?"))
          << (calls->size() > 1 ? ", ...)" : ")");
  }
  return where.str();
}

// Which entry named a call first; a second one would make the outcome depend on the order.
class CallOwners {
 public:
  Status Claim(const std::vector<std::string>& calls, const std::string& where) {
    for (const std::string& call : calls) {
      const auto [owner, inserted] = owners_.emplace(call, where);
      if (!inserted) {
        return policy::InvalidPolicy("`" + call + "` is already in the " + owner->second +
                                     ": a call belongs to one entry");
      }
    }
    return {};
  }

 private:
  std::map<std::string, std::string> owners_;
};

// Reads every entry of one kind with `read_entry`, a function from a table to Result<Rule>.
template <typename Rule, typename ReadEntry>
Result<std::vector<Rule>> ReadRules(const toml::table& root, std::string_view kind,
                                    CallOwners& owners, ReadEntry read_entry) {
  std::vector<Rule> rules;
  for (const toml::table* entry : TRY(policy::ReadEntries(root, kind))) {
    const std::string where = Where(kind, *entry);
    Result<Rule> rule = read_entry(*entry);
    if (!rule) return std::move(rule).error().Within(where);
    if (Status claimed = owners.Claim(rule->calls, where); !claimed) {
      return std::move(claimed).error().Within(where);
    }
    rules.push_back(std::move(rule).value());
  }
  return rules;
}

Result<int> ReadDefault(const toml::table& root) {
  const toml::table* table = root["default"].as_table();
  if (table == nullptr)
    return policy::InvalidPolicy("[default] is missing: say what other calls get");
  if (Status keys = CheckKeys(*table, {"errno", "why"}); !keys) {
    return std::move(keys).error().Within("[default]");
  }
  if (auto why = ReadText(*table, "why", "say why this is the default"); !why) {
    return std::move(why).error().Within("[default]");
  }
  auto error = ReadErrno(*table, "errno", "name the errno that other calls fail with");
  if (!error) return std::move(error).error().Within("[default]");
  return error;
}

}  // namespace

Result<SyscallPolicy> ParseSyscallPolicy(std::string_view toml_text) {
  const toml::table root = TRY(policy::ParseToml(toml_text));
  if (Status keys = CheckKeys(root, {"default", "allow", "deny", "observe"}); !keys) {
    return std::move(keys).error();
  }

  SyscallPolicy policy;
  CallOwners owners;
  policy.default_error = TRY(ReadDefault(root));
  policy.allow = TRY((ReadRules<AllowRule>(root, "allow", owners, ReadAllow)));
  policy.deny = TRY((ReadRules<DenyRule>(root, "deny", owners, ReadDeny)));
  policy.observe = TRY((ReadRules<ObserveRule>(root, "observe", owners, ReadObserve)));
  if (policy.allow.empty())
    return policy::InvalidPolicy("no [[allow]] entry: a process could not even exit");
  return policy;
}

}  // namespace glovebox
