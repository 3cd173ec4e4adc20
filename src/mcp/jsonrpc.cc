#include "mcp/jsonrpc.h"

#include <utility>

#include <boost/json/array.hpp>

#include "mcp/json_reader.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

InvalidMessage Invalid(std::optional<RequestId> id, int code, std::string message) {
  return {std::move(id), {code, std::move(message), std::nullopt}};
}

// What a message's "id" member says. A null id is a member that is there and unusable.
struct IdMember {
  bool present = false;
  std::optional<RequestId> id;
};

IdMember ReadId(const json::object& object) {
  const json::value* value = object.if_contains("id");
  if (value == nullptr) return {};
  return {true, RequestIdFromJson(*value)};
}

Message ReadCall(json::object& object, IdMember id) {
  const json::string* method = object.at("method").if_string();
  if (method == nullptr) return Invalid(id.id, kInvalidRequest, "\"method\" must be a string");
  if (id.present && !id.id) {
    return Invalid(std::nullopt, kInvalidRequest, "\"id\" must be a string or a 64-bit integer");
  }
  json::object params;
  if (json::value* value = object.if_contains("params")) {
    if (!value->is_object()) {
      return Invalid(id.id, kInvalidParams, "\"params\" must be an object");
    }
    params = std::move(value->get_object());
  }
  if (id.id) return Request{std::move(*id.id), std::string(*method), std::move(params)};
  return Notification{std::string(*method), std::move(params)};
}

Message ReadResponse(json::object& object, IdMember id) {
  json::value* result = object.if_contains("result");
  const json::value* error = object.if_contains("error");
  if ((result == nullptr) == (error == nullptr)) {
    return Invalid(id.id, kInvalidRequest, "neither a request nor a response");
  }
  if (!id.id) return Invalid(std::nullopt, kInvalidRequest, "a response without a usable \"id\"");
  if (result != nullptr) return Response{std::move(*id.id), std::move(*result)};

  return Response{std::move(*id.id), RpcErrorFromJson(*error)};
}

Message ReadMessage(json::value& value) {
  json::object* object = value.if_object();
  if (object == nullptr) {
    return Invalid(std::nullopt, kInvalidRequest, "a message must be a JSON object");
  }
  IdMember id = ReadId(*object);
  const json::value* version = object->if_contains("jsonrpc");
  if (version == nullptr || !version->is_string() || version->get_string() != "2.0") {
    return Invalid(id.id, kInvalidRequest, "\"jsonrpc\" must be \"2.0\"");
  }
  if (object->contains("method")) return ReadCall(*object, std::move(id));
  return ReadResponse(*object, std::move(id));
}

}  // namespace

RpcError ToRpcError(const Error& error) {
  const int code = error.code() == Errc::kInvalidArgument ? kInvalidParams : kInternalError;
  return {code, error.message(), std::nullopt};
}

RpcError RpcErrorFromJson(const json::value& error) {
  RpcError result;
  const json::object* fields = error.if_object();
  if (fields == nullptr) return result;
  if (const json::value* code = fields->if_contains("code"); code && code->is_int64()) {
    result.code = static_cast<int>(code->get_int64());
  }
  const json::value* message = fields->if_contains("message");
  if (message != nullptr && message->is_string()) {
    result.message = std::string(message->get_string());
  }
  if (const json::value* data = fields->if_contains("data")) result.data = *data;
  return result;
}

std::variant<Message, Batch> ParseMessage(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return Message(Invalid(std::nullopt, kInvalidRequest,
                           "message longer than " + std::to_string(limits.bytes_max) + " bytes"));
  }
  auto document = ReadJson(text, {limits.depth_max, limits.values_max});
  if (!document) {
    const Error& error = document.error();
    if (error.code() == Errc::kInvalidArgument) {
      return Message(Invalid(std::nullopt, kParseError, "not valid JSON: " + error.message()));
    }
    const int code = error.code() == Errc::kLimit ? kInvalidRequest : kInternalError;
    return Message(Invalid(std::nullopt, code, error.message()));
  }
  json::array* elements = document->if_array();
  if (elements == nullptr) return ReadMessage(*document);
  if (elements->empty() || elements->size() > limits.batch_max) {
    return Message(
        Invalid(std::nullopt, kInvalidRequest,
                "a batch must have 1 to " + std::to_string(limits.batch_max) + " messages"));
  }
  Batch batch;
  batch.reserve(elements->size());
  for (json::value& element : *elements) batch.push_back(ReadMessage(element));
  return batch;
}

json::object ResultMessage(const RequestId& id, json::object result) {
  return {{"jsonrpc", "2.0"}, {"id", ToJson(id)}, {"result", std::move(result)}};
}

json::object ErrorMessage(const std::optional<RequestId>& id, const RpcError& error) {
  json::object body = {{"code", error.code}, {"message", error.message}};
  if (error.data) body["data"] = *error.data;
  return {{"jsonrpc", "2.0"},
          {"id", id ? ToJson(*id) : json::value(nullptr)},
          {"error", std::move(body)}};
}

json::object RequestMessage(const RequestId& id, std::string_view method, json::object params) {
  return {
      {"jsonrpc", "2.0"}, {"id", ToJson(id)}, {"method", method}, {"params", std::move(params)}};
}

json::object NotificationMessage(std::string_view method, json::object params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

json::value ToJson(const RequestId& id) {
  return std::visit([](const auto& value) { return json::value(value); }, id);
}

std::optional<RequestId> RequestIdFromJson(const json::value& value) {
  if (value.is_string()) return RequestId(std::string(value.get_string()));
  if (value.is_int64()) return RequestId(value.get_int64());
  return std::nullopt;
}

std::string ToText(const RequestId& id) { return WriteJson(ToJson(id)); }

}  // namespace glovebox::mcp
