#include "mcp/origin_check.h"

#include <algorithm>
#include <utility>

namespace glovebox::mcp {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
constexpr std::string_view kIpv6Characters = "0123456789abcdefABCDEF:.";

bool ConsistsOf(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& character : lower) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return lower;
}

bool Contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool IsLocal(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

std::optional<Authority> ParseAuthority(std::string_view text) {
  Authority authority;
  std::size_t host_end = 0;
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    if (!ConsistsOf(text.substr(1, bracket - 1), kIpv6Characters)) return std::nullopt;
    host_end = bracket + 1;
  } else {
    host_end = std::min(text.find(':'), text.size());
    if (!ConsistsOf(text.substr(0, host_end), kNameCharacters)) return std::nullopt;
  }
  authority.host = text.substr(0, host_end);
  if (host_end == text.size()) return authority;
  authority.port = text.substr(host_end + 1);
  if (text[host_end] != ':' || authority.port.size() > 5 || !ConsistsOf(authority.port, kDigits)) {
    return std::nullopt;
  }
  return authority;
}

OriginCheck::OriginCheck(std::vector<std::string> hosts, std::vector<std::string> origins)
    : hosts_(std::move(hosts)), origins_(std::move(origins)) {
  for (std::string& host : hosts_) host = ToLower(host);
  for (std::string& origin : origins_) origin = ToLower(origin);
}

std::optional<std::string> OriginCheck::Refuse(const HttpRequest& head) const {
  const auto host = head.Header("host");
  if (!host || head.CountHeader("host") > 1 || !TakesHost(*host)) {
    return "Host \"" + std::string(host.value_or("")) +
           "\" is not one this server goes by; add it to the server names if it should be";
  }
  const auto origin = head.Header("origin");
  if (origin && (head.CountHeader("origin") > 1 || !TakesOrigin(*origin))) {
    return "Origin \"" + std::string(*origin) +
           "\" may not call this server; add it to the allowed origins if it should";
  }
  return std::nullopt;
}

bool OriginCheck::TakesHost(std::string_view host) const {
  const std::string lower = ToLower(host);
  const auto authority = ParseAuthority(lower);
  if (!authority) return false;
  return IsLocal(authority->host) || Contains(hosts_, "*") || Contains(hosts_, authority->host) ||
         Contains(hosts_, lower);
}

bool OriginCheck::TakesOrigin(std::string_view origin) const {
  const std::string lower = ToLower(origin);
  if (Contains(origins_, "*") || Contains(origins_, lower)) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!lower.starts_with(scheme)) continue;
    const auto authority = ParseAuthority(std::string_view(lower).substr(scheme.size()));
    return authority && IsLocal(authority->host);
  }
  return false;
}

}  // namespace glovebox::mcp
