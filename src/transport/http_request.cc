#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <boost/beast/core/string.hpp>

#include "base/text.h"
#include "transport/http_server.h"

namespace glovebox {

std::string_view HttpRequest::path() const {
  std::string_view rest = target;
  // The absolute form, as proxies send it: scheme and authority are not part of the path.
  if (!rest.starts_with('/')) {
    if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
      const std::size_t slash = rest.find_first_of("/?", scheme + 3);
      rest = slash == std::string_view::npos || rest[slash] == '?' ? "/" : rest.substr(slash);
    }
  }
  return rest.substr(0, rest.find('?'));
}

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (boost::beast::iequals(key, name)) return Trim(value);
  }
  return std::nullopt;
}

std::size_t HttpRequest::CountHeader(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(),
      [name](const auto& header) { return boost::beast::iequals(header.first, name); }));
}

}  // namespace glovebox
