#include "tools/value_json.h"

#include <cmath>
#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace glovebox {
namespace {

namespace json = boost::json;

template <typename... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};
template <typename... Kinds>
Overloaded(Kinds...) -> Overloaded<Kinds...>;  // Clang 14 does not deduce aggregates by itself

class FromJson {
 public:
  Result<wire::Value> Convert(const json::value& value, int depth) {
    if (depth > wire::kValueDepthMax || ++nodes_ > wire::kValueNodesMax) {
      return Error(Errc::kInvalidArgument,
                   "nested at most " + std::to_string(wire::kValueDepthMax) +
                       " deep with at most " + std::to_string(wire::kValueNodesMax) + " values");
    }
    switch (value.kind()) {
      case json::kind::null: return wire::Value{};
      case json::kind::bool_: return wire::Value{value.get_bool()};
      case json::kind::int64: return wire::Value{value.get_int64()};
      case json::kind::uint64: return wire::Value{value.get_uint64()};
      case json::kind::double_: return wire::Value{value.get_double()};
      case json::kind::string: return wire::Value{std::string(value.get_string())};
      case json::kind::array: return List(value.get_array(), depth);
      case json::kind::object: return Dict(value.get_object(), depth);
    }
    return wire::Value{};
  }

 private:
  Result<wire::Value> List(const json::array& array, int depth) {
    wire::Value::List list;
    for (const json::value& element : array) list.push_back(TRY(Convert(element, depth + 1)));
    return wire::Value{std::move(list)};
  }

  Result<wire::Value> Dict(const json::object& object, int depth) {
    wire::Value::Dict dict;
    for (const auto& member : object) {
      dict.push_back({std::string(member.key()), TRY(Convert(member.value(), depth + 1))});
    }
    return wire::Value{std::move(dict)};
  }

  std::uint32_t nodes_ = 0;
};

}  // namespace

json::value ValueToJson(const wire::Value& value) {
  return std::visit(Overloaded{[](std::monostate) { return json::value(nullptr); },
                               [](double number) {
                                 return std::isfinite(number) ? json::value(number)
                                                              : json::value(nullptr);
                               },
                               [](const wire::Value::List& list) {
                                 json::array array;
                                 array.reserve(list.size());
                                 for (const wire::Value& element : list)
                                   array.push_back(ValueToJson(element));
                                 return json::value(std::move(array));
                               },
                               [](const wire::Value::Dict& dict) {
                                 json::object object;
                                 object.reserve(dict.size());
                                 for (const auto& [key, member] : dict)
                                   object[key] = ValueToJson(member);
                                 return json::value(std::move(object));
                               },
                               [](const auto& plain) { return json::value(plain); }},
                    value.data);
}

Result<wire::Value> ValueFromJson(const json::value& value) { return FromJson().Convert(value, 0); }

}  // namespace glovebox
