#pragma once

#include <cstdint>
#include <string>

namespace glovebox {

// Who saw it. A kernel event cannot be forged or suppressed by the box; an interpreter event is
// evidence from inside and best effort; the egress proxy speaks of the connections it was asked
// for, all of which it sees.
enum class EventSource : std::uint8_t { kKernel, kInterpreter, kEgress };

// Something a box attempted that a security engineer wants to know of.
struct Event {
  double seconds = 0;  // since the request was handed to the box
  EventSource source = EventSource::kInterpreter;
  std::string layer;             // the wall that answered: "interpreter", "seccomp", ...
  std::string operation;         // "subprocess.Popen", "socket.connect", ...
  std::string target;            // what it was aimed at, as text; empty when unknown
  int line = 0;                  // line of the user's code, 0 when unknown
  bool refused = false;          // refused, or only noted
  std::string rule;              // what was decided by: the policy's own words; empty when unknown
  std::string remedy;            // which setting would allow it, or that nothing does
  std::uint64_t bytes_sent = 0;  // of a connection: what the box sent, and what it got
  std::uint64_t bytes_received = 0;
};

}  // namespace glovebox
