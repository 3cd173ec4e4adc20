#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/http_server.h"

namespace glovebox::mcp {

// Keeps web pages out that reach us behind a browser's back: one that had its name resolved to our
// address (Host), and one that simply calls us (Origin). localhost, 127.0.0.1 and [::1] are taken
// with any port; a request without Origin comes from a program, not from a page of somebody else.
class OriginCheck {
 public:
  // A host is "name" (any port) or "name:port"; an origin is what browsers send,
  // "https://app.example.com", or "null". "*" in either list takes all.
  OriginCheck(std::vector<std::string> hosts, std::vector<std::string> origins);

  // Why the request is refused; nothing when it may go on.
  std::optional<std::string> Refuse(const HttpRequest& head) const;

 private:
  bool TakesHost(std::string_view host) const;
  bool TakesOrigin(std::string_view origin) const;

  std::vector<std::string> hosts_;    // in lower case
  std::vector<std::string> origins_;  // in lower case
};

// "name[:port]", as in a Host header and behind an origin's scheme.
struct Authority {
  std::string_view host;  // an IPv6 address with its brackets
  std::string_view port;  // empty: none was given
};
// Nothing for what is no such thing: user names, blanks, a port that is no number.
std::optional<Authority> ParseAuthority(std::string_view text);

}  // namespace glovebox::mcp
