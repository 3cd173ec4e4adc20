#pragma once

// The head of an HTTP/1 request as a proxy gets it. One reading or none: what another reader of the
// same bytes could understand differently is refused, so that nothing can be smuggled past us.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/network_host.h"

namespace glovebox::egress {

inline constexpr std::size_t kHeadBytesMax = 16 * 1024;
inline constexpr std::size_t kHeadersMax = 100;

enum class BodyKind : std::uint8_t { kNone, kLength, kChunked };

struct RequestHead {
  std::string method;  // "CONNECT" for a tunnel
  policy::NetworkHost host;
  std::uint16_t port = 0;
  std::string path;   // as sent, from '/' on; empty for a tunnel
  std::string query;  // with its '?'
  int minor_version = 1;
  std::vector<std::pair<std::string, std::string>> headers;  // without Host and hop-by-hop ones
  BodyKind body = BodyKind::kNone;
  std::uint64_t length = 0;  // kLength
};

struct HeadReading {
  enum class Step : std::uint8_t { kNeedMore, kRefused, kComplete };
  Step step = Step::kNeedMore;
  std::string reason;     // kRefused: a clause, "the request has two Host headers"
  std::size_t bytes = 0;  // kComplete: how much of the input is the head
  RequestHead head;
};

// A request in absolute form (GET http://host/path) or a CONNECT. `input` is all that has come; it
// may hold more than a head.
HeadReading ReadProxyHead(std::string_view input);

// A request in origin form (GET /path), as it comes where the host is known already; its Host
// header must name it.
HeadReading ReadOriginHead(std::string_view input, const policy::NetworkHost& host,
                           std::uint16_t port);

// The head as it is sent onwards: origin form, the Host that was judged, one request per
// connection.
std::string WriteHead(const RequestHead& head);

}  // namespace glovebox::egress
