#include "mcp/header_mirror.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <boost/json/value.hpp>

#include "base/base64.h"
#include "mcp/json_writer.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

constexpr std::string_view kMethodHeader = "mcp-method";
constexpr std::string_view kNameHeader = "mcp-name";
constexpr std::string_view kBase64Prefix = "=?base64?";
constexpr std::string_view kBase64Suffix = "?=";

// What Mcp-Name repeats, by method.
struct NamedMethod {
  std::string_view method;
  std::string_view param;
};
constexpr std::array<NamedMethod, 6> kNamedMethods = {{{"tools/call", "name"},
                                                       {"prompts/get", "name"},
                                                       {"resources/read", "uri"},
                                                       {"tasks/get", "taskId"},
                                                       {"tasks/update", "taskId"},
                                                       {"tasks/cancel", "taskId"}}};

RpcError Mismatch(std::string message) { return {kHeaderMismatch, std::move(message)}; }

RpcError Missing(std::string_view header) {
  return Mismatch("header " + std::string(header) +
                  " is missing; it must repeat what the body says");
}

RpcError Differs(std::string_view header, std::string_view value) {
  return Mismatch("header " + std::string(header) + " is \"" + std::string(value) +
                  "\", which is not what the body says");
}

// A header twice has no one value, whatever the two say.
std::optional<RpcError> CheckSingle(const HttpRequest& http, std::string_view header) {
  if (http.CountHeader(header) < 2) return std::nullopt;
  return Mismatch("header " + std::string(header) + " must not be given twice");
}

std::optional<RpcError> CheckLiteral(const HttpRequest& http, std::string_view header,
                                     std::string_view expected) {
  const auto value = http.Header(header);
  if (!value) return std::nullopt;
  if (*value != expected) return Differs(header, *value);
  return CheckSingle(http, header);
}

// The value at the end of a chain of property names; null when there is none.
const json::value* FindValue(const json::value* value, const std::vector<std::string>& path) {
  for (const std::string& name : path) {
    if (value == nullptr || !value->is_object()) return nullptr;
    value = value->get_object().if_contains(name);
  }
  return value;
}

bool SameNumber(const json::value& value, std::string_view text) {
  const char* const end = text.data() + text.size();
  if (value.is_int64()) {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end) return number == value.get_int64();
  }
  // Such as 7.0, which is the integer 7 as well. Beyond 2^53 a double no longer tells neighbours
  // apart; the schema keeps such numbers out.
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && !text.empty() &&
         number == value.to_number<double>();
}

bool SameValue(const json::value& value, std::string_view text) {
  if (value.is_string()) return std::string_view(value.get_string()) == text;
  if (value.is_bool()) return text == (value.get_bool() ? "true" : "false");
  return value.is_number() && SameNumber(value, text);
}

// Whether a header can repeat it at all. The tool refuses the others: they break its schema.
bool CanBeMirrored(const json::value& value) {
  return value.is_string() || value.is_bool() || value.is_number();
}

}  // namespace

std::optional<std::string> DecodeHeaderValue(std::string_view value) {
  const std::size_t markers = kBase64Prefix.size() + kBase64Suffix.size();
  if (value.size() < markers || !value.starts_with(kBase64Prefix) ||
      !value.ends_with(kBase64Suffix)) {
    return std::string(value);
  }
  return DecodeBase64(value.substr(kBase64Prefix.size(), value.size() - markers),
                      Base64::kStandard);
}

std::optional<RpcError> CheckClaims(const HttpRequest& http, const Request& request,
                                    std::string_view claimed_version) {
  if (auto error = CheckLiteral(http, kVersionHeader, claimed_version)) return error;
  return CheckLiteral(http, kMethodHeader, request.method);
}

std::optional<RpcError> CheckRequiredHeaders(const HttpRequest& http, const Request& request) {
  if (!http.Header(kVersionHeader)) return Missing(kVersionHeader);
  if (!http.Header(kMethodHeader)) return Missing(kMethodHeader);
  for (const NamedMethod& named : kNamedMethods) {
    if (request.method != named.method) continue;
    const json::value* name = request.params.if_contains(named.param);
    const bool has_name = name != nullptr && name->is_string();
    const auto header = http.Header(kNameHeader);
    if (!header) {
      // Without a name in the body the handler says what is wrong.
      return has_name ? std::optional(Missing(kNameHeader)) : std::nullopt;
    }
    const auto value = DecodeHeaderValue(*header);
    if (!value || !has_name || *value != std::string_view(name->get_string())) {
      return Differs(kNameHeader, *header);
    }
    return CheckSingle(http, kNameHeader);
  }
  return std::nullopt;
}

std::optional<RpcError> CheckParameterHeaders(const HttpRequest& http, const json::object& params,
                                              const ToolRegistry& tools) {
  const json::value* tool = params.if_contains("name");
  if (tool == nullptr || !tool->is_string()) return std::nullopt;
  for (const HeaderParameter& parameter : tools.HeaderParametersOf(tool->get_string())) {
    const std::string name = "Mcp-Param-" + parameter.header;
    const json::value* value = FindValue(params.if_contains("arguments"), parameter.path);
    const bool expected = value != nullptr && CanBeMirrored(*value);
    const auto header = http.Header(name);
    if (!header) {
      if (expected) return Missing(name);
      continue;
    }
    const auto text = DecodeHeaderValue(*header);
    if (!expected || !text || !SameValue(*value, *text)) return Differs(name, *header);
    if (auto error = CheckSingle(http, name)) return error;
  }
  return std::nullopt;
}

std::string EncodeHeaderValue(std::string_view value) {
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  const bool is_padded = value.starts_with(' ') || value.ends_with(' ');
  const bool is_sentinel = value.starts_with(kBase64Prefix) && value.ends_with(kBase64Suffix);
  if (!is_padded && !is_sentinel && std::all_of(value.begin(), value.end(), is_plain)) {
    return std::string(value);
  }
  return std::string(kBase64Prefix) + EncodeBase64(value, Base64::kStandard) +
         std::string(kBase64Suffix);
}

HttpHeaders MirroredHeaders(std::string_view version, std::string_view method,
                            const json::object& params) {
  HttpHeaders headers = {{std::string(kVersionHeader), std::string(version)},
                         {std::string(kMethodHeader), std::string(method)}};
  for (const NamedMethod& named : kNamedMethods) {
    if (method != named.method) continue;
    const json::value* name = params.if_contains(named.param);
    if (name == nullptr || !name->is_string()) continue;
    headers.emplace_back(kNameHeader, EncodeHeaderValue(name->get_string()));
  }
  return headers;
}

HttpHeaders ParameterHeaders(const json::object& params,
                             const std::vector<HeaderParameter>& parameters) {
  HttpHeaders headers;
  for (const HeaderParameter& parameter : parameters) {
    const json::value* value = FindValue(params.if_contains("arguments"), parameter.path);
    if (value == nullptr || !CanBeMirrored(*value)) continue;
    headers.emplace_back(
        "Mcp-Param-" + parameter.header,
        value->is_string() ? EncodeHeaderValue(value->get_string()) : WriteJson(*value));
  }
  return headers;
}

}  // namespace glovebox::mcp
