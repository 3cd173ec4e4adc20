#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// An HttpExchange for unit tests: remembers what was sent, and plays a peer that leaves.
class FakeHttpExchange final : public HttpExchange {
 public:
  void Respond(HttpResponse response) override {
    CHECK(!is_started);
    is_started = is_ended = true;
    if (is_gone) return;
    status = response.status;
    headers = std::move(response.headers);
    sent = std::move(response.body);
  }
  void StartStream(unsigned stream_status, HttpHeaders stream_headers) override {
    CHECK(!is_started);
    is_started = true;
    if (is_gone) return;
    status = stream_status;
    headers = std::move(stream_headers);
  }
  void Write(std::string bytes) override {
    CHECK(is_started && !is_ended);
    CHECK(!bytes.empty());
    if (!is_gone) sent += bytes;
  }
  void End() override {
    CHECK(is_started && !is_ended);
    is_ended = true;
  }
  bool started() const override { return is_started; }
  bool congested() const override { return is_congested; }
  void OnDisconnect(std::function<void()> hook) override { disconnect_hook = std::move(hook); }
  void OnHalfClose(std::function<void()> hook) override { half_close_hook = std::move(hook); }

  // The peer's doings.
  void Disconnect() {
    is_gone = true;
    if (const auto hook = std::exchange(disconnect_hook, nullptr)) hook();
  }
  void HalfClose() {
    // A hook may put another one in its place, which then is as due as the first.
    while (const auto hook = is_ended ? nullptr : std::exchange(half_close_hook, nullptr)) hook();
  }

  std::string_view HeaderOf(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
  bool streams() const { return HeaderOf("content-type") == "text/event-stream"; }
  std::string Take() { return std::exchange(sent, {}); }

  unsigned status = 0;
  HttpHeaders headers;
  std::string sent;  // the body, or what was written
  bool is_started = false;
  bool is_ended = false;
  bool is_gone = false;
  bool is_congested = false;
  std::function<void()> disconnect_hook;
  std::function<void()> half_close_hook;
};

}  // namespace glovebox::mcp
