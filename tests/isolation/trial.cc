#include "trial.h"

#include <utility>

#include "audit/box_target.h"
#include "audit/program.h"
#include "audit/witness.h"
#include "box_runner.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

constexpr std::uint32_t kWallMsMax = 5'000;
// A kernel in user space needs some for what the host's does at once, such as 20,000 files.
constexpr std::uint32_t kContainerWallMsMax = 20'000;

}  // namespace

Trial Try(const Payload& payload, sandbox::Walls walls) {
  Runner().ExecutorFor(walls);  // its zygote is no effect of the payload
  const Probe& probe = payload.probe();
  Observation observation(*TheScene(), probe.name, probe.witness);
  ExecutionRequest request;
  request.code = ProgramText(probe, observation.Globals());
  request.limits.wall_ms_max = ContainerRuntime().empty() ? kWallMsMax : kContainerWallMsMax;
  request.limits.memory_bytes_max = kMemoryLimitBytes;
  request.limits.processes_max = kProcessesLimit;
  Trial trial;
  trial.outcome = Runner().Run(walls, std::move(request), [&] { observation.Tick(); });
  trial.effect = observation.Effect(
      EverythingIn(trial.outcome),
      [](const std::function<bool()>& done, int ms) { Runner().RunUntil(done, ms); });
  return trial;
}

}  // namespace glovebox::isolation
