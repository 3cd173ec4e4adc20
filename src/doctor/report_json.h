#pragma once

#include <boost/json/object.hpp>

#include "doctor/host_report.h"

namespace glovebox::doctor {

// The report as `glovebox doctor --json` prints it; docs/doctor.md describes
// the shape.
boost::json::object ReportJson(const HostReport& report);

}  // namespace glovebox::doctor
