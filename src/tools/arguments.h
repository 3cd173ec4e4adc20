#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"

namespace glovebox {

// Reading what a client sent as a tool's arguments. Errors are kInvalidArgument and name the
// argument, the rule and the value, so that a model can mend its call.

// "Invalid argument '<name>': must be <rule>, got <value>"; a long value is cut.
Error WrongArgument(std::string_view name, const std::string& rule,
                    const boost::json::value& value);

// Every argument must be one of `names`, those that `tool` takes.
Status CheckArgumentNames(const boost::json::object& arguments, std::string_view tool,
                          std::initializer_list<std::string_view> names);

// Nothing when it is absent.
Result<std::optional<std::string>> StringArgument(const boost::json::object& arguments,
                                                  std::string_view name);

// The program in `code`, which must be there.
Result<std::string> CodeArgument(const boost::json::object& arguments);

// What is said of code that has more than `chars_max` characters; nothing of any other.
std::optional<std::string> TooLarge(std::string_view code, std::size_t chars_max);

}  // namespace glovebox
