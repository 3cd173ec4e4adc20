#include "app/readiness.h"

#include <utility>

namespace glovebox {

void Readiness::Probe() {
  if (probing_) return;
  probing_ = true;
  ExecutionRequest request;
  request.code = "pass";
  executor_.Start(std::move(request), nullptr, [this](const Outcome& outcome) {
    probing_ = false;
    OnExecution(outcome);
  });
}

void Readiness::OnExecution(const Outcome& outcome) {
  if (outcome.status == ExecutionStatus::kCancelled) return;  // it may never have had a box
  ready_ = outcome.status != ExecutionStatus::kSetupFailed;
  if (!ready_) reason_ = outcome.message.empty() ? "no box can be built" : outcome.message;
}

std::string Readiness::WhyNot() {
  if (draining_) return "the server is shutting down";
  if (ready_) return "";
  Probe();
  return reason_;
}

}  // namespace glovebox
