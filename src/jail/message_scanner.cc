#include "jail/message_scanner.h"

namespace glovebox::jail {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool MessageScanner::is_message() const { return state_ == State::kAfter && has_jsonrpc_; }

void MessageScanner::Feed(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // The inside of a long text: nothing in it matters but its end.
    if (in_string_ && !escaped_ && word_.size() > kWordMax) {
      const std::size_t next = bytes.find_first_of("\"\\", i);
      const std::size_t skipped = (next == std::string_view::npos ? bytes.size() : next) - i;
      offset_ += skipped;
      i += skipped;
      if (i >= bytes.size()) return;
    }
    Step(bytes[i]);
    ++offset_;
  }
}

void MessageScanner::Step(char c) {
  if (in_string_) return InString(c);
  switch (state_) {
    case State::kBefore:
      if (IsBlank(c)) return;
      if (c != '{' && c != '[') {
        state_ = State::kBroken;
        return;
      }
      state_ = State::kInside;
      list_ = c == '[';
      depth_ = list_ ? -1 : 0;  // a batch's objects are at depth 1 as well, and not looked into
      return Open(c);
    case State::kInside: break;
    case State::kAfter:
      if (!IsBlank(c)) state_ = State::kBroken;
      return;
    case State::kBroken: return;
  }
  switch (c) {
    case '"':
      in_string_ = true;
      key_text_ = expects_key_ && depth_ <= 2;
      word_.assign(1, c);
      break;
    case '{':
    case '[': Open(c); break;
    case '}':
    case ']': Close(c); break;
    case ',': EndValue(); break;
    case ':': expects_key_ = false; break;
    default:
      if (!IsBlank(c) && word_.size() <= kWordMax) word_ += c;
  }
  if (in_content_ && depth_ >= 3 && !IsBlank(c) && c != '[') content_empty_ = false;
}

void MessageScanner::InString(char c) {
  if (word_.size() <= kWordMax) word_ += c;
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    EndString();
  }
}

void MessageScanner::EndString() {
  if (key_text_) {
    key_text_ = false;
    const std::string key = word_.substr(1, word_.size() - 2);
    word_.clear();
    if (depth_ == 1) top_key_ = key;
    if (depth_ == 2) next_key_ = key;
    if (depth_ == 1 && key == "jsonrpc") has_jsonrpc_ = true;
    return;
  }
  if (depth_ == 2 && top_key_ == "error" && next_key_ == "message") error_message_end_ = offset_;
}

void MessageScanner::Open(char c) {
  if (depth_ == 1 && c == '{' && top_key_ == "error") has_error_ = true;
  if (depth_ == 2 && c == '[' && top_key_ == "result" && next_key_ == "content") {
    in_content_ = true;
    content_empty_ = true;
  }
  ++depth_;
  expects_key_ = c == '{';
  word_.clear();
  if (depth_ == 2) next_key_.clear();
}

void MessageScanner::Close(char c) {
  EndValue();
  if (in_content_ && depth_ == 3 && c == ']') {
    in_content_ = false;
    content_end_ = offset_;
  }
  --depth_;
  expects_key_ = false;
  word_.clear();
  if (depth_ == (list_ ? -1 : 0)) state_ = State::kAfter;
}

// A value ends at a comma or with what contains it.
void MessageScanner::EndValue() {
  if (depth_ == 1) {
    if (top_key_ == "id" && !word_.empty()) id_ = word_;
    if (top_key_ == "method" && word_.size() > 2) method_ = word_.substr(1, word_.size() - 2);
    top_key_.clear();
  }
  if (depth_ == 2) {
    if (top_key_ == "result" && next_key_ == "isError" && word_ == "true") is_error_ = true;
    next_key_.clear();
  }
  word_.clear();
  expects_key_ = depth_ == 1 || depth_ == 2;
}

}  // namespace glovebox::jail
