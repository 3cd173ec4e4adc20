#include "egress/client_hello.h"

#include <algorithm>
#include <optional>

namespace glovebox::egress {
namespace {

constexpr std::uint8_t kRecordHandshake = 22;
constexpr std::uint8_t kMessageClientHello = 1;
constexpr std::size_t kRecordMax = 16 * 1024;
constexpr std::uint16_t kExtensionServerName = 0;
constexpr std::uint16_t kExtensionEncryptedHello = 0xfe0d;
constexpr std::uint16_t kExtensionEncryptedName = 0xffce;  // its predecessor, ESNI

HelloReading Refused(std::string reason) {
  return {HelloReading::Step::kRefused, std::move(reason), {}};
}

// Numbers and vectors in network order. Once something does not fit, everything is empty.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  std::uint32_t Number(std::size_t bytes) {
    std::uint32_t value = 0;
    for (const char c : Bytes(bytes)) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
  }
  std::string_view Bytes(std::size_t count) {
    if (rest_.size() < count) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  // A vector with a length of `prefix` bytes before it.
  std::string_view Vector(std::size_t prefix) { return Bytes(Number(prefix)); }

  bool ok() const { return ok_; }
  bool finished() const { return ok_ && rest_.empty(); }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The handshake bytes of the records at the start of `input`, as far as they are there.
struct Handshake {
  std::string bytes;
  std::string reason;  // it cannot be TLS
};

Handshake Unpack(std::string_view input) {
  Handshake out;
  while (!input.empty()) {
    if (static_cast<std::uint8_t>(input[0]) != kRecordHandshake) {
      out.reason = "what was sent is not TLS";
      return out;
    }
    if (input.size() > 1 && input[1] != 3) {
      out.reason = "what was sent is not TLS 1.0 to 1.3";
      return out;
    }
    if (input.size() < 5) return out;
    Cursor cursor(input.substr(3));
    const std::size_t length = cursor.Number(2);
    if (length == 0 || length > kRecordMax) {
      out.reason = "a TLS record of a length that none has";
      return out;
    }
    out.bytes.append(input.substr(5, length));
    input.remove_prefix(std::min(input.size(), 5 + length));
  }
  return out;
}

// server_name: a list of exactly one host_name.
std::optional<std::string> ReadServerName(std::string_view data) {
  Cursor outer(data);
  Cursor list(outer.Vector(2));
  const std::uint32_t type = list.Number(1);
  const std::string_view name = list.Vector(2);
  if (!outer.finished() || !list.finished() || type != 0 || name.empty()) return std::nullopt;
  return std::string(name);
}

HelloReading ReadExtensions(std::string_view extensions) {
  HelloReading reading;
  reading.step = HelloReading::Step::kComplete;
  bool named = false;
  Cursor cursor(extensions);
  while (cursor.ok() && !cursor.empty()) {
    const std::uint32_t type = cursor.Number(2);
    const std::string_view data = cursor.Vector(2);
    if (!cursor.ok()) break;
    if (type == kExtensionEncryptedHello || type == kExtensionEncryptedName) {
      return Refused("the TLS greeting hides the server's name (ECH), so it cannot be judged");
    }
    if (type != kExtensionServerName) continue;
    if (named) return Refused("the TLS greeting names its server twice");
    named = true;
    auto name = ReadServerName(data);
    if (!name) return Refused("the TLS greeting's server name is malformed");
    reading.server_name = std::move(*name);
  }
  if (!cursor.finished()) return Refused("the TLS greeting's extensions do not add up");
  return reading;
}

HelloReading ReadHelloBody(std::string_view body) {
  Cursor cursor(body);
  cursor.Number(2);  // the version is said again, and truly, in an extension
  cursor.Bytes(32);
  const std::string_view session = cursor.Vector(1);
  const std::string_view ciphers = cursor.Vector(2);
  const std::string_view compressions = cursor.Vector(1);
  if (!cursor.ok() || session.size() > 32 || ciphers.empty() || ciphers.size() % 2 != 0 ||
      compressions.empty()) {
    return Refused("the TLS greeting does not add up");
  }
  if (cursor.empty()) return {HelloReading::Step::kComplete, {}, {}};  // older than extensions
  const std::string_view extensions = cursor.Vector(2);
  if (!cursor.finished()) return Refused("the TLS greeting does not add up");
  return ReadExtensions(extensions);
}

}  // namespace

HelloReading ReadClientHello(std::string_view input) {
  const Handshake handshake = Unpack(input);
  if (!handshake.reason.empty()) return Refused(handshake.reason);
  const bool too_long = input.size() > kHelloBytesMax;
  if (handshake.bytes.size() >= 1 &&
      static_cast<std::uint8_t>(handshake.bytes[0]) != kMessageClientHello) {
    return Refused("TLS does not start with a ClientHello");
  }
  if (handshake.bytes.size() < 4)
    return too_long ? Refused("a TLS greeting of more than 16 KB") : HelloReading{};
  Cursor cursor(handshake.bytes);
  cursor.Number(1);
  const std::size_t length = cursor.Number(3);
  if (length > kHelloBytesMax) return Refused("a TLS greeting of more than 16 KB");
  if (handshake.bytes.size() < 4 + length) {
    return too_long ? Refused("a TLS greeting of more than 16 KB") : HelloReading{};
  }
  return ReadHelloBody(std::string_view(handshake.bytes).substr(4, length));
}

HelloReading CheckClientHello(std::string_view input, const policy::NetworkHost& host) {
  HelloReading reading = ReadClientHello(input);
  if (reading.step != HelloReading::Step::kComplete) return reading;
  const std::string& name = reading.server_name;
  if (name.empty()) {
    if (host.address) return reading;
    return Refused("the TLS greeting names no server (SNI), where " + host.name + " was expected");
  }
  const auto named = policy::NetworkHost::Parse(name);
  if (host.address || !named || named->name != host.name || name.ends_with('.')) {
    return Refused("the TLS greeting names another server (SNI) than " + host.Text());
  }
  return reading;
}

}  // namespace glovebox::egress
