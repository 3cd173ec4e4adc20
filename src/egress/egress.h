#pragma once

// The server's side of a way out. Theory of operation:
//
//   box (own network namespace: lo only)      proxy (host's network, jailed)         outside
//   program --> 127.0.0.1:3128 ------------>  judges, resolves once, dials  -------> allowed host
//   program --> name in /etc/hosts -------->  the same, for that name
//   program --> anything else: no route
//
// Whoever makes a box gives it a network of its own (SpawnRequest::listener_ports, or BoxPlan's
// NetworkPlan), with the ports, hosts lines and environment of policy::PlanBoxNetwork(). The
// listeners come back (sandbox::ReceiveListeners) and are handed to a proxy here: one proxy per
// box, a process of its own, which has no other way in.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "egress/messages.h"
#include "event/event.h"
#include "policy/egress_policy.h"
#include "sandbox/parent/spawn.h"
#include "sandbox/plan/host_mode.h"

namespace glovebox::egress {

struct ProxyOptions {
  std::string program;  // glovebox-egress
  policy::EgressPolicy policy;
  std::vector<UniqueFd> listeners;  // in the order of BoxNetwork::ports
  sandbox::HostMode mode;           // how this host holds boxes; needs namespaces
  uid_t uid = 0;  // where mode.own_uids(): the first of two host uids that are the proxy's alone
  // What its resolver knows of the host.
  std::string hosts_file = "/etc/hosts";
  std::string resolver_file = "/etc/resolv.conf";
};

// A running proxy. Killed and reaped by the destructor; it also dies with the thread that started
// it. Not tied to a loop: wait for reports_fd() to be readable, then Take().
class Proxy {
 public:
  // Returns when it has been exec'd; connections made meanwhile wait in its listeners. kUnsupported
  // where the host has no namespaces for it.
  static Result<std::unique_ptr<Proxy>> Start(ProxyOptions options);

  int reports_fd() const { return socket_.get(); }
  pid_t pid() const { return process_.pid(); }

  struct Taken {
    std::vector<ConnectionReport> connections;
    std::optional<Error> failure;  // it could not lock itself in, or is gone
    bool ready = false;            // said once: it is locked and accepts
  };
  // What has been reported since; never blocks.
  Taken Take();
  // The same after the proxy has been asked for a last word: connections still open are reported as
  // far as they came. Waits at most some milliseconds; no connection is accepted afterwards.
  Taken Finish();

 private:
  Proxy(sandbox::Process process, UniqueFd socket)
      : process_(std::move(process)), socket_(std::move(socket)) {}

  sandbox::Process process_;
  UniqueFd socket_;
};

// For results and logs: layer "egress", operation "connect", target "host:port".
Event ToEvent(const ConnectionReport& report);

// Addresses of this host's interfaces, for EgressPolicy::own_addresses.
std::vector<policy::IpAddress> OwnAddresses();

}  // namespace glovebox::egress
