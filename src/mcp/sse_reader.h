#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace glovebox::mcp {

// One event of a stream.
struct ServerSentEvent {
  std::string type;  // "message" when the stream did not say
  std::string data;  // its lines joined by newlines; may be empty
};

// Reads a text/event-stream as the HTML standard has it: incremental, indifferent to where the
// stream was split, bounded. Lines end with CR, LF or CRLF; comments, unknown fields and a leading
// byte order mark are passed over; an event without data, or cut off by the end, is none.
//
// Bytes are not checked to be UTF-8: whoever reads `data` as JSON does that.
class SseReader {
 public:
  // More than this many bytes in one line, or in the data of one event, is an error: the stream
  // cannot be continued. Memory stays below twice that and what was given to one Append.
  explicit SseReader(std::size_t event_bytes_max) : event_bytes_max_(event_bytes_max) {}

  // The stream broke off and comes again from the last event id: forgets what was not complete.
  void Resume();

  // Adds bytes from the stream. Call Next until it is empty before adding more.
  void Append(std::string_view bytes);

  // The next whole event, or nothing until more bytes arrive. kLimit once a bound was passed.
  Result<std::optional<ServerSentEvent>> Next();

  // The last event id the stream gave, for resuming it; it counts from the end of its event. The
  // bound on its length is kIdBytesMax: a longer one is passed over.
  static constexpr std::size_t kIdBytesMax = 1024;
  const std::string& last_event_id() const { return last_event_id_; }
  // How long to wait before coming back, if the stream said so.
  const std::optional<std::chrono::milliseconds>& retry() const { return retry_; }

 private:
  std::optional<std::string_view> NextLine();
  void TakeField(std::string_view line);

  const std::size_t event_bytes_max_;
  std::string buffer_;
  std::size_t begin_ = 0;      // where the unread part of buffer_ starts
  std::size_t scanned_ = 0;    // up to here no line ends
  bool at_start_ = true;       // a byte order mark may come
  bool after_return_ = false;  // the last line ended with CR: an LF that follows belongs to it
  bool too_large_ = false;

  std::string type_;
  std::string data_;
  bool has_data_ = false;
  std::string id_;  // takes effect with the event's end
  std::string last_event_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace glovebox::mcp
