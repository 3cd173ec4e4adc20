#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glovebox::jail {

// Reads one line of JSON-RPC as it passes by, byte for byte and without keeping it: which message
// it is, and where a word could be added. Deliberately not a parser: it never decides what is
// allowed, it must cost next to nothing, and what it does not understand passes unchanged.
class MessageScanner {
 public:
  void Feed(std::string_view bytes);
  // Starts the next line.
  void Reset() { *this = MessageScanner(); }

  // One object, from its first byte to its last, with a "jsonrpc" member; or a list of objects.
  bool is_message() const;
  // Nothing but blanks so far.
  bool blank() const { return state_ == State::kBefore; }

  // Of a message at the top level, as written: `"a"` and `7` are different ids.
  const std::string& id() const { return id_; }
  const std::string& method() const { return method_; }
  // An answer that reports a failure: an error object, or a result with "isError": true.
  bool failed() const { return has_error_ || is_error_; }
  // Where the list `result.content` ends (the offset of its ']'), and whether it has no item.
  std::optional<std::size_t> content_end() const { return content_end_; }
  bool content_empty() const { return content_empty_; }
  // Where the text `error.message` ends (the offset of its closing quote).
  std::optional<std::size_t> error_message_end() const { return error_message_end_; }

 private:
  enum class State : std::uint8_t { kBefore, kInside, kAfter, kBroken };
  static constexpr std::size_t kWordMax = 128;  // of keys, ids and methods that matter

  void Step(char c);
  void InString(char c);
  void EndString();
  void Open(char c);
  void Close(char c);
  void EndValue();
  bool AtKey(int depth) const { return depth_ == depth && expects_key_; }

  State state_ = State::kBefore;
  bool list_ = false;  // a batch
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool expects_key_ = false;  // the next text at this depth names a member
  bool key_text_ = false;     // the text being read does
  std::size_t offset_ = 0;
  std::string word_;      // the text or bare value being read, cut at kWordMax
  std::string top_key_;   // of the value being read, at depth 1
  std::string next_key_;  // and at depth 2
  bool in_content_ = false;
  std::string id_;
  std::string method_;
  bool has_jsonrpc_ = false;
  bool has_error_ = false;
  bool is_error_ = false;
  bool content_empty_ = true;
  std::optional<std::size_t> content_end_;
  std::optional<std::size_t> error_message_end_;
};

}  // namespace glovebox::jail
