#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace glovebox::sandbox {

// Copies `size` bytes at `address` of the calling process, or as many as are readable from there;
// nothing when none are.
using MemoryReader =
    std::function<std::optional<std::string>(std::uint64_t address, std::size_t size)>;

// The memory of the process (or thread) `pid`. Needs the right to trace it.
MemoryReader MemoryOf(pid_t pid);

// Whether an attempt is worth an event. All are, but for one that ordinary programs make all the
// time: clone3 without a new namespace, which is how glibc tries to start a thread.
bool IsNotable(std::string_view call, std::span<const std::uint64_t, 6> arguments,
               const MemoryReader& read);

// What a system call was aimed at, for people: a path, an address with its port, a socket family,
// the namespaces asked for. Empty when the call aims at nothing in particular; "<unreadable>" when
// it does but its memory cannot be read. The caller can change its memory at any moment: the text
// is evidence of what stood there, not of what would have been used.
std::string DescribeTarget(std::string_view call, std::span<const std::uint64_t, 6> arguments,
                           const MemoryReader& read);

// Whether a `connect` with these arguments leads to 127.0.0.0/8 or ::1. Not when its memory cannot
// be read.
bool LeadsToLoopback(std::span<const std::uint64_t, 6> arguments, const MemoryReader& read);

}  // namespace glovebox::sandbox
