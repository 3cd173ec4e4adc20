#pragma once

// SOCKS5 (RFC 1928) as a client speaks it: no authentication, CONNECT alone, hosts by name or by
// address.

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/network_host.h"

namespace glovebox::egress {

inline constexpr std::size_t kSocksBytesMax = 512;  // more than either message can have

enum class SocksStep : std::uint8_t { kNeedMore, kRefused, kComplete };

// The last byte of an answer.
enum class SocksReply : std::uint8_t {
  kDone = 0,
  kFailure = 1,
  kNotAllowed = 2,
  kHostUnreachable = 4,
  kCommandUnknown = 7,
  kAddressUnknown = 8,
};

struct SocksGreeting {
  SocksStep step = SocksStep::kNeedMore;
  std::size_t bytes = 0;
  std::string reason;  // kRefused
};
// kRefused when the client does not offer "no authentication".
SocksGreeting ReadSocksGreeting(std::string_view input);

struct SocksRequest {
  SocksStep step = SocksStep::kNeedMore;
  std::size_t bytes = 0;
  std::string reason;  // kRefused
  SocksReply reply = SocksReply::kFailure;
  policy::NetworkHost host;
  std::uint16_t port = 0;
  std::string sent_host;  // kRefused: what it asked for, as far as it can be shown
};
SocksRequest ReadSocksRequest(std::string_view input);

std::string WriteSocksReply(SocksReply reply);

}  // namespace glovebox::egress
