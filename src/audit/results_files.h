#pragma once

#include <string>
#include <vector>

#include "audit/report.h"
#include "base/result.h"

namespace glovebox::audit {

// The files of the isolation tutorial, one per family: FAMILY_results.json of direct execution and
// FAMILY_results_mcp.json of the target, each {"test_name", "environment", "tests": {NAME:
// {"success", "result", "error"}}}. The family file_system_access is called file_access there.
enum class ResultsOf : std::uint8_t { kDirect, kTarget };

// Makes the folder if need be; files that are there are replaced.
Status WriteResults(const std::string& folder, const Report& report, ResultsOf which);

// Findings with the trials that the files of a folder hold, not judged; probes that neither kind of
// file has are left out. kInvalidArgument names the
// file that is missing or makes no sense.
Result<std::vector<Finding>> ReadResults(const std::string& folder);

// What the target was, as the files say.
std::string TargetInResults(const std::string& folder);

}  // namespace glovebox::audit
