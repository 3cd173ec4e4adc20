#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace glovebox {

// Where an HTTP server is: the parts of an http:// URL.
struct HttpUrl {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = 80;
  std::string target = "/";  // path and query

  // As the Host header has it: brackets around an IPv6 address, no port when it is 80.
  std::string authority() const;
};

// kInvalidArgument says what is wrong with the text. Refused: https and every other scheme (there
// is no TLS here), user names and passwords, fragments, blanks, control and non-ASCII characters.
Result<HttpUrl> ParseHttpUrl(std::string_view text);

}  // namespace glovebox
