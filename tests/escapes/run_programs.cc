// Runs Python programs in boxes, one line of JSON in, one out: the tests of the language layer ask
// it, because they need one policy at a time and no protocol in between.
//
//   {"id": 1, "code": "...", "modules": [...] or null, "builtins": [...], "action": "validate"}
//
// Without "modules" there is no language layer. The answer carries id, status, message, error_type,
// stdout, result, findings.

#include <csignal>
#include <cstdio>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "executor/local_executor.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::size_t kAtOnce = 4;
constexpr std::uint32_t kWallMsMax = 10'000;

wire::WordList Words(const json::value* list) {
  wire::WordList words;
  if (list == nullptr || !list->is_array()) return words;
  for (const json::value& word : list->get_array()) words.Add(word.as_string());
  return words;
}

ExecutionRequest ToRequest(const json::object& asked) {
  ExecutionRequest request;
  request.code = std::string(asked.at("code").as_string());
  request.limits.wall_ms_max = kWallMsMax;
  const json::value* modules = asked.if_contains("modules");
  request.language.enabled = modules != nullptr && modules->is_array();
  request.language.profile = "basic";
  request.language.modules = Words(modules);
  request.language.builtins = Words(asked.if_contains("builtins"));
  request.language.rules_off = Words(asked.if_contains("rules_off"));
  if (asked.if_contains("action") != nullptr) request.action = wire::RunAction::kValidate;
  return request;
}

json::object ToAnswer(const json::value& id, const Outcome& outcome) {
  json::array findings;
  for (const wire::Finding& finding : outcome.findings) {
    findings.push_back({{"line", finding.line},
                        {"column", finding.column},
                        {"rule", finding.rule},
                        {"what", finding.what},
                        {"refuses_program", finding.refuses_program}});
  }
  json::array events;
  for (const Event& event : outcome.events) {
    if (event.refused) events.push_back({{"operation", event.operation}, {"layer", event.layer}});
  }
  json::object answer = {{"id", id},
                         {"status", std::string(StatusName(outcome.status))},
                         {"message", outcome.message},
                         {"error_type", outcome.error ? outcome.error->type : ""},
                         {"traceback", outcome.error ? outcome.error->traceback : ""},
                         {"stdout", outcome.stdout_stream.text},
                         {"stderr", outcome.stderr_stream.text},
                         {"value_repr", outcome.value_repr},
                         {"findings", std::move(findings)},
                         {"refusals", std::move(events)}};
  if (outcome.analysis) {
    answer["complexity"] = outcome.analysis->complexity;
    answer["imports"] =
        json::array(outcome.analysis->imports.begin(), outcome.analysis->imports.end());
    answer["names"] = json::array(outcome.analysis->names.begin(), outcome.analysis->names.end());
  }
  return answer;
}

int Main(const std::string& zygote) {
  boost::asio::io_context context{1};
  LocalExecutorOptions options;
  options.zygote_program = zygote;
  auto executor = CreateLocalExecutor(context, std::move(options));
  if (!executor) {
    std::fprintf(stderr, "run_programs: %s\n", executor.error().message().c_str());
    return 1;
  }
  std::deque<json::object> waiting;
  for (std::string line; std::getline(std::cin, line);) {
    waiting.push_back(json::parse(line).as_object());
  }
  std::size_t running = 0;
  while (running > 0 || !waiting.empty()) {
    while (running < kAtOnce && !waiting.empty()) {
      const json::object asked = std::move(waiting.front());
      waiting.pop_front();
      ++running;
      (*executor)->Start(ToRequest(asked), nullptr,
                         [&running, id = asked.at("id")](const Outcome& outcome) {
                           --running;
                           const std::string text = json::serialize(ToAnswer(id, outcome));
                           std::printf("%s\n", text.c_str());
                         });
    }
    context.run_one();
  }
  return 0;
}

}  // namespace
}  // namespace glovebox

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_programs GLOVEBOX_PYTHON < requests\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return glovebox::Main(argv[1]);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "run_programs: %s\n", exception.what());
    return 1;
  }
}
