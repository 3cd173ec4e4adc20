#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "audit/report.h"
#include "base/result.h"

namespace glovebox::audit {

// What is worse in `report` than in the JSON report of an earlier audit, a line each: a verdict
// that fell, a wall that does not hold any more, a probe that is not tried any more.
Result<std::vector<std::string>> WorseThan(const boost::json::object& baseline,
                                           const Report& report);

}  // namespace glovebox::audit
