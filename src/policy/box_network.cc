#include "policy/box_network.h"

#include <algorithm>

namespace glovebox::policy {
namespace {

std::string AddressText(const std::array<std::uint8_t, 4>& address) {
  IpAddress ip;
  std::copy(address.begin(), address.end(), ip.bytes.begin());
  return ip.Text();
}

// What the box calls itself.
bool IsOwnName(const std::string& name) { return name == "localhost" || name == "box"; }

void AddPort(BoxNetwork& network, std::uint16_t port) {
  if (network.ports.size() >= kBoxPortsMax) return;  // still reached through the proxy's port
  if (std::find(network.ports.begin(), network.ports.end(), port) != network.ports.end()) return;
  network.ports.push_back(port);
}

void AddHost(BoxNetwork& network, const std::string& name) {
  const auto known = [&](const DirectHost& host) { return host.name == name; };
  if (std::any_of(network.direct.begin(), network.direct.end(), known)) return;
  const std::size_t index = network.direct.size();
  network.direct.push_back(
      {{127, 7, static_cast<std::uint8_t>(index / 250), static_cast<std::uint8_t>(index % 250 + 1)},
       name});
  network.hosts += AddressText(network.direct.back().address) + " " + name + "\n";
}

}  // namespace

void AddNetwork(const BoxNetwork& network, BoxPolicy& policy) {
  for (RootItem& item : policy.root) {
    if (item.kind == RootItemKind::kFile && item.path == "/etc/hosts") item.text += network.hosts;
  }
  policy.environment.insert(policy.environment.end(), network.environment.begin(),
                            network.environment.end());
}

BoxNetwork PlanBoxNetwork(const EgressPolicy& policy) {
  BoxNetwork network;
  network.ports.push_back(kProxyPort);
  for (const EgressRule& rule : policy.rules) {
    if (rule.below || rule.host.address || IsOwnName(rule.host.name)) continue;
    AddHost(network, rule.host.name);
    std::vector<std::uint16_t> ports = rule.ports;
    if (ports.empty()) ports = {kHttpPort, kTlsPort};
    for (const std::uint16_t port : ports) AddPort(network, port);
  }
  const std::string proxy = "http://127.0.0.1:" + std::to_string(kProxyPort);
  for (const char* name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
    network.environment.emplace_back(name, proxy);
  }
  network.environment.emplace_back("no_proxy", "");
  network.environment.emplace_back("NO_PROXY", "");
  return network;
}

}  // namespace glovebox::policy
