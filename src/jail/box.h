#pragma once

// Starts a program in a jail: a box of sandbox/ that executes somebody else's program.
//
//   supervisor                            init (PID 1)                     program (PID 2)
//   clone3(namespaces)             --->   waits for one byte
//   id maps, the byte              --->   root, cgroups, identity, every wall
//                                         forks                     --->   Landlock, proofs, filter
//   takes the filter's listener    <-----------------------------------    sends it
//   answers its first calls        <-----------------------------------    execve
//   reads the failure pipe: end-of-file means that the program runs

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "executor/host_share.h"
#include "jail/layout.h"
#include "sandbox/parent/call_watcher.h"
#include "sandbox/parent/spawn.h"

namespace glovebox::jail {

struct BoxOrder {
  std::string executable;  // as the box names it
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string work_folder;
  bool writable_code = false;
  sandbox::CgroupLimits limits;
  std::uint32_t open_files_max = 0;
  std::vector<std::uint16_t> listener_ports;  // of a way out; none: no network at all
};

struct RunningBox {
  sandbox::Process init;
  UniqueFd program;  // a pidfd
  UniqueFd input;    // of the program: ours to write
  UniqueFd output;
  UniqueFd error;
  UniqueFd status;                  // takes a JailEnd
  std::vector<UniqueFd> listeners;  // on the ports of the order
  bool observed = false;            // refusals can be named
  // In a container: what holds it. `init` and `program` are its runtime, which passes signals on
  // and whose end, told by `status`, a pidfd too, is the program's.
  std::string runtime = {};
};

// `layout` may go afterwards. The box dies with the calling thread.
Result<RunningBox> StartBox(const BoxOrder& order, const Layout& layout,
                            const policy::BoxPolicy& policy, HostShare& host, BoxPlace& place,
                            sandbox::CallWatcher& watcher,
                            const std::shared_ptr<sandbox::CallJudge>& judge);

}  // namespace glovebox::jail
