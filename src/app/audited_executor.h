#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "app/audit_log.h"
#include "executor/executor.h"

namespace glovebox {

// An executor whose executions are written to an audit log, before whoever asked for one hears of
// its end. A line that cannot be written is told to `failed`; the execution has happened by then.
class AuditedExecutor final : public Executor {
 public:
  using Failed = std::function<void(const Error&)>;

  // `inner` must outlive it; `log` and `failed` are used as long as `inner` lives.
  AuditedExecutor(Executor& inner, std::unique_ptr<AuditLog> log, Failed failed)
      : inner_(inner), log_(std::move(log)), failed_(std::move(failed)) {}

  std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                   DoneHandler done) override {
    auto asked = std::make_shared<const ExecutionRequest>(request);
    return inner_.Start(std::move(request), observer,
                        [log = log_, failed = failed_, asked = std::move(asked),
                         done = std::move(done)](Outcome outcome) {
                          const Status recorded = log->Record(*asked, outcome);
                          if (!recorded) failed(recorded.error());
                          done(std::move(outcome));
                        });
  }

  ExecutorLoad load() const override { return inner_.load(); }

 private:
  Executor& inner_;
  const std::shared_ptr<AuditLog> log_;
  const Failed failed_;
};

}  // namespace glovebox
