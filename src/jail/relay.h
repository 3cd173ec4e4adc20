#pragma once

// What passes between a client and a jailed server: bytes in, bytes out, no descriptor. Everything
// is passed on as it was written, with three exceptions: what a server prints beside the protocol
// goes to standard error, a failed tool call is told what was refused meanwhile, and requests that
// a dead server owes an answer get one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jail/message_scanner.h"

namespace glovebox::jail {

struct RelayOptions {
  bool reasons = true;                                // tell failed tool calls
  std::size_t message_bytes_max = 64u << 20;          // of one line from the server
  std::size_t hold_bytes_max = std::size_t{1} << 20;  // a longer line passes while it comes
};

class Relay {
 public:
  using Clock = std::chrono::steady_clock;
  // What was refused since then, as sentences.
  using ReasonsSince = std::function<std::vector<std::string>(Clock::time_point)>;

  Relay(RelayOptions options, ReasonsSince reasons)
      : options_(options), reasons_(std::move(reasons)) {}

  void FromClient(std::string_view bytes);
  void FromServer(std::string_view bytes);
  // The server wrote its last byte.
  void ServerClosed();
  // The client's first message is late or never comes: what the server says passes as it is.
  void DecidePlain();
  // Whether the server's bytes wait for the client to say what it speaks.
  bool undecided() const { return speech_ == Speech::kUnknown && !held_.empty(); }
  bool speaks_mcp() const { return speech_ == Speech::kMcp; }
  // Whether the server has answered anything.
  bool answered() const { return answered_; }
  // Answers what is still owed with an error, `reason`.
  void AnswerForDead(const std::string& reason);

  // Queues; the caller takes from their beginning what it could write.
  std::string to_server;
  std::string to_client;
  std::string to_stderr;

 private:
  enum class Speech : std::uint8_t { kUnknown, kMcp, kPlain };
  enum class Pass : std::uint8_t { kHeld, kClient, kStderr, kDropped };
  struct Pending {
    bool tool_call;
    Clock::time_point since;
  };
  static constexpr std::size_t kPendingMax = 4'096;

  void EndClientLine();
  void ServerLinePart(std::string_view part);
  void EndServerLine();
  std::string Reasons(const Pending& pending) const;

  const RelayOptions options_;
  const ReasonsSince reasons_;
  Speech speech_ = Speech::kUnknown;
  MessageScanner client_line_;
  MessageScanner server_line_;
  std::string held_;  // from the server, before the client has spoken
  std::string line_;  // of the server, while it is held
  std::size_t line_bytes_ = 0;
  Pass pass_ = Pass::kHeld;
  bool answered_ = false;
  std::map<std::string, Pending> pending_;  // by id as written
};

// `text` as the inside of a JSON string.
std::string JsonText(std::string_view text);

}  // namespace glovebox::jail
