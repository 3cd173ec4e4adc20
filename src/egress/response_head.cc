#include "egress/response_head.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace glovebox::egress {
namespace {

std::string NameOf(std::string_view line) {
  std::string name(line.substr(0, line.find(':')));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name;
}

bool IsDropped(const std::string& name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" ||
         name == "upgrade";
}

std::optional<std::uint64_t> LengthOf(std::string_view line) {
  const std::string_view value = Trim(line.substr(line.find(':') + 1));
  std::uint64_t length = 0;
  const auto end = std::from_chars(value.data(), value.data() + value.size(), length);
  if (end.ec != std::errc() || end.ptr != value.data() + value.size()) return std::nullopt;
  return length;
}

// 100 to 599, or 0.
int StatusOf(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return 0;
  int status = 0;
  const auto end = std::from_chars(line.data() + 9, line.data() + 12, status);
  return end.ptr == line.data() + 12 && status >= 100 && status < 600 ? status : 0;
}

}  // namespace

ResponseHead ReadResponseHead(std::string_view input, bool without_body) {
  ResponseHead head;
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    constexpr std::string_view kStart = "HTTP/1.";
    const bool possible = input.substr(0, kStart.size()) == kStart.substr(0, input.size());
    if (input.size() > kResponseHeadBytesMax || !possible) head.step = ResponseHead::Step::kRefused;
    return head;
  }
  std::string_view rest = input.substr(0, end + 2);
  const std::size_t line_end = rest.find("\r\n");
  const int status = StatusOf(rest.substr(0, line_end));
  if (status == 0 || status == 101) {  // nothing asked for another protocol
    head.step = ResponseHead::Step::kRefused;
    return head;
  }
  head.step = ResponseHead::Step::kComplete;
  head.bytes = end + 4;
  head.interim = status < 200;
  head.text = std::string(rest.substr(0, line_end)) + "\r\n";
  rest.remove_prefix(line_end + 2);
  bool dropping = false;
  bool coded = false;
  std::size_t lengths = 0;
  while (!rest.empty()) {
    const std::size_t at = rest.find("\r\n");
    const std::string_view line = rest.substr(0, at);
    rest.remove_prefix(at + 2);
    const bool folded = line.starts_with(' ') || line.starts_with('\t');
    if (!folded) {
      const std::string name = NameOf(line);
      dropping = IsDropped(name);
      coded = coded || name == "transfer-encoding";
      if (name == "content-length") {
        ++lengths;
        head.body_bytes = LengthOf(line);
      }
    }
    if (!dropping) head.text.append(line).append("\r\n");
  }
  // Where a server says two things about the length, its end decides.
  if (coded || lengths != 1) head.body_bytes.reset();
  if (without_body || head.interim || status == 204 || status == 304) head.body_bytes = 0;
  if (!head.interim) head.text += "Connection: close\r\n";
  head.text += "\r\n";
  return head;
}

}  // namespace glovebox::egress
