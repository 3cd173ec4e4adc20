#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "executor/box_kind.h"
#include "executor/executor.h"
#include "sandbox/plan/walls.h"

namespace glovebox {

// The container tier: the same boxes, each an OCI container, for requests that ask for it.
struct ContainerTierOptions {
  std::string runtime = "auto";  // or a name of container::RuntimeNames()
  std::string image;             // container/image.h; empty: made of the host's files
  std::uint32_t warm_boxes = 2;  // containers of each kind that wait
};

// What became of it.
struct ContainerTierReport {
  std::string runtime;  // "gVisor (runsc, platform systrap)"; empty where the tier is not available
  std::string reason;   // why it is not, and the fix
  std::string image;    // as in the options
  std::uint32_t warm_boxes = 0;
  bool available() const { return !runtime.empty(); }
};

struct LocalExecutorOptions {
  std::string zygote_program;                 // absolute path of glovebox-python
  std::string egress_program = {};            // and of glovebox-egress, where a kind has hosts
  std::vector<BoxKind> kinds = {{"python"}};  // at least one; the first is the default
  std::uint32_t boxes_max = 16;    // requests in boxes at once; further ones wait their turn
  std::uint32_t queue_max = 1024;  // requests without a place; further ones are refused
  ZygoteLife zygote_life = {};
  // Whether all warm boxes are made at once, or one of each kind until the first request comes.
  bool fill_at_start = false;
  // Boxes that are weaker than promised where the host can do no better: every outcome then says
  // what is missing. Without it such a host is refused.
  bool allow_degraded = false;
  // Told once, before the executor is returned, what degraded boxes lack. May be empty.
  std::function<void(const std::vector<std::string>&)> on_degraded = {};
  std::string cgroup_parent = {};  // where boxes have their cgroups; empty: where the host lets us
  sandbox::Walls walls = sandbox::Walls::All();
  // Nothing: requests for a container are refused.
  std::optional<ContainerTierOptions> containers = std::nullopt;
  // Told once, before the executor is returned, if `containers` is set. May be empty. A tier that
  // is not available is no error: requests for it are refused, with the reason.
  std::function<void(const ContainerTierReport&)> on_containers = {};
};

// An executor whose boxes live on this machine: takes its share of it (host_share.h), sweeps what a
// killed predecessor left, starts the zygote. The returned object owns all of it; its destructor
// kills every box and removes everything from the host. Fails closed when a wall cannot be set up.
//
// Requests may be started at once; they wait for the zygote. `context` must outlive the executor
// and be run by the thread that created it (the zygote dies with that thread). The program must
// ignore SIGPIPE: a box may end without reading its input.
Result<std::unique_ptr<Executor>> CreateLocalExecutor(boost::asio::io_context& context,
                                                      LocalExecutorOptions options);

}  // namespace glovebox
