#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "executor/executor.h"

namespace glovebox {

// An executor that tells `ended` of every outcome, before whoever asked for it hears.
class ObservedExecutor final : public Executor {
 public:
  using Ended = std::function<void(const Outcome&)>;

  // `inner` must outlive it; `ended` is called as long as `inner` lives.
  ObservedExecutor(Executor& inner, Ended ended) : inner_(inner), ended_(std::move(ended)) {}

  std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                   DoneHandler done) override {
    return inner_.Start(std::move(request), observer,
                        [ended = ended_, done = std::move(done)](Outcome outcome) {
                          ended(outcome);
                          done(std::move(outcome));
                        });
  }

  ExecutorLoad load() const override { return inner_.load(); }

 private:
  Executor& inner_;
  const Ended ended_;
};

}  // namespace glovebox
