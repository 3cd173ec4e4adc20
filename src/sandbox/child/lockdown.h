#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

int SetLimits(const LimitEntry* limits, std::uint16_t count, std::uint16_t* detail) noexcept;

// One CPU and no huge pages, for good: the filter refuses the way back.
int SlowGrowth(std::int32_t cpu) noexcept;

// Moves the named descriptors to their places and closes every other one from `first_closed` on.
int ArrangeDescriptors(const DescriptorMove* moves, std::uint16_t count, int first_closed) noexcept;

// Empty signal mask; what untrusted code starts with. A blocked mask survives fork and exec.
int ClearSignalMask() noexcept;

// One signal does what it does by default.
int ResetSignalAction(int signal) noexcept;

// Every signal does: what a parent ignores stays ignored across exec.
void ResetSignalActions() noexcept;

int SetNoNewPrivs() noexcept;

// No writable-and-executable memory, where the kernel knows that.
int RefuseWritableCode() noexcept;

// The same, and no speculative store bypass, no indirect-branch speculation, where processors have
// them.
int SetProcessFlags() noexcept;

// The rules of a plan as a descriptor, for the caller to close. `own` is one rule more; none
// without a path.
int MakeRuleset(const LandlockPlan& plan, const LandlockRule& own, int* ruleset_fd,
                std::uint16_t* detail) noexcept;

int EnterRuleset(int ruleset_fd) noexcept;

// Both.
int ApplyLandlock(const LandlockPlan& plan, std::uint16_t* detail) noexcept;

// Nothing of ours runs after this that is not in the filter. `listener_fd` becomes the descriptor
// from which the calls that the filter hands to a supervisor can be answered, or -1 when somebody
// above us listens already: one listener is all the kernel has.
int ApplyFilter(const sock_filter* filter, std::uint16_t length, int* listener_fd) noexcept;

// The same for a filter that hands no call to anybody.
int ApplyFilterAlone(const sock_filter* filter, std::uint16_t length) noexcept;

}  // namespace glovebox::sandbox
