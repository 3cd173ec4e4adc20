#pragma once

#include "sandbox/plan/probe_plan.h"

namespace glovebox::sandbox {

// Tries what the plan says with the product's own steps, reports and ends. Never returns.
[[noreturn]] void ProbeChild(const ProbePlan& plan) noexcept;

}  // namespace glovebox::sandbox
