#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "python/wire/value.h"

namespace glovebox {

// Values as they cross to Python and back, as JSON.

// NaN and infinities become null; of a key that is there twice the last counts.
boost::json::value ValueToJson(const wire::Value& value);

// kInvalidArgument is a rule as in "must be <rule>": the bounds of a value on the wire.
Result<wire::Value> ValueFromJson(const boost::json::value& value);

}  // namespace glovebox
