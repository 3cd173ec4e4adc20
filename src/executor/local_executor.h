#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "executor/box_kind.h"
#include "executor/executor.h"
#include "sandbox/plan/walls.h"

namespace glovebox {

struct LocalExecutorOptions {
  std::string zygote_program;                 // absolute path of glovebox-python
  std::vector<BoxKind> kinds = {{"python"}};  // at least one; the first is the default
  std::uint32_t boxes_max = 16;  // requests in boxes at once; further ones wait their turn
  // Boxes that are weaker than promised where the host can do no better: every outcome then says
  // what is missing. Without it such a host is refused.
  bool allow_degraded = false;
  // Told once, before the executor is returned, what degraded boxes lack. May be empty.
  std::function<void(const std::vector<std::string>&)> on_degraded = {};
  std::string cgroup_parent = {};  // where boxes have their cgroups; empty: where the host lets us
  sandbox::Walls walls = sandbox::Walls::All();
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
