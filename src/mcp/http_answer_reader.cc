#include "mcp/http_answer_reader.h"

#include <utility>

#include <boost/beast/core/string.hpp>

#include "base/text.h"
#include "mcp/client_results.h"
#include "mcp/json_reader.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

bool IsMediaType(std::string_view content_type, std::string_view wanted) {
  return boost::beast::iequals(Trim(content_type.substr(0, content_type.find(';'))), wanted);
}

}  // namespace

Status HttpAnswerReader::Begin(const HttpResponseHead& head) {
  status_ = head.status;
  body_.clear();
  has_event_ = false;
  const std::string text = "HTTP status " + std::to_string(head.status) + ' ' +
                           Quoted(head.reason.empty() ? "?" : head.reason);
  if (head.status / 100 != 2) {
    form_ = Form::kError;
    if (head.status / 100 == 3) return Error(Errc::kUnsupported, text + ": redirects are refused");
    if (head.status == 401 || head.status == 403) {
      return Error(Errc::kSystem, text + ": the server refuses this client or its token");
    }
    return Error(Errc::kSystem, text);
  }
  const std::string_view type = head.Header("Content-Type").value_or("");
  form_ = Form::kNothing;
  if (head.status == 202 || head.status == 204) {
    return Error(Errc::kInvalidArgument, text + " is no answer to a request");
  }
  if (IsMediaType(type, "text/event-stream")) {
    form_ = Form::kStream;
    events_.Resume();
  } else if (IsMediaType(type, "application/json")) {
    form_ = Form::kDocument;
  } else {
    return Error(Errc::kInvalidArgument, "the server answered with content of type " +
                                             Quoted(type) +
                                             ", not application/json or text/event-stream");
  }
  return {};
}

Status HttpAnswerReader::Append(std::string_view piece, const Sink& sink) {
  if (form_ == Form::kError) {
    body_ += piece.substr(0, kErrorBodyBytesMax - body_.size());
  } else if (form_ == Form::kDocument) {
    if (piece.size() > limits_.bytes_max - body_.size()) {
      return Error(Errc::kLimit, "the server's answer is longer than " +
                                     std::to_string(limits_.bytes_max) + " bytes");
    }
    body_ += piece;
  } else if (form_ == Form::kStream) {
    events_.Append(piece);
    while (true) {
      auto event = TRY(events_.Next());
      if (!event) return {};
      has_event_ = true;
      // A priming event has an id and no text. Types of their own are not for us.
      if (event->type != "message" || event->data.empty()) continue;
      if (!Deliver(event->data, sink)) return {};
    }
  }
  return {};
}

void HttpAnswerReader::Finish(const Sink& sink) {
  if (form_ == Form::kDocument) Deliver(std::exchange(body_, {}), sink);
}

bool HttpAnswerReader::Deliver(std::string_view text, const Sink& sink) const {
  auto parsed = ParseMessage(text, limits_);
  if (auto* message = std::get_if<Message>(&parsed)) return sink(std::move(*message));
  for (Message& message : std::get<Batch>(parsed)) {
    if (!sink(std::move(message))) return false;
  }
  return true;
}

std::optional<RpcError> HttpAnswerReader::error_answer() const {
  if (form_ != Form::kError) return std::nullopt;
  const auto document = ReadJson(body_, {limits_.depth_max, limits_.values_max});
  if (!document.ok() || !document->is_object()) return std::nullopt;
  const json::value* error = document->get_object().if_contains("error");
  // Other servers' errors look alike; JSON-RPC's have a number.
  if (error == nullptr || !error->is_object()) return std::nullopt;
  const json::value* code = error->get_object().if_contains("code");
  if (code == nullptr || !code->is_int64()) return std::nullopt;
  return RpcErrorFromJson(*error);
}

}  // namespace glovebox::mcp
