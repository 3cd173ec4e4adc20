#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "mcp/change_feed.h"
#include "mcp/client_input.h"
#include "mcp/client_results.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// How a client finds out what the server speaks.
enum class EraChoice : std::uint8_t {
  kAuto,    // asks server/discover; anything but a modern answer leads to initialize
  kModern,  // the modern revision or none
  kLegacy,  // initialize, without asking first
};

struct ClientOptions {
  Implementation info = {};
  EraChoice era = EraChoice::kAuto;
  InputHandlers input = {};
  bool tasks = true;  // lets the server continue calls as tasks; the client then polls
  // Asks for log messages of this level and above; nothing: for none.
  std::optional<LogLevel> log_level = std::nullopt;
  // Their changes are announced through on_change.
  std::vector<std::string> watched_resources = {};

  std::chrono::milliseconds handshake_time_max{30'000};
  // Silence for this long is a legacy server's answer to server/discover.
  std::chrono::milliseconds probe_time_max{3'000};
  std::size_t in_flight_max = 256;      // requests of ours without an answer; one more fails
  std::size_t questions_max = 16;       // of the server at once; one more is refused
  std::size_t rounds_max = 16;          // of questions for one request
  std::size_t list_items_max = 10'000;  // of all pages together
  std::size_t list_pages_max = 1'000;
  std::chrono::milliseconds poll_interval{1000};  // of tasks, unless the server says; in bounds
  std::chrono::milliseconds poll_interval_max{30'000};

  // What the server says besides answers. None runs inside a call; each may destroy the client.
  std::function<void(const LogMessage&)> on_log = nullptr;
  std::function<void(const Change&)> on_change = nullptr;  // of a list or a watched resource
  // Any other notification: method and params.
  std::function<void(std::string_view, const boost::json::object&)> on_notification = nullptr;
  // The server broke the protocol in a way that concerns no request; it was passed over.
  std::function<void(const Error&)> on_misbehaviour = nullptr;
  // The server is gone, and every request was answered with an error. Not after Close.
  std::function<void(const Error&)> on_lost = nullptr;
};

struct RequestOptions {
  // Without a sign of life for this long the request is given up and withdrawn. Progress, a task's
  // status and time spent on the server's questions do not count as silence. 0: never.
  std::chrono::milliseconds silence_max{60'000};
  // The same whatever the server does. 0: never.
  std::chrono::milliseconds time_max{std::chrono::minutes(30)};
  // Asks for progress reports when set.
  std::function<void(const Progress&)> on_progress = nullptr;
  // How the call is getting on, once the server has made it a task.
  std::function<void(const TaskStatus&)> on_task = nullptr;
};

// What is known of a server once a client is connected.
struct ServerDescription {
  ProtocolVersion version = kNewestLegacyVersion;
  Implementation info;  // for displays; empty when the server does not say
  std::string instructions;
  ServerCapabilities capabilities;
  boost::json::object all_capabilities;  // as announced
};

}  // namespace glovebox::mcp
