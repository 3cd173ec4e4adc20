#pragma once

#include <set>
#include <string>

namespace glovebox::isolation {

// What the engine may leave behind, as far as this test process can see it. The PID namespace of
// the cage is ours alone; folders shared with the machine count only names that can be ours.
struct HostState {
  std::set<std::string> processes;    // "pid uid comm" of throw-away uids, and zombies of ours
  std::set<std::string> mounts;       // lines of /proc/self/mountinfo
  std::set<std::string> groups;       // cgroup folders of boxes
  std::set<std::string> files;        // in /tmp, /var/tmp, /dev/shm, /run, /dev/mqueue
  std::set<std::string> descriptors;  // of this process: "number target"
};

HostState LookAtHost();

// What is in `after` and not in `before`, one per line; empty when nothing is.
std::string Leftovers(const HostState& before, const HostState& after);

// Turns the runner's loop until nothing is left or the time is over; what is left then.
std::string AwaitNoLeftovers(const HostState& before, int timeout_ms);

// Processes alive under a throw-away uid.
std::set<std::string> BoxProcesses();

}  // namespace glovebox::isolation
