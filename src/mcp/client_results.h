#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"
#include "mcp/content.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/prompt_messages.h"
#include "mcp/resource_messages.h"
#include "mcp/tool_messages.h"

namespace glovebox::mcp {

// Reading what servers answer: the other direction of ToJson. Every error is kInvalidArgument and
// names the place: "result.tools[3].name must be a string". Unknown members are passed over; known
// ones of the wrong type are errors, also where they are optional.

// One page of a list of tools, resources, templates or prompts.
template <typename Definition>
struct ListPage {
  std::vector<Definition> items;
  std::optional<std::string> next_cursor;
  CacheHint cache;
};

// Reads the result of one method; specialised for each of those below.
template <typename ResultType>
Result<ResultType> ResultFromJson(const boost::json::object& result);

template <>
Result<InitializeResult> ResultFromJson(const boost::json::object& result);
template <>
Result<DiscoverResult> ResultFromJson(const boost::json::object& result);  // versions we know only
template <>
Result<ListPage<ToolDefinition>> ResultFromJson(const boost::json::object& result);
template <>
Result<CallToolResult> ResultFromJson(const boost::json::object& result);
template <>
Result<ListPage<ResourceDefinition>> ResultFromJson(const boost::json::object& result);
template <>
Result<ListPage<ResourceTemplateDefinition>> ResultFromJson(const boost::json::object& result);
template <>
Result<ReadResourceResult> ResultFromJson(const boost::json::object& result);
template <>
Result<ListPage<PromptDefinition>> ResultFromJson(const boost::json::object& result);
template <>
Result<GetPromptResult> ResultFromJson(const boost::json::object& result);
template <>
Result<CompleteResult> ResultFromJson(const boost::json::object& result);
template <>
Result<EmptyResult> ResultFromJson(const boost::json::object& result);  // whatever it holds

// What a server can do, from `initialize` or `server/discover`.
struct ServerCapabilities {
  bool tools = false;
  bool tools_change = false;  // announces changes of its list
  bool resources = false;
  bool resources_change = false;
  bool resources_subscribe = false;
  bool prompts = false;
  bool prompts_change = false;
  bool completions = false;
  bool logging = false;
  bool tasks = false;  // extension io.modelcontextprotocol/tasks
};
Result<ServerCapabilities> ServerCapabilitiesFromJson(const boost::json::object& capabilities);

// Who answered, from `_meta` of a modern result; empty when it does not say.
Implementation ServerInfoFromMeta(const boost::json::object& result);

// The params of notifications/progress and notifications/message.
struct ProgressReport {
  ProgressToken token;
  Progress progress;
};
Result<ProgressReport> ProgressFromJson(const boost::json::object& params);
Result<LogMessage> LogMessageFromJson(const boost::json::object& params);

// How a request is getting on that a server continues as a task (modern era).
struct TaskStatus {
  enum class State : std::uint8_t { kWorking, kInputRequired, kCompleted, kFailed, kCancelled };
  std::string id;
  State state = State::kWorking;
  std::string message;  // for people; may be empty
  std::optional<std::chrono::milliseconds> poll_interval;
};
Result<TaskStatus> TaskStatusFromJson(const boost::json::object& result);

// An error answer for a caller: "the server answered error -32602: ...". kUnsupported when the
// server does not know the method, kInvalidArgument otherwise.
Error ToError(const RpcError& error);

// A piece of a server's text for a message to people: quoted, cut, control characters escaped.
std::string Quoted(std::string_view text);

}  // namespace glovebox::mcp
