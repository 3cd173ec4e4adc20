#include "trial.h"

#include <utility>

#include "box_runner.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

constexpr std::uint32_t kWallMsMax = 5'000;

}  // namespace

Trial Try(const Payload& payload, sandbox::Walls walls) {
  Runner().ExecutorFor(walls);  // its zygote is no effect of the payload
  Observation observation(*TheScene(), payload.witness);
  ExecutionRequest request;
  request.code = PayloadCode(payload.name);
  request.globals = TheScene()->Globals(observation.nonce());
  request.limits.wall_ms_max = kWallMsMax;
  request.limits.memory_bytes_max = kMemoryLimitBytes;
  request.limits.processes_max = kProcessesLimit;
  Trial trial;
  trial.outcome = Runner().Run(walls, std::move(request), [&] { observation.Tick(); });
  trial.effect = observation.Effect(trial.outcome);
  return trial;
}

}  // namespace glovebox::isolation
