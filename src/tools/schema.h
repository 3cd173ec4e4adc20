#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "mcp/content.h"
#include "mcp/tool_messages.h"

namespace glovebox {

// Pieces of JSON Schema that every client understands: a type, a description, no references and no
// combinators.

boost::json::object Property(std::string_view type, std::string_view description);
// For what may be null or anything: clients disagree on lists of types, none minds their absence.
boost::json::object AnyProperty(std::string_view description);
boost::json::object ListProperty(std::string_view item_type, std::string_view description);

// Of arguments: nothing but `properties`.
boost::json::object InputSchema(boost::json::object properties,
                                std::initializer_list<std::string_view> required);
// Of results: more keys may come.
boost::json::object OutputSchema(boost::json::object properties,
                                 std::initializer_list<std::string_view> required);

// Of tools that change nothing, and of those that run code. Nothing outlives a box, so nothing can
// be destroyed there; and it reaches nothing outside.
mcp::ToolAnnotations OnlyTells();
mcp::ToolAnnotations RunsInABox();

// One small picture for all tools: a box with two gloves' holes.
std::vector<mcp::Icon> ToolIcons();

}  // namespace glovebox
