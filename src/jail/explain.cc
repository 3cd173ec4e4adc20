#include "jail/explain.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "embedded/jail_policies.h"
#include "jail/places.h"
#include "jail/program.h"
#include "policy/box_policy.h"

namespace glovebox::jail {
namespace {

using policy::ArgumentGrant;
using policy::DurationText;
using policy::JailPolicy;

std::string NumberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

class Lines {
 public:
  void Add(const char* word, const std::string& value, const std::string& sentence,
           bool said = true) {
    lines_.push_back({word, value, sentence, said});
  }

  // A limit: what was said, or what the profile has.
  template <typename T, typename ToText>
  void Limit(const char* word, const std::optional<T>& value, const T& otherwise, ToText to_text,
             const std::string& sentence) {
    const std::string text = to_text(value.value_or(otherwise));
    Add(word, text, sentence + text, value.has_value());
  }

  void Clock(const char* word, const std::optional<double>& seconds, const std::string& sentence) {
    if (seconds) {
      Add(word, DurationText(*seconds), sentence + DurationText(*seconds));
    } else {
      Add(word, "none", "no limit", false);
    }
  }

  std::vector<PolicyLine> Take() && { return std::move(lines_); }

 private:
  std::vector<PolicyLine> lines_;
};

std::string ArgumentSentence(ArgumentGrant grant) {
  switch (grant) {
    case ArgumentGrant::kNone: break;
    case ArgumentGrant::kRead: return "may read the paths among its arguments";
    case ArgumentGrant::kWrite: return "may read and change the paths among its arguments";
  }
  return "paths among its arguments are granted for nothing";
}

void AddLists(const JailPolicy& policy, Lines& lines) {
  for (const std::string& path : policy.read) {
    lines.Add("read", path, "may read and run " + path + " and everything below it");
  }
  for (const std::string& path : policy.write) {
    lines.Add("write", path,
              "may read and change " + path + " and everything below it; nothing there can be run");
  }
  for (const std::string& path : policy.allow_sensitive) {
    lines.Add("allow-sensitive", path, "a grant may reach " + path + ", which is sensitive");
  }
  for (const std::string& rule : policy.net) {
    lines.Add("net", rule, "may connect to " + rule + ", through the proxy");
  }
  for (const std::string& word : policy.env) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    lines.Add("env", word,
              equals == std::string::npos ? "gets " + name + " with the value it has outside"
                                          : "gets " + name + " with a value of its own");
  }
}

bool Widens(const PolicyLine& line, bool added) {
  static constexpr std::string_view kLists[] = {"read", "write", "allow-sensitive", "net", "env"};
  const bool list = std::find(std::begin(kLists), std::end(kLists), line.word) != std::end(kLists);
  return list && added;
}

}  // namespace

std::vector<PolicyLine> ExplainPolicy(const JailPolicy& policy) {
  Lines lines;
  const std::string name = policy.profile.value_or("");
  const Result<ProgramProfile> profile = ChooseProfile(name, "");
  const ProgramProfile known = profile ? *profile : ProgramProfile{};
  lines.Add("profile", name.empty() ? "by the command" : name,
            name.empty() ? "the command's name decides what kind of program it is"
                         : "is a program of the kind " + name,
            policy.profile.has_value());
  AddLists(policy, lines);
  if (policy.net.empty()) lines.Add("net", "none", "may connect to nothing", false);
  const ArgumentGrant arguments = policy.arguments.value_or(ArgumentGrant::kNone);
  lines.Add("arguments", std::string(policy::ArgumentGrantText(arguments)),
            ArgumentSentence(arguments), policy.arguments.has_value());
  lines.Limit("memory", policy.memory_bytes, known.memory_bytes, &SizeText, "memory up to ");
  const auto count = [](std::uint32_t value) { return std::to_string(value); };
  lines.Limit("pids", policy.pids, known.pids, count, "processes and threads up to ");
  lines.Limit("files", policy.files, known.files, count, "open files of one process up to ");
  if (policy.cpus) {
    lines.Add("cpu", NumberText(*policy.cpus), "CPUs up to " + NumberText(*policy.cpus));
  }
  if (policy.io_bytes_per_second) {
    const std::string rate = SizeText(*policy.io_bytes_per_second);
    lines.Add("io", rate, "reads from and writes to each disk up to " + rate + " in a second");
  }
  lines.Clock("timeout", policy.timeout_seconds, "is ended after ");
  lines.Clock("idle", policy.idle_seconds, "is ended without a message for ");
  const bool reasons = policy.reasons.value_or(true);
  lines.Add("reasons", reasons ? "true" : "false",
            reasons ? "failed tool calls are told what was refused meanwhile"
                    : "failed tool calls are not told what was refused",
            policy.reasons.has_value());
  return std::move(lines).Take();
}

std::vector<PolicyChange> DiffPolicies(const JailPolicy& before, const JailPolicy& after) {
  const std::vector<PolicyLine> old_lines = ExplainPolicy(before);
  const std::vector<PolicyLine> new_lines = ExplainPolicy(after);
  const auto holds = [](const std::vector<PolicyLine>& lines, const PolicyLine& line) {
    return std::any_of(lines.begin(), lines.end(), [&](const PolicyLine& other) {
      return other.word == line.word && other.value == line.value;
    });
  };
  std::vector<PolicyChange> changes;
  for (const PolicyLine& line : old_lines) {
    if (!holds(new_lines, line)) changes.push_back({false, false, line});
  }
  for (const PolicyLine& line : new_lines) {
    if (!holds(old_lines, line)) changes.push_back({true, Widens(line, true), line});
  }
  return changes;
}

Status CheckOnThisHost(const JailPolicy& policy) {
  const policy::BoxPolicy box = TRY(policy::ParseBoxPolicy(embedded::kServerBox, {}));
  TRY(ComposePlaces(policy, box, {"sh"}, "/bin/sh", ReadStarter()));
  return {};
}

}  // namespace glovebox::jail
