#pragma once

#include <cstdint>
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
  std::uint32_t boxes_max = 16;    // requests in boxes at once; further ones wait their turn
  std::uint32_t queue_max = 1024;  // requests without a place; further ones are refused
  ZygoteLife zygote_life = {};
  // Whether all warm boxes are made at once, or one of each kind until the first request comes.
  bool fill_at_start = false;
  sandbox::Walls walls = sandbox::Walls::All();
};

// An executor whose boxes live on this machine: takes a uid range and cgroups, sweeps what a killed
// predecessor left, starts the zygote. The returned object owns all of it; its destructor kills
// every box and removes everything from the host. Fails closed when a wall cannot be set up.
//
// Requests may be started at once; they wait for the zygote. `context` must outlive the executor
// and be run by the thread that created it (the zygote dies with that thread). The program must
// ignore SIGPIPE: a box may end without reading its input.
Result<std::unique_ptr<Executor>> CreateLocalExecutor(boost::asio::io_context& context,
                                                      LocalExecutorOptions options);

}  // namespace glovebox
