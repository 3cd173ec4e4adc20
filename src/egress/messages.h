#pragma once

// What passes between the server and an egress proxy, over one SOCK_SEQPACKET socket: the set-up
// in, then one report per message out. The proxy parses what a box sends, so the server takes its
// reports as hostile: bounded, checked, and never the ground of a decision.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/box_network.h"
#include "policy/egress_policy.h"

namespace glovebox::egress {

inline constexpr int kProxySocketFd = 3;
inline constexpr int kFirstListenerFd = 4;  // and the following, in the order of BoxNetwork::ports
inline constexpr std::size_t kMessageMax = 256u << 10;
inline constexpr std::size_t kReportMax = 4096;

// By which door a connection came.
enum class Door : std::uint8_t { kHttp, kConnect, kSocks, kDirect };
const char* NameOf(Door door);

// One connection that a program in the box asked for, when it is over.
struct ConnectionReport {
  Door door = Door::kHttp;
  bool allowed = false;
  std::string host;  // as it was judged, or, when it could not be, as it was sent (shortened)
  std::uint16_t port = 0;
  std::uint64_t asked_at_ns = 0;  // of the steady clock, which all processes share
  std::string address;            // what was dialled; empty when nothing was
  std::uint64_t bytes_sent = 0;   // by the box
  std::uint64_t bytes_received = 0;
  std::string rule;    // the text of the rule that allowed it
  std::string reason;  // why it was refused, or failed
  std::string remedy;  // which words would allow it; empty when none would
};

struct ProxySetup {
  policy::EgressPolicy policy;
  std::uint32_t listener_count = 0;
  bool other_uid = false;  // its user namespace maps uid 1 for it
};

enum class ReportKind : std::uint8_t { kReady = 1, kFailed, kConnection };

struct ProxyReport {
  ReportKind kind = ReportKind::kReady;
  std::string failure;  // kFailed
  ConnectionReport connection;
};

std::string Encode(const ProxySetup& setup);
std::optional<ProxySetup> DecodeProxySetup(std::string_view payload);
std::string Encode(const ProxyReport& report);
std::optional<ProxyReport> DecodeProxyReport(std::string_view payload);

}  // namespace glovebox::egress
