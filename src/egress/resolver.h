#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>

#include "policy/network_host.h"

namespace glovebox::egress {

struct Resolution {
  std::vector<policy::IpAddress> addresses;
  std::string error;  // a clause, when there is no address
};

// Asked once per connection, for a name that the policy allows.
using Resolve = std::function<boost::asio::awaitable<Resolution>(std::string name)>;

// The C library's resolver, which blocks, on threads of its own.
class SystemResolver {
 public:
  boost::asio::awaitable<Resolution> operator()(std::string name);

 private:
  boost::asio::thread_pool threads_{4};
};

}  // namespace glovebox::egress
