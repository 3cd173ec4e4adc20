#include "transport/http_url.h"

#include <algorithm>
#include <charconv>

namespace glovebox {
namespace {

Error Bad(std::string_view why) {
  return Error(Errc::kInvalidArgument, "the URL " + std::string(why));
}

Result<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return Bad("must have a port from 1 to 65535");
  }
  return port;
}

}  // namespace

std::string HttpUrl::authority() const {
  std::string text = host.find(':') == std::string::npos ? host : '[' + host + ']';
  if (port != 80) text += ':' + std::to_string(port);
  return text;
}

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  constexpr std::size_t kBytesMax = 8192;
  if (text.starts_with("https://")) {
    return Bad("is https, and this client speaks plain http only: put a TLS proxy before it");
  }
  if (!text.starts_with(kScheme)) return Bad("must begin with http://");
  if (text.size() > kBytesMax) return Bad("must have 8192 bytes at most");
  const auto is_plain = [](char byte) { return byte > ' ' && byte < '\x7f'; };
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    return Bad("must hold visible ASCII characters only: escape others with %");
  }
  if (text.find('#') != std::string_view::npos) return Bad("must have no fragment (#)");
  text.remove_prefix(kScheme.size());

  const std::size_t target = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, target);
  if (authority.find('@') != std::string_view::npos) {
    return Bad("must not carry a user name: pass a bearer token instead");
  }
  HttpUrl url;
  url.target = text.substr(target);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");

  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return Bad("has a [ without a ]");
    url.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
    if (!port.empty() && !port.starts_with(':')) return Bad("must have a port or a / after ]");
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return Bad("must name a host");
  if (!port.empty()) url.port = TRY(ParsePort(port.substr(1)));
  return url;
}

}  // namespace glovebox
