#pragma once

// The first message of TLS, as far as it says whom the client wants to speak to.

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/network_host.h"

namespace glovebox::egress {

// More than any client sends; a post-quantum key share is below 2 KB.
inline constexpr std::size_t kHelloBytesMax = 16 * 1024;

struct HelloReading {
  enum class Step : std::uint8_t { kNeedMore, kRefused, kComplete };
  Step step = Step::kNeedMore;
  std::string reason;       // kRefused: a clause, "the TLS greeting names no server"
  std::string server_name;  // kComplete: as sent; empty when it names none
};

// `input`: all that the client has sent. The whole ClientHello must be there, in as many records as
// the client likes. Refused: what is not TLS 1.0 to 1.3, several names, one that is hidden (ECH),
// anything that does not add up.
HelloReading ReadClientHello(std::string_view input);

// Whether the hello names `host` and nobody else: a name by itself, an address by naming nobody
// (TLS has no names for addresses). Otherwise kRefused with the reason.
HelloReading CheckClientHello(std::string_view input, const policy::NetworkHost& host);

}  // namespace glovebox::egress
