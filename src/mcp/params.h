#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// Reading what a peer sent, field by field. Every error is kInvalidArgument and names the field.

// Reads the params of one method; specialised beside each params struct.
template <typename Params>
Result<Params> ParamsFromJson(const boost::json::object& params);

struct EmptyParams {};
template <>
Result<EmptyParams> ParamsFromJson(const boost::json::object& params);

struct EmptyResult {};
boost::json::object ToJson(const EmptyResult& result, ProtocolVersion version);

// Where in a list to go on; absent for its beginning. The empty string is a cursor like any other.
struct PageParams {
  std::optional<std::string> cursor;
};
template <>
Result<PageParams> ParamsFromJson(const boost::json::object& params);

// "params.<field> must be <rule>".
Error WrongField(std::string_view field, std::string_view rule);
// Null when the field is absent.
Result<const boost::json::object*> ObjectField(const boost::json::object& params,
                                               std::string_view field);
Result<std::optional<std::string>> StringField(const boost::json::object& params,
                                               std::string_view field);
Result<std::string> RequiredString(const boost::json::object& params, std::string_view field);

}  // namespace glovebox::mcp
