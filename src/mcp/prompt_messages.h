#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/content.h"
#include "mcp/page.h"
#include "mcp/params.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// prompts/list, prompts/get, and completion/complete, which completes their arguments.

struct PromptArgument {
  std::string name;
  std::string description = {};
  bool required = false;
};

struct PromptDefinition {
  static constexpr std::string_view kListKey = "prompts";
  std::string name;
  std::string title = {};
  std::string description = {};
  std::vector<PromptArgument> arguments = {};
  std::vector<Icon> icons = {};
};

using ListPromptsResult = ListResult<PromptDefinition>;

struct GetPromptParams {
  std::string name;
  std::map<std::string, std::string> arguments;
};

enum class Role : std::uint8_t { kUser, kAssistant };
struct PromptMessage {
  Role role = Role::kUser;
  ContentBlock content;
};
struct GetPromptResult {
  std::string description;
  std::vector<PromptMessage> messages;
};

// What is being completed: an argument of a prompt, or a variable of a resource template.
struct CompleteParams {
  enum class Kind : std::uint8_t { kPrompt, kResourceTemplate };
  Kind kind = Kind::kPrompt;
  std::string reference;  // the prompt's name, or the template's URI
  std::string argument_name;
  std::string argument_value;                // what has been typed so far
  std::map<std::string, std::string> known;  // other arguments, already chosen
};
struct CompleteResult {
  static constexpr std::size_t kValuesMax = 100;  // the protocol's bound; more are cut off
  std::vector<std::string> values;
  std::optional<std::uint64_t> total;
  bool has_more = false;
};

template <>
Result<GetPromptParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<CompleteParams> ParamsFromJson(const boost::json::object& params);

boost::json::object ToJson(const PromptDefinition& prompt, ProtocolVersion version);
boost::json::object ToJson(const GetPromptResult& result, ProtocolVersion version);
boost::json::object ToJson(const CompleteResult& result, ProtocolVersion version);

}  // namespace glovebox::mcp
