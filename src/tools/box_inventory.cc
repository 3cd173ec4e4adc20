#include "tools/box_inventory.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include "embedded/tool_programs.h"
#include "tools/outcome_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

using Names = std::initializer_list<std::string_view>;

wire::Value::Item Category(std::string name, Names modules) {
  wire::Value::List list;
  for (const std::string_view module : modules) list.push_back({std::string(module)});
  return {std::move(name), {std::move(list)}};
}

// The lists by which clients of get_sandbox_info know modules.
wire::Value::Dict Categories() {
  return {
      Category("safe_stdlib", {"math",         "random",
                               "datetime",     "json",
                               "re",           "time",
                               "calendar",     "uuid",
                               "collections",  "itertools",
                               "functools",    "operator",
                               "bisect",       "heapq",
                               "copy",         "dataclasses",
                               "enum",         "typing",
                               "string",       "textwrap",
                               "unicodedata",  "difflib",
                               "decimal",      "fractions",
                               "statistics",   "cmath",
                               "base64",       "binascii",
                               "hashlib",      "hmac",
                               "secrets",      "html",
                               "html.parser",  "xml.etree.ElementTree",
                               "csv",          "configparser",
                               "urllib.parse", "abc",
                               "contextlib",   "types"}),
      Category("data_science", {"numpy", "pandas", "scipy", "matplotlib", "seaborn", "sklearn",
                                "statsmodels", "plotly", "sympy"}),
      Category("network", {"httpx", "requests", "urllib.request", "aiohttp", "websocket", "ftplib",
                           "smtplib", "email"}),
      Category("filesystem",
               {"pathlib", "os.path", "tempfile", "shutil", "glob", "zipfile", "tarfile"}),
  };
}

// Whether everything is there that Get promises, with its type.
bool IsWhole(const json::value& answer) {
  const json::object* object = answer.if_object();
  if (object == nullptr) return false;
  const auto has = [object](std::string_view key, json::kind kind) {
    const json::value* value = object->if_contains(key);
    return value != nullptr && value->kind() == kind;
  };
  if (!has("allowed_imports", json::kind::object)) return false;
  const json::value* lists = object->if_contains("allowed_imports");
  for (const auto& list : lists->get_object()) {
    if (!list.value().is_array()) return false;
  }
  return lists->get_object().contains("data_science") &&
         has("python_version", json::kind::string) &&
         has("python_implementation", json::kind::string) &&
         has("total_allowed_modules", json::kind::int64) &&
         has("safe_builtins", json::kind::array) && has("packages", json::kind::array);
}

}  // namespace

void BoxInventory::Get(Done done) {
  if (known_) return done(*known_);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  ExecutionRequest request;
  request.code = embedded::kSandboxInfoProgram;
  request.globals = {{"categories", wire::Value{Categories()}}};
  executor_.Start(std::move(request), nullptr, [this](const Outcome& outcome) { Finish(outcome); });
}

void BoxInventory::Finish(const Outcome& outcome) {
  json::value answer = ValueToJson(outcome.value);
  Result<json::object> result =
      Error(Errc::kInternal, "A box could not say what it holds: " + outcome.message);
  if (outcome.status == ExecutionStatus::kCompleted && IsWhole(answer)) {
    answer.get_object()["missing_walls"] =
        json::array(outcome.missing_walls.begin(), outcome.missing_walls.end());
    known_ = std::move(answer.get_object());
    result = *known_;
  }
  for (const Done& done : std::exchange(waiting_, {})) done(result);
}

}  // namespace glovebox
