#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"
#include "mcp/content.h"
#include "mcp/page.h"
#include "mcp/params.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// tools/list and tools/call.

// Hints for the client's user interface, not promises.
struct ToolAnnotations {
  bool read_only_hint = false;
  bool destructive_hint = true;
  bool idempotent_hint = false;
  bool open_world_hint = true;
};

// Whether a call may go on as a task (task_store.h).
enum class TaskSupport : std::uint8_t { kNone, kOptional, kRequired };

struct ToolDefinition {
  static constexpr std::string_view kListKey = "tools";
  std::string name;
  std::string title = {};
  std::string description = {};
  boost::json::object input_schema = {};
  boost::json::object output_schema = {};  // empty: the tool gives no structured content
  ToolAnnotations annotations = {};
  std::vector<Icon> icons = {};
  boost::json::object meta = {};           // `_meta`; may be empty
  TaskSupport tasks = TaskSupport::kNone;  // not written: the server decides per call
};

using ListToolsResult = ListResult<ToolDefinition>;

struct CallToolParams {
  std::string name;
  boost::json::object arguments;
};
struct CallToolResult {
  std::vector<ContentBlock> content;
  std::optional<boost::json::value> structured_content;  // an object for every client to take it
  bool is_error = false;
};

template <>
Result<CallToolParams> ParamsFromJson(const boost::json::object& params);

boost::json::object ToJson(const ToolDefinition& tool, ProtocolVersion version);
boost::json::object ToJson(CallToolResult result, ProtocolVersion version);

}  // namespace glovebox::mcp
