#pragma once

// What crosses the gate: the socket between the server and the Python of one box. The server sends
// RunRequest frames; the box answers with one ready frame when it is locked and one RunResult per
// request. Everything the server reads here is hostile: untrusted code holds the other end.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/wire/language.h"
#include "python/wire/value.h"

namespace glovebox::wire {

enum class FrameKind : std::uint32_t {
  kReady = 0x59444247,
  kRun = 0x4E524247,
  kResult = 0x53524247
};

struct FrameHeader {
  FrameKind kind;
  std::uint32_t length;  // of the payload that follows
};
static_assert(sizeof(FrameHeader) == 8);

inline constexpr std::uint32_t kRunBytesMax = 256u << 20;   // from the server, trusted
inline constexpr std::uint32_t kResultBytesMax = 8u << 20;  // from the box, hostile
inline constexpr std::size_t kReprBytesMax = 1u << 20;
inline constexpr std::size_t kTracebackBytesMax = 64u << 10;
inline constexpr std::size_t kMessageBytesMax = 16u << 10;
inline constexpr std::uint32_t kVariablesMax = 10'000;
inline constexpr std::uint32_t kEventsMax = 256;
inline constexpr std::uint32_t kNotesMax = 16;

// What the box's runtime does with a request. Limits are those the process puts on itself before
// any untrusted code runs; the server has its own outside.
struct RunRequest {
  std::uint64_t nonce = 0;  // comes back in the result; user code is not told
  bool merged_output = false;
  bool last = true;  // no further request follows: finish threads and atexit handlers too
  RunAction action = RunAction::kRun;
  std::uint64_t data_bytes_max = 0;   // RLIMIT_DATA beyond what the interpreter has; 0: leave it
  std::uint32_t cpu_seconds_max = 0;  // RLIMIT_CPU; 0: leave it
  std::uint32_t processes_max = 0;    // RLIMIT_NPROC; 0: leave it
  std::string code;
  std::string filename;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  Value::Dict globals;
  LanguagePolicy language;
};

enum class Ending : std::uint8_t {
  kReturned,
  kRaised,
  kExited,
  kRefused,  // by the language layer: before the first statement, or by an exception of its own
};

struct RunError {
  std::string type;
  std::string message;
  std::string traceback;
  std::int32_t line = 0;
  std::int32_t offset = 0;  // of a syntax error: its column, 1-based; 0 when unknown
  std::string text;         // of a syntax error: its line; empty when unknown
};

struct RunEvent {
  double seconds = 0;
  std::string operation;
  std::string target;
  std::int32_t line = 0;
  bool refused = false;
  std::string rule;
  std::string remedy;
};

struct RunResult {
  std::uint64_t nonce = 0;
  Ending ending = Ending::kReturned;
  std::int32_t exit_code = 0;
  Value value;
  std::string value_repr;
  std::string value_text;                // str() of a value that is more than its plain data
  std::vector<std::string> value_notes;  // what the plain data does not say
  std::vector<std::string> variables;
  RunError error;
  std::vector<RunEvent> events;
  std::uint64_t events_dropped = 0;
  std::vector<Finding> findings;
  std::optional<CodeAnalysis> analysis;  // when it was asked for and the code could be parsed
};

// Payloads, without the header. Decoding answers nothing unless every byte was understood, every
// bound above holds and, for a result, it carries `nonce`.
std::string EncodeRunRequest(const RunRequest& request);
std::optional<RunRequest> DecodeRunRequest(std::string_view payload);
std::string EncodeRunResult(const RunResult& result);
std::optional<RunResult> DecodeRunResult(std::string_view payload, std::uint64_t nonce);

// A header and a payload as they go over the socket.
std::string Frame(FrameKind kind, std::string_view payload);

// Cuts a byte stream from a box into frames. Accepts only kReady (empty) and kResult (bounded);
// anything else makes it broken for good.
class FrameParser {
 public:
  struct Parsed {
    FrameKind kind;
    std::string payload;
  };

  void Append(std::string_view bytes);
  // The next whole frame, if there is one.
  std::optional<Parsed> Next();
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  bool broken_ = false;
};

}  // namespace glovebox::wire
