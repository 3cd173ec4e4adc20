// Bytes of any client against the JSON-RPC reader: whatever is understood must be written and read
// again as the same thing, on one line and within the bounds; whatever is not must get an answer.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"
#include "mcp/json_reader.h"
#include "mcp/json_writer.h"
#include "mcp/jsonrpc.h"

namespace {

namespace json = boost::json;
using namespace glovebox::mcp;  // NOLINT(google-build-using-namespace): one file

// Small enough for a fuzzer to reach each of them.
constexpr ParseLimits kTight = {4096, 8, 64, 4};

// Depth and number of values, keys included, as JsonLimits counts them.
struct Measure {
  std::size_t depth = 0;
  std::size_t values = 0;
};

Measure MeasureOf(const json::value& value) {
  Measure inner;
  const auto add = [&inner](const json::value& element) {
    const Measure measure = MeasureOf(element);
    inner.depth = std::max(inner.depth, measure.depth);
    inner.values += measure.values;
  };
  if (const json::array* array = value.if_array()) {
    std::for_each(array->begin(), array->end(), add);
    ++inner.depth;
  } else if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) add(member.value());
    inner.values += object->size();
    ++inner.depth;
  }
  ++inner.values;
  return inner;
}

// `message` as a line, and read again.
Message Again(const json::object& message) {
  const std::string line = WriteJson(message);
  CHECK(line.find_first_of("\r\n") == std::string::npos);
  auto again = ParseMessage(line);
  CHECK(std::holds_alternative<Message>(again));
  return std::get<Message>(std::move(again));
}

void CheckMessage(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) {
    const auto again =
        std::get<Request>(Again(RequestMessage(request->id, request->method, request->params)));
    CHECK(again.id == request->id && again.method == request->method &&
          again.params == request->params);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    const auto again = std::get<Notification>(
        Again(NotificationMessage(notification->method, notification->params)));
    CHECK(again.method == notification->method && again.params == notification->params);
  } else if (const auto* response = std::get_if<Response>(&message)) {
    const auto* error = std::get_if<RpcError>(&response->outcome);
    const auto* result = std::get_if<json::value>(&response->outcome);
    if (error != nullptr) {
      const auto again = std::get<Response>(Again(ErrorMessage(response->id, *error)));
      const auto& same = std::get<RpcError>(again.outcome);
      CHECK(again.id == response->id && same.code == error->code &&
            same.message == error->message && same.data == error->data);
    } else if (result->is_object()) {
      const auto again =
          std::get<Response>(Again(ResultMessage(response->id, result->get_object())));
      CHECK(again.id == response->id && std::get<json::value>(again.outcome) == *result);
    }
  } else {
    const auto& invalid = std::get<InvalidMessage>(message);
    CHECK(invalid.error.code < 0 && !invalid.error.message.empty());
    const Message answer = Again(ErrorMessage(invalid.id, invalid.error));
    // Without an id nobody can tell what it answers, but it is still a message of ours.
    if (invalid.id) CHECK(std::get<Response>(answer).id == *invalid.id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto parsed = ParseMessage(input, kTight);
  if (const auto* batch = std::get_if<Batch>(&parsed)) {
    CHECK(!batch->empty() && batch->size() <= kTight.batch_max);
    std::for_each(batch->begin(), batch->end(), CheckMessage);
  } else {
    CheckMessage(std::get<Message>(parsed));
  }

  const auto value = ReadJson(input, {kTight.depth_max, kTight.values_max});
  if (!value.ok()) {
    CHECK(value.error().code() == glovebox::Errc::kInvalidArgument ||
          value.error().code() == glovebox::Errc::kLimit);
    return 0;
  }
  const Measure measure = MeasureOf(*value);
  CHECK(measure.depth <= kTight.depth_max && measure.values <= kTight.values_max);
  const std::string text = WriteJson(*value);
  const auto again = ReadJson(text, {measure.depth, measure.values});
  CHECK(again.ok() && *again == *value);
  CHECK(WriteJson(*again) == text);
  return 0;
}
