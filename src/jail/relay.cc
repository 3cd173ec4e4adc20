#include "jail/relay.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/utf8.h"

namespace glovebox::jail {

std::string JsonText(std::string_view text) {
  std::string out;
  for (const char c : ToUtf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      out += code.data();
    } else {
      out += c;
    }
  }
  return out;
}

void Relay::FromClient(std::string_view bytes) {
  to_server += bytes;
  if (speech_ == Speech::kPlain) return;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    client_line_.Feed(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    EndClientLine();
    bytes.remove_prefix(end + 1);
  }
}

void Relay::EndClientLine() {
  const MessageScanner line = std::exchange(client_line_, MessageScanner());
  if (line.blank()) return;
  if (speech_ == Speech::kUnknown) {
    if (!line.is_message()) return DecidePlain();
    speech_ = Speech::kMcp;
    FromServer(std::exchange(held_, {}));
  }
  if (line.id().empty() || line.method().empty() || pending_.size() >= kPendingMax) return;
  pending_[line.id()] = {line.method() == "tools/call", Clock::now()};
}

void Relay::DecidePlain() {
  if (speech_ != Speech::kUnknown) return;
  speech_ = Speech::kPlain;
  to_client += std::exchange(held_, {});
}

void Relay::FromServer(std::string_view bytes) {
  switch (speech_) {
    case Speech::kUnknown: held_ += bytes; return;
    case Speech::kPlain: to_client += bytes; return;
    case Speech::kMcp: break;
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    ServerLinePart(bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1));
    if (end == std::string_view::npos) return;
    EndServerLine();
    bytes.remove_prefix(end + 1);
  }
}

// `part` ends with the line, if it ends.
void Relay::ServerLinePart(std::string_view part) {
  server_line_.Feed(part);
  line_bytes_ += part.size();
  if (pass_ == Pass::kHeld) {
    line_ += part;
    if (line_.size() <= options_.hold_bytes_max) return;
    // Too long to wait for its end: it begins like a message, or it does not.
    const std::size_t first = line_.find_first_not_of(" \t");
    const bool message = line_[first] == '{' || line_[first] == '[';
    pass_ = message ? Pass::kClient : Pass::kStderr;
    (message ? to_client : to_stderr) += std::exchange(line_, {});
  } else if (pass_ == Pass::kClient) {
    to_client += part;
  } else if (pass_ == Pass::kStderr) {
    to_stderr += part;
  }
  if (pass_ == Pass::kClient && line_bytes_ > options_.message_bytes_max) {
    pass_ = Pass::kDropped;
    to_client += "\n";  // a line that no client can read, and the end of it
  }
}

void Relay::EndServerLine() {
  const MessageScanner line = std::exchange(server_line_, MessageScanner());
  const Pass pass = std::exchange(pass_, Pass::kHeld);
  line_bytes_ = 0;
  const auto found = line.method().empty() ? pending_.find(line.id()) : pending_.end();
  if (pass == Pass::kDropped) {
    if (found == pending_.end()) return;
    to_client += R"({"jsonrpc":"2.0","id":)" + line.id() +
                 R"(,"error":{"code":-32000,"message":"glovebox: the answer is longer than )" +
                 std::to_string(options_.message_bytes_max) + " bytes and was dropped\"}}\n";
  } else if (pass == Pass::kHeld) {
    if (!line.is_message() && !line.blank()) {
      to_stderr += std::exchange(line_, {});
      return;
    }
    if (found != pending_.end() && found->second.tool_call && line.failed() && options_.reasons) {
      if (const std::string reasons = Reasons(found->second); !reasons.empty()) {
        if (line.content_end()) {
          const std::string item = std::string(line.content_empty() ? "" : ",") +
                                   R"({"type":"text","text":")" + reasons + "\"}";
          line_.insert(*line.content_end(), item);
        } else if (line.error_message_end()) {
          line_.insert(*line.error_message_end(), "\\n" + reasons);
        }
      }
    }
    to_client += std::exchange(line_, {});
  }
  if (found != pending_.end()) {
    answered_ = true;
    pending_.erase(found);
  }
}

std::string Relay::Reasons(const Pending& pending) const {
  std::string text;
  for (const std::string& reason : reasons_(pending.since)) {
    text += (text.empty() ? "" : "\n") + ("Refused by the jail: " + reason);
  }
  return JsonText(text);
}

void Relay::ServerClosed() {
  DecidePlain();
  if (line_.empty()) return;
  // The last line lacks its end; a message is one all the same.
  if (server_line_.is_message()) {
    line_ += "\n";
    EndServerLine();
  } else {
    to_stderr += std::exchange(line_, {});
  }
}

void Relay::AnswerForDead(const std::string& reason) {
  if (!speaks_mcp()) return;
  for (const auto& [id, pending] : pending_) {
    to_client += R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32000,"message":")" +
                 JsonText(reason) + "\"}}\n";
  }
  pending_.clear();
}

}  // namespace glovebox::jail
