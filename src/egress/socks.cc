#include "egress/socks.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace glovebox::egress {
namespace {

constexpr std::uint8_t kVersion = 5;
constexpr std::uint8_t kNoAuthentication = 0;
constexpr std::uint8_t kConnect = 1;
constexpr std::uint8_t kTypeV4 = 1;
constexpr std::uint8_t kTypeName = 3;
constexpr std::uint8_t kTypeV6 = 4;

std::uint8_t ByteAt(std::string_view input, std::size_t at) {
  return static_cast<std::uint8_t>(input[at]);
}

SocksRequest Refused(SocksReply reply, std::string reason) {
  SocksRequest request;
  request.step = SocksStep::kRefused;
  request.reply = reply;
  request.reason = std::move(reason);
  return request;
}

// What can be asked for by number is asked for in the same words as by text.
Result<policy::NetworkHost> HostOf(std::string_view bytes, bool v4) {
  policy::IpAddress address;
  address.v4 = v4;
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  if (!(policy::Unwrapped(address) == address)) {
    return Error(Errc::kInvalidArgument, "an IPv6 address that is a spelling of an IPv4 one");
  }
  return policy::NetworkHost::Of(address);
}

}  // namespace

SocksGreeting ReadSocksGreeting(std::string_view input) {
  SocksGreeting greeting;
  if (input.size() < 2) return greeting;
  const std::size_t methods = ByteAt(input, 1);
  if (ByteAt(input, 0) != kVersion || methods == 0) {
    return {SocksStep::kRefused, 0, "a greeting that is not SOCKS5"};
  }
  if (input.size() < 2 + methods) return greeting;
  const std::string_view offered = input.substr(2, methods);
  if (offered.find(static_cast<char>(kNoAuthentication)) == std::string_view::npos) {
    return {SocksStep::kRefused, 0, "a SOCKS5 client that insists on authentication"};
  }
  return {SocksStep::kComplete, 2 + methods, {}};
}

SocksRequest ReadSocksRequest(std::string_view input) {
  SocksRequest request;
  if (input.size() < 4) return request;
  if (ByteAt(input, 0) != kVersion || ByteAt(input, 2) != 0) {
    return Refused(SocksReply::kFailure, "a request that is not SOCKS5");
  }
  const std::uint8_t type = ByteAt(input, 3);
  if (type != kTypeV4 && type != kTypeName && type != kTypeV6) {
    return Refused(SocksReply::kAddressUnknown, "an unknown type of SOCKS5 address");
  }
  if (type == kTypeName && input.size() < 5) return request;
  const std::size_t start = type == kTypeName ? 5 : 4;
  std::size_t length = type == kTypeV4 ? 4 : 16;
  if (type == kTypeName) length = ByteAt(input, 4);
  if (input.size() < start + length + 2) return request;
  const std::string_view bytes = input.substr(start, length);
  auto host =
      type == kTypeName ? policy::NetworkHost::Parse(bytes) : HostOf(bytes, type == kTypeV4);
  if (ByteAt(input, 1) != kConnect) {
    request = Refused(SocksReply::kCommandUnknown, "a SOCKS5 command other than CONNECT");
  } else if (!host) {
    request = Refused(SocksReply::kNotAllowed, host.error().message());
  } else if (type == kTypeName && host->address && !host->address->v4) {
    // Brackets belong to text in which a port could follow.
    request = Refused(SocksReply::kNotAllowed, "an address in brackets where a name stands");
  }
  const auto port = static_cast<std::uint16_t>(ByteAt(input, start + length) << 8 |
                                               ByteAt(input, start + length + 1));
  if (request.step != SocksStep::kRefused && port == 0) {
    request = Refused(SocksReply::kNotAllowed, "port 0");
  }
  request.port = port;
  if (request.step == SocksStep::kRefused) {
    request.sent_host = type == kTypeName ? std::string(bytes) : std::string();
    return request;
  }
  request.step = SocksStep::kComplete;
  request.bytes = start + length + 2;
  request.host = std::move(*host);
  return request;
}

std::string WriteSocksReply(SocksReply reply) {
  // Which address we dialled from is nobody's business in the box: 0.0.0.0:0.
  std::string out(10, '\0');
  out[0] = static_cast<char>(kVersion);
  out[1] = static_cast<char>(reply);
  out[3] = static_cast<char>(kTypeV4);
  return out;
}

}  // namespace glovebox::egress
