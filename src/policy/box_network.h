#pragma once

// What a box with an egress has of a network, derived from its policy: a network namespace with
// nothing but lo, in which the egress proxy listens.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "policy/box_policy.h"
#include "policy/egress_policy.h"

namespace glovebox::policy {

// HTTP, CONNECT and SOCKS5h, at 127.0.0.1 of the box.
inline constexpr std::uint16_t kProxyPort = 3128;
inline constexpr std::size_t kBoxPortsMax = 64;

// A host that programs which know nothing of proxies reach by its name: /etc/hosts of the box gives
// it an address of the box's own loopback, and what is connected to there is meant for the host.
struct DirectHost {
  std::array<std::uint8_t, 4> address;
  std::string name;
};

struct BoxNetwork {
  std::vector<std::uint16_t> ports;  // to listen on, on every address; kProxyPort first
  std::vector<DirectHost> direct;
  std::string hosts;  // lines for the box's /etc/hosts, after those of localhost
  std::vector<std::pair<std::string, std::string>> environment;  // proxy variables, in both cases
};

// Puts what the network has for programs into the box's /etc/hosts and environment.
// Precondition: the policy has an /etc/hosts of its own.
void AddNetwork(const BoxNetwork& network, BoxPolicy& policy);

// Names of rules without a wildcard are direct hosts, at the ports that their rules name.
BoxNetwork PlanBoxNetwork(const EgressPolicy& policy);

}  // namespace glovebox::policy
