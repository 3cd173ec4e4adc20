#include "mcp/header_parameter.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

constexpr std::string_view kKeyword = "x-mcp-header";

// RFC 9110, section 5.6.2.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Recursive: the schema's depth must be bounded by whoever made or read it.
class Finder {
 public:
  Result<std::vector<HeaderParameter>> Find(const json::object& schema) {
    TRY(Walk(schema, true));
    return std::move(found_);
  }

 private:
  // `reachable`: the way here leads through nothing but `properties`.
  Status Walk(const json::object& schema, bool reachable) {
    for (const auto& member : schema) {
      const std::string_view key = member.key();
      const json::value& value = member.value();
      if (key == kKeyword) {
        if (!reachable || path_.empty()) return Wrong("is reached by more than `properties`");
        TRY(Take(schema, value));
      } else if (key == "properties") {
        TRY(WalkNamed(value, reachable));
      } else if (key == "$defs" || key == "patternProperties" || key == "dependentSchemas") {
        TRY(WalkNamed(value, false));
      } else if (key != "const" && key != "default" && key != "enum" && key != "examples") {
        TRY(WalkAny(value));
      }
    }
    return {};
  }

  // An object whose keys are names of schemas.
  Status WalkNamed(const json::value& schemas, bool reachable) {
    if (!schemas.is_object()) return {};
    for (const auto& member : schemas.get_object()) {
      if (!member.value().is_object()) continue;
      path_.emplace_back(member.key());
      TRY(Walk(member.value().get_object(), reachable));
      path_.pop_back();
    }
    return {};
  }

  Status WalkAny(const json::value& value) {
    if (value.is_object()) return Walk(value.get_object(), false);
    if (!value.is_array()) return {};
    for (const json::value& element : value.get_array()) TRY(WalkAny(element));
    return {};
  }

  Status Take(const json::object& schema, const json::value& header) {
    if (!header.is_string() || !IsToken(header.get_string())) return Wrong("is not a token");
    const std::string_view name = header.get_string();
    for (const HeaderParameter& other : found_) {
      if (EqualWithoutCase(other.header, name)) return Wrong("is used twice");
    }
    const json::value* type = schema.if_contains("type");
    if (type == nullptr || (*type != "string" && *type != "integer" && *type != "boolean")) {
      return Wrong("is not on a string, an integer or a boolean");
    }
    found_.push_back({std::string(name), path_});
    return {};
  }

  Error Wrong(std::string_view why) const {
    std::string where;
    for (const std::string& name : path_) where += '/' + name.substr(0, 64);
    return Error(
        Errc::kInvalidArgument,
        std::string(kKeyword) + " of " + (where.empty() ? "/" : where) + ' ' + std::string(why));
  }

  std::vector<std::string> path_;
  std::vector<HeaderParameter> found_;
};

}  // namespace

Result<std::vector<HeaderParameter>> FindHeaderParameters(const json::object& schema) {
  return Finder().Find(schema);
}

}  // namespace glovebox::mcp
