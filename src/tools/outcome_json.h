#pragma once

#include <boost/json/object.hpp>

#include "executor/outcome.h"
#include "executor/request.h"
#include "tools/value_json.h"

namespace glovebox {

// The document that describes an execution to the outside: what execute_code returns and what
// `glovebox exec --json` prints. Write it with mcp::WriteJson, which also repairs invalid UTF-8.
//
// Always there: success, status, stdout, stderr, result, execution_time, execution_id, variables,
// security_warnings (null when there are none), limits_hit, peak_memory_bytes, cpu_time,
// queue_time, security_events, truncated, limits_tier. When it applies: error, error_category,
// error_type, error_line, traceback, validation_errors (null, with a syntax error), security_event,
// findings, timeout, exit_code, signal, result_text, result_notes, stdout_tail, stderr_tail,
// stdout_bytes_dropped, stderr_bytes_dropped, security_events_dropped, missing_walls. Times are
// seconds.
//
// `stdout` ends with the repr of the final expression, as a person at a prompt would see it.
boost::json::object OutcomeToJson(const Outcome& outcome, const ExecutionRequest& request);

}  // namespace glovebox
