#include "egress/resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace glovebox::egress {
namespace {

constexpr std::size_t kAddressesMax = 16;

Resolution ResolveNow(const std::string& name) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  Resolution resolution;
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found); error != 0) {
    resolution.error = "the name " + name + " cannot be resolved (" + ::gai_strerror(error) + ")";
    return resolution;
  }
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    policy::IpAddress address;
    if (entry->ai_family == AF_INET) {
      const auto* internet = reinterpret_cast<const sockaddr_in*>(entry->ai_addr);
      std::memcpy(address.bytes.data(), &internet->sin_addr, 4);
    } else if (entry->ai_family == AF_INET6) {
      const auto* internet = reinterpret_cast<const sockaddr_in6*>(entry->ai_addr);
      address.v4 = false;
      std::memcpy(address.bytes.data(), &internet->sin6_addr, 16);
    } else {
      continue;
    }
    const auto& known = resolution.addresses;
    if (std::find(known.begin(), known.end(), address) != known.end()) continue;
    resolution.addresses.push_back(address);
    if (resolution.addresses.size() == kAddressesMax) break;
  }
  ::freeaddrinfo(found);
  if (resolution.addresses.empty()) resolution.error = "the name " + name + " has no address";
  return resolution;
}

}  // namespace

boost::asio::awaitable<Resolution> SystemResolver::operator()(std::string name) {
  return boost::asio::co_spawn(
      threads_,
      [name = std::move(name)]() -> boost::asio::awaitable<Resolution> {
        co_return ResolveNow(name);
      },
      boost::asio::use_awaitable);
}

}  // namespace glovebox::egress
