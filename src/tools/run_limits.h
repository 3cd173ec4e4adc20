#pragma once

#include <cstddef>
#include <cstdint>

namespace glovebox {

// What a server lets one run use, and what it gives a run that does not ask.
struct RunLimits {
  std::uint32_t timeout_s_default = 30;
  std::uint32_t timeout_s_max = 300;
  std::uint64_t memory_bytes_min = 16ull << 20;  // less does not hold an interpreter at work
  std::uint64_t memory_bytes_max = 4ull << 30;
  std::uint32_t output_chars_max = 1'048'576;  // of each stream
  std::size_t code_chars_max = 100'000;
};

}  // namespace glovebox
