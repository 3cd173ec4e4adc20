#include "tools/box_inventory.h"

#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include "embedded/tool_programs.h"
#include "policy/profile.h"
#include "tools/value_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

// The modules of every profile, installed or not.
wire::Value::Dict ModulesByProfile() {
  wire::Value::Dict profiles;
  for (const policy::Profile& profile : policy::Profiles()) {
    wire::Value::List modules;
    for (const policy::ProfileEntry& entry : profile.modules) modules.push_back({entry.name});
    profiles.push_back({profile.name, {std::move(modules)}});
  }
  return profiles;
}

// Whether everything is there that Get promises, with its type.
bool IsWhole(const json::value& answer) {
  const json::object* object = answer.if_object();
  if (object == nullptr) return false;
  const auto has = [object](std::string_view key, json::kind kind) {
    const json::value* value = object->if_contains(key);
    return value != nullptr && value->kind() == kind;
  };
  if (!has("installed", json::kind::object)) return false;
  const json::object& installed = object->at("installed").get_object();
  for (const policy::Profile& profile : policy::Profiles()) {
    const json::value* modules = installed.if_contains(profile.name);
    if (modules == nullptr || !modules->is_array()) return false;
  }
  return has("python_version", json::kind::string) &&
         has("python_implementation", json::kind::string) &&
         has("importable_count", json::kind::int64) && has("builtins", json::kind::array) &&
         has("packages", json::kind::array);
}

}  // namespace

void BoxInventory::Get(Done done) {
  if (known_) return done(*known_);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  ExecutionRequest request;
  request.code = embedded::kSandboxInfoProgram;
  request.globals = {{"profiles", wire::Value{ModulesByProfile()}}};
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
