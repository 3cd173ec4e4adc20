#include "egress/request_head.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "policy/egress_policy.h"

namespace glovebox::egress {
namespace {

using policy::NetworkHost;

constexpr std::size_t kMethodMax = 32;
constexpr std::size_t kLengthDigitsMax = 15;  // a petabyte

bool IsToken(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string Lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Everything read so far, and the first thing that is wrong.
class Reading {
 public:
  explicit Reading(std::string_view lines) : rest_(lines) {}

  std::optional<std::string_view> Line() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = rest_.find("\r\n");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    return line;
  }
  bool Refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return false;
  }
  const std::string& reason() const { return reason_; }

 private:
  std::string_view rest_;
  std::string reason_;
};

struct Authority {
  NetworkHost host;
  std::optional<std::uint16_t> port;
};

std::optional<Authority> ReadAuthority(std::string_view text, const char* where, Reading& reading) {
  const auto refuse = [&](const std::string& why) {
    reading.Refuse(std::string(where) + ": " + why);
    return std::nullopt;
  };
  if (text.find('@') != std::string_view::npos) return refuse("it holds a user name");
  std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (bracket != std::string_view::npos && colon != std::string_view::npos && colon < bracket) {
    colon = std::string_view::npos;
  }
  Authority authority;
  if (colon != std::string_view::npos) {
    authority.port = policy::ParsePort(text.substr(colon + 1));
    if (!authority.port) return refuse("its port is not a number from 1 to 65535");
  }
  auto host = NetworkHost::Parse(text.substr(0, colon));
  if (!host) return refuse(host.error().message());
  authority.host = std::move(*host);
  return authority;
}

bool ReadPath(std::string_view target, RequestHead& head, Reading& reading) {
  if (target.find_first_of("#\\") != std::string_view::npos) {
    return reading.Refuse("the target holds '#' or a backslash");
  }
  const std::size_t question = target.find('?');
  head.path = target.substr(0, question);
  if (question != std::string_view::npos) head.query = target.substr(question);
  if (head.path.empty()) head.path = "/";
  if (head.path.front() != '/') return reading.Refuse("the path does not start with '/'");
  return true;
}

bool ReadAbsoluteTarget(std::string_view target, RequestHead& head, Reading& reading) {
  const std::string start = Lowered(target.substr(0, 8));
  if (start.starts_with("https://")) {
    return reading.Refuse("https goes through CONNECT, not through a request to the proxy");
  }
  if (!start.starts_with("http://")) {
    return reading.Refuse("the target is not http://HOST/..., as a proxy's requests have it");
  }
  target.remove_prefix(7);
  const std::size_t end = target.find_first_of("/?#\\");
  auto authority = ReadAuthority(target.substr(0, end), "the target", reading);
  if (!authority) return false;
  head.host = std::move(authority->host);
  head.port = authority->port.value_or(policy::kHttpPort);
  return ReadPath(end == std::string_view::npos ? "" : target.substr(end), head, reading);
}

bool ReadTunnelTarget(std::string_view target, RequestHead& head, Reading& reading) {
  auto authority = ReadAuthority(target, "the target of CONNECT", reading);
  if (!authority) return false;
  if (!authority->port) return reading.Refuse("the target of CONNECT has no port");
  head.host = std::move(authority->host);
  head.port = *authority->port;
  return true;
}

bool ReadRequestLine(std::string_view line, bool origin_form, RequestHead& head, Reading& reading) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return reading.Refuse("the request line is not METHOD TARGET HTTP/1.1");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  const auto is_method = [](char c) { return (c >= 'A' && c <= 'Z') || c == '-' || c == '_'; };
  if (method.empty() || method.size() > kMethodMax ||
      !std::all_of(method.begin(), method.end(), is_method)) {
    return reading.Refuse("the method is not an upper-case word");
  }
  if (method == "TRACE") return reading.Refuse("TRACE is not forwarded");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return reading.Refuse("the version is neither HTTP/1.1 nor HTTP/1.0");
  }
  head.minor_version = version.back() - '0';
  const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_visible)) {
    return reading.Refuse("the target holds a character that is not visible ASCII");
  }
  head.method = method;
  if (origin_form) {
    if (method == "CONNECT") return reading.Refuse("a CONNECT inside a tunnel");
    if (target.front() != '/') return reading.Refuse("the target is not a path");
    return ReadPath(target, head, reading);
  }
  return method == "CONNECT" ? ReadTunnelTarget(target, head, reading)
                             : ReadAbsoluteTarget(target, head, reading);
}

bool ReadLength(std::string_view value, RequestHead& head, Reading& reading) {
  if (head.body == BodyKind::kLength) return reading.Refuse("two Content-Length headers");
  if (head.body == BodyKind::kChunked) {
    return reading.Refuse("both Content-Length and Transfer-Encoding");
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (value.empty() || value.size() > kLengthDigitsMax ||
      !std::all_of(value.begin(), value.end(), is_digit)) {
    return reading.Refuse("Content-Length is not a number");
  }
  head.body = BodyKind::kLength;
  head.length = 0;
  for (const char c : value) head.length = head.length * 10 + static_cast<std::uint64_t>(c - '0');
  return true;
}

bool ReadCoding(std::string_view value, RequestHead& head, Reading& reading) {
  if (head.body == BodyKind::kChunked) return reading.Refuse("two Transfer-Encoding headers");
  if (head.body == BodyKind::kLength) {
    return reading.Refuse("both Content-Length and Transfer-Encoding");
  }
  if (head.minor_version == 0) return reading.Refuse("Transfer-Encoding in HTTP/1.0");
  if (Lowered(value) != "chunked") return reading.Refuse("a Transfer-Encoding other than chunked");
  head.body = BodyKind::kChunked;
  return true;
}

bool IsHopByHop(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "connection", "proxy-connection", "keep-alive", "proxy-authorization", "proxy-authenticate",
      "te",         "trailer",          "upgrade",    "http2-settings"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// What the head says besides what is kept of it.
struct Side {
  std::optional<Authority> host;
  std::vector<std::string> named_by_connection;
};

bool ReadHeader(std::string_view line, RequestHead& head, Side& side, Reading& reading) {
  if (line.front() == ' ' || line.front() == '\t') return reading.Refuse("a folded header line");
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), IsToken)) {
    return reading.Refuse("a header line without a proper name");
  }
  const std::string_view value = Trim(line.substr(colon + 1));
  const std::string key = Lowered(name);
  if (key == "host") {
    if (side.host) return reading.Refuse("two Host headers");
    side.host = ReadAuthority(value, "the Host header", reading);
    return side.host.has_value();
  }
  if (key == "content-length" && !ReadLength(value, head, reading)) return false;
  if (key == "transfer-encoding" && !ReadCoding(value, head, reading)) return false;
  if (key == "connection") {
    for (const std::string_view part : Split(value, ',')) {
      side.named_by_connection.push_back(Lowered(Trim(part)));
    }
  }
  if (!IsHopByHop(key)) head.headers.emplace_back(name, value);
  return true;
}

bool ReadHeaders(RequestHead& head, Side& side, Reading& reading) {
  std::size_t count = 0;
  while (const auto line = reading.Line()) {
    if (++count > kHeadersMax) return reading.Refuse("more than 100 headers");
    if (!ReadHeader(*line, head, side, reading)) return false;
  }
  for (const std::string& name : side.named_by_connection) {
    if (name == "host" || name == "content-length" || name == "transfer-encoding") {
      return reading.Refuse("Connection names a header that says where the request ends or goes");
    }
    std::erase_if(head.headers, [&](const auto& header) { return Lowered(header.first) == name; });
  }
  return true;
}

bool CheckHost(const RequestHead& head, const Side& side, Reading& reading) {
  if (!side.host) {
    return head.minor_version == 0 || reading.Refuse("an HTTP/1.1 request without a Host header");
  }
  const bool tunnel = head.method == "CONNECT";
  const std::uint16_t implied = tunnel ? head.port : policy::kHttpPort;
  if (side.host->host == head.host && side.host->port.value_or(implied) == head.port) return true;
  return reading.Refuse("the Host header names another host than the target");
}

// Bytes that some reader takes for the end of a line or of a text.
bool HoldsControl(std::string_view lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char c = lines[i];
    if (c == '\r' && i + 1 < lines.size() && lines[i + 1] == '\n') {
      ++i;
      continue;
    }
    if ((static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f) return true;
  }
  return false;
}

HeadReading Refused(std::string reason) {
  HeadReading reading;
  reading.step = HeadReading::Step::kRefused;
  reading.reason = std::move(reason);
  return reading;
}

HeadReading ReadHead(std::string_view input, const NetworkHost* host, std::uint16_t port) {
  // Before the end is there: a bad start need not be waited for.
  const std::size_t end = input.find("\r\n\r\n");
  const std::string_view known = input.substr(0, end);
  if (end == std::string_view::npos ? input.size() > kHeadBytesMax : end > kHeadBytesMax) {
    return Refused("a head of more than 16 KB");
  }
  const bool cut = end == std::string_view::npos && known.ends_with('\r');
  if (HoldsControl(cut ? known.substr(0, known.size() - 1) : known)) {
    return Refused("a control character, or a line end that is not CR LF");
  }
  if (end == std::string_view::npos) return {};
  Reading reading(input.substr(0, end + 2));
  HeadReading out;
  out.bytes = end + 4;
  Side side;
  if (host != nullptr) {
    out.head.host = *host;
    out.head.port = port;
  }
  const bool good = ReadRequestLine(*reading.Line(), host != nullptr, out.head, reading) &&
                    ReadHeaders(out.head, side, reading) && CheckHost(out.head, side, reading);
  if (!good) return Refused(reading.reason());
  if (out.head.method == "CONNECT" && out.head.body != BodyKind::kNone) {
    return Refused("a CONNECT with a body");
  }
  out.step = HeadReading::Step::kComplete;
  return out;
}

}  // namespace

HeadReading ReadProxyHead(std::string_view input) { return ReadHead(input, nullptr, 0); }

HeadReading ReadOriginHead(std::string_view input, const NetworkHost& host, std::uint16_t port) {
  return ReadHead(input, &host, port);
}

std::string WriteHead(const RequestHead& head) {
  std::string out = head.method + " " + head.path + head.query + " HTTP/1." +
                    std::to_string(head.minor_version) + "\r\nHost: " + head.host.Text();
  if (head.port != policy::kHttpPort) out += ":" + std::to_string(head.port);
  out += "\r\n";
  for (const auto& [name, value] : head.headers) out += name + ": " + value + "\r\n";
  return out + "Connection: close\r\n\r\n";
}

}  // namespace glovebox::egress
