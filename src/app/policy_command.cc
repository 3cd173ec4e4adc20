#include "app/policy_command.h"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/result.h"
#include "jail/explain.h"
#include "jail/policy_files.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr int kExitDiffers = 1;
constexpr int kExitWrong = 2;

struct PolicyOptions {
  std::string policy;
  std::string other;
  bool json = false;
};

int Complain(const std::string& sentence) {
  std::fprintf(stderr, "glovebox: %s\n", sentence.c_str());
  return kExitWrong;
}

void Print(const std::string& text) { std::fputs((text + "\n").c_str(), stdout); }

json::object ToJson(const jail::PolicyLine& line) {
  return {{"word", line.word},
          {"value", line.value},
          {"meaning", line.sentence},
          {"default", !line.said}};
}

int Check(const PolicyOptions& options) {
  const Result<policy::JailPolicy> policy = jail::LoadPolicy(options.policy);
  Status verdict;
  if (!policy) {
    verdict = policy.error();
  } else {
    verdict = jail::CheckOnThisHost(*policy);
    if (!verdict) verdict = std::move(verdict).error().Within(options.policy);
  }
  if (options.json) {
    json::object document = {{"policy", options.policy}, {"valid", verdict.ok()}};
    if (!verdict) document["problem"] = verdict.error().message();
    Print(json::serialize(document));
    return verdict ? 0 : kExitWrong;
  }
  if (!verdict) return Complain(verdict.error().message());
  Print(options.policy + ": every word is understood, and every path can be granted here");
  return 0;
}

int Explain(const PolicyOptions& options) {
  const Result<policy::JailPolicy> policy = jail::LoadPolicy(options.policy);
  if (!policy) return Complain(policy.error().message());
  const std::vector<jail::PolicyLine> lines = jail::ExplainPolicy(*policy);
  if (options.json) {
    json::array list;
    for (const jail::PolicyLine& line : lines) list.push_back(ToJson(line));
    Print(json::serialize(json::object{
        {"policy", options.policy}, {"summary", policy->summary}, {"lines", std::move(list)}}));
    return 0;
  }
  if (!policy->summary.empty()) Print(policy->summary + "\n");
  for (const jail::PolicyLine& line : lines) {
    std::printf("  %-16s %s%s\n", line.word.c_str(), line.sentence.c_str(),
                line.said ? "" : " (default)");
  }
  Print(
      "\nBesides: runs as a user of its own, sees the system's programs and libraries read-only,\n"
      "has private memory for HOME and temporary files, and makes only the system calls of a "
      "server.");
  return 0;
}

int Diff(const PolicyOptions& options) {
  const Result<policy::JailPolicy> before = jail::LoadPolicy(options.policy);
  if (!before) return Complain(before.error().message());
  const Result<policy::JailPolicy> after = jail::LoadPolicy(options.other);
  if (!after) return Complain(after.error().message());
  const std::vector<jail::PolicyChange> changes = jail::DiffPolicies(*before, *after);
  if (options.json) {
    json::array list;
    for (const jail::PolicyChange& change : changes) {
      json::object entry = ToJson(change.line);
      entry["change"] = change.added ? "added" : "removed";
      entry["widens"] = change.widens;
      list.push_back(std::move(entry));
    }
    Print(json::serialize(json::object{{"changes", std::move(list)}}));
  } else {
    for (const jail::PolicyChange& change : changes) {
      std::printf("%c %-16s %s%s\n", change.added ? '+' : '-', change.line.word.c_str(),
                  change.line.sentence.c_str(), change.widens ? "  <- more than before" : "");
    }
  }
  return changes.empty() ? 0 : kExitDiffers;
}

}  // namespace

void AddPolicyCommand(CLI::App& root, int& exit_code) {
  auto options = std::make_shared<PolicyOptions>();
  CLI::App* command = root.add_subcommand("policy", "Policies of the jail (`glovebox run`)");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*run)(const PolicyOptions&)) {
    CLI::App* verb = command->add_subcommand(name, help);
    verb->add_option("policy", options->policy, "A policy file, or the name of a shipped one")
        ->required();
    verb->add_flag("--json", options->json, "Print one JSON document");
    verb->callback([options, &exit_code, run] { exit_code = run(*options); });
    return verb;
  };
  add("check", "Whether every word is understood and every path can be granted here", &Check);
  add("explain", "What a policy allows, in sentences", &Explain);
  add("diff", "What the second policy allows more or less than the first", &Diff)
      ->add_option("other", options->other, "The second policy")
      ->required();
  command->footer("Exit codes: 0; 1 the policies differ (diff); 2 a policy is wrong, or usage.");
}

}  // namespace glovebox
