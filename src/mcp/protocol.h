#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/jsonrpc.h"

namespace glovebox::mcp {

// The Model Context Protocol's messages as structs. What comes in is read by ParamsFromJson<T>,
// which checks types and names the field that is wrong; what goes out is written by ToJson, which
// leaves out what the negotiated revision does not know.

// Revisions that open with `initialize`, oldest first, so that they compare by age.
enum class ProtocolVersion : std::uint8_t {
  k2024_11_05,
  k2025_03_26,  // the only one that requires batches; annotations, progress messages
  k2025_06_18,  // titles, output schemas, structured content
  k2025_11_25,
};
inline constexpr ProtocolVersion kNewestVersion = ProtocolVersion::k2025_11_25;

std::string_view VersionName(ProtocolVersion version);
std::optional<ProtocolVersion> VersionFromName(std::string_view name);

// Who is speaking: a client or a server program.
struct Implementation {
  std::string name;
  std::string title;  // for people; may be empty
  std::string version;
};

struct InitializeParams {
  std::string protocol_version;  // as asked for; may be one we do not know
  Implementation client_info;
  boost::json::object capabilities;
};

struct InitializeResult {
  ProtocolVersion protocol_version = kNewestVersion;
  boost::json::object capabilities;
  Implementation server_info;
  std::string instructions;  // for the model; may be empty
};

// An identifier the client chose for progress reports. The same shape as a request id.
using ProgressToken = RequestId;

// The part of any request's params that belongs to the protocol, not to the method.
struct RequestMeta {
  std::optional<ProgressToken> progress_token;
};

struct Progress {
  double progress = 0;  // must grow from one report to the next
  std::optional<double> total;
  std::string message;
};

struct CancelledParams {
  RequestId request_id;
  std::string reason;
};

// Hints for the client's user interface, not promises.
struct ToolAnnotations {
  bool read_only_hint = false;
  bool destructive_hint = true;
  bool idempotent_hint = false;
  bool open_world_hint = true;
};

struct ToolDefinition {
  std::string name;
  std::string title;
  std::string description;
  boost::json::object input_schema;
  boost::json::object output_schema;  // empty: the tool gives no structured content
  ToolAnnotations annotations;
};

struct EmptyParams {};

struct ListToolsParams {
  std::optional<std::string> cursor;
};
struct ListToolsResult {
  std::vector<ToolDefinition> tools;
};

struct CallToolParams {
  std::string name;
  boost::json::object arguments;
};
struct CallToolResult {
  std::vector<std::string> text;  // one text block each
  std::optional<boost::json::object> structured_content;
  bool is_error = false;
};

// Reads the params of one method. Errors are kInvalidArgument.
template <typename Params>
Result<Params> ParamsFromJson(const boost::json::object& params);
template <>
Result<EmptyParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<RequestMeta> ParamsFromJson(const boost::json::object& params);
template <>
Result<InitializeParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<CancelledParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<ListToolsParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<CallToolParams> ParamsFromJson(const boost::json::object& params);

boost::json::object ToJson(const InitializeResult& result, ProtocolVersion version);
boost::json::object ToJson(const ToolDefinition& tool, ProtocolVersion version);
boost::json::object ToJson(const ListToolsResult& result, ProtocolVersion version);
boost::json::object ToJson(const CallToolResult& result, ProtocolVersion version);
boost::json::object ToJson(const Progress& progress, const ProgressToken& token,
                           ProtocolVersion version);

}  // namespace glovebox::mcp
