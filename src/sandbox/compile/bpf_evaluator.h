#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>

#include "base/result.h"

namespace glovebox {

// Runs a seccomp program on one call, as the kernel would, and gives its answer (SECCOMP_RET_*,
// with the data in the low 16 bits). With it a policy is proven without a kernel, for architectures
// that this machine does not have, and for calls that would end the test.
//
// Knows the instructions that filters are made of: aligned 32-bit loads from seccomp_data, AND, the
// jumps that compare with a constant, and return of a constant. Anything else, a jump or a load out
// of bounds, or an end without a return is an Error (kInvalidArgument) that names the instruction.
// Programs cannot loop: BPF jumps only forward.
Result<std::uint32_t> EvaluateBpf(std::span<const sock_filter> program, const seccomp_data& data);

}  // namespace glovebox
