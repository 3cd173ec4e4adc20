#include "mcp/sse.h"

#include <utility>

namespace glovebox::mcp {

std::string SseEvent(std::string_view data, std::string_view id) {
  std::string event;
  event.reserve(data.size() + id.size() + 32);
  event.append("event: message\n");
  if (!id.empty()) event.append("id: ").append(id).append("\n");
  return event.append("data: ").append(data).append("\n\n");
}

std::string SsePrimingEvent(std::string_view id) {
  return std::string("id: ").append(id).append("\ndata: \n\n");
}

std::string SseRetry(std::chrono::milliseconds delay) {
  return "retry: " + std::to_string(delay.count()) + "\n\n";
}

std::shared_ptr<SseStream> SseStream::Start(const std::shared_ptr<HttpExchange>& exchange,
                                            KeepAlive& keep_alive) {
  exchange->StartStream(200, {{"content-type", "text/event-stream"},
                              {"cache-control", "no-cache, no-transform"},
                              {"x-accel-buffering", "no"}});
  const auto stream = std::make_shared<SseStream>(exchange);
  // Whether somebody still reads shows only when something is written.
  exchange->OnHalfClose([weak = std::weak_ptr(stream)] {
    if (const auto open_stream = weak.lock()) open_stream->Comment();
  });
  keep_alive.Add(stream);
  return stream;
}

void SseStream::Write(std::string events) {
  if (exchange_ != nullptr) exchange_->Write(std::move(events));
}

void SseStream::Comment() {
  if (exchange_ != nullptr && !exchange_->congested()) exchange_->Write(":\n\n");
}

void SseStream::End() {
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->End();
}

}  // namespace glovebox::mcp
