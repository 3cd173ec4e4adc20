#include "mcp/http_answers.h"

#include <algorithm>
#include <utility>

#include <boost/beast/core/string.hpp>
#include <boost/json/object.hpp>

#include "base/text.h"
#include "mcp/json_writer.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using boost::beast::iequals;

HttpResponse JsonResponse(unsigned status, std::string body) {
  return {status, {{"content-type", "application/json"}}, std::move(body)};
}

// "type/subtype" without its parameters.
std::string_view MediaType(std::string_view text) { return Trim(text.substr(0, text.find(';'))); }

bool RangeTakes(std::string_view range, std::string_view type) {
  if (range == "*/*" || iequals(range, type)) return true;
  return range.ends_with("/*") &&
         iequals(range.substr(0, range.size() - 1), type.substr(0, type.find('/') + 1));
}

unsigned StatusOf(const RpcError* error, bool modern) {
  if (error == nullptr) return 200;
  if (error->retry_after) return 429;
  if (!modern) return 200;
  if (error->code == kMethodNotFound) return 404;
  return error->code == kMissingClientCapability ? 400 : 200;
}

}  // namespace

HttpResponse Refusal(unsigned status, std::string_view why) {
  return JsonResponse(status, WriteJson(json::object{{"error", why}}));
}

HttpResponse ErrorResponse(unsigned status, const std::optional<RequestId>& id,
                           const RpcError& error) {
  return JsonResponse(status, WriteJson(ErrorMessage(id, error)));
}

HttpResponse AnswerResponse(const json::value& message, const RpcError* error, bool modern) {
  HttpResponse response = JsonResponse(StatusOf(error, modern), WriteJson(message));
  if (error != nullptr && error->retry_after) {
    // Whole seconds, rounded up: who comes back too early is refused again.
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*error->retry_after);
    response.headers.emplace_back("retry-after",
                                  std::to_string(std::max<std::int64_t>(1, seconds.count())));
  }
  return response;
}

bool IsJson(std::string_view content_type) {
  return iequals(MediaType(content_type), "application/json");
}

bool Accepts(const HttpRequest& head, std::string_view type) {
  bool asked = false;
  for (const auto& [name, value] : head.headers) {
    if (!iequals(name, "accept")) continue;
    asked = true;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      if (RangeTakes(MediaType(rest.substr(0, comma)), type)) return true;
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return !asked;
}

}  // namespace glovebox::mcp
