#include "sandbox/compile/bpf_evaluator.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

namespace glovebox {
namespace {

// Whether a conditional jump is taken; no value for a code that is no comparison with a constant.
std::optional<bool> Compare(std::uint16_t code, std::uint32_t accumulator, std::uint32_t constant) {
  switch (code) {
    case BPF_JMP | BPF_JEQ | BPF_K: return accumulator == constant;
    case BPF_JMP | BPF_JGT | BPF_K: return accumulator > constant;
    case BPF_JMP | BPF_JGE | BPF_K: return accumulator >= constant;
    case BPF_JMP | BPF_JSET | BPF_K: return (accumulator & constant) != 0;
    default: return std::nullopt;
  }
}

// One 32-bit word of the call. The kernel refuses unaligned offsets when a filter is installed.
std::optional<std::uint32_t> LoadWord(const seccomp_data& data, std::uint32_t offset) {
  if (offset % sizeof(std::uint32_t) != 0 || offset >= sizeof(data)) return std::nullopt;
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&data) + offset, sizeof(word));
  return word;
}

}  // namespace

Result<std::uint32_t> EvaluateBpf(std::span<const sock_filter> program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  std::size_t next = 0;
  while (next < program.size()) {
    const std::size_t here = next++;
    const sock_filter& instruction = program[here];
    const auto invalid = [here](const char* what) {
      return Error(Errc::kInvalidArgument, "BPF instruction " + std::to_string(here) + ": " + what);
    };
    switch (instruction.code) {
      case BPF_LD | BPF_W | BPF_ABS: {
        const std::optional<std::uint32_t> word = LoadWord(data, instruction.k);
        if (!word) return invalid("load from outside of seccomp_data, or unaligned");
        accumulator = *word;
        break;
      }
      case BPF_ALU | BPF_AND | BPF_K: accumulator &= instruction.k; break;
      case BPF_JMP | BPF_JA: next += instruction.k; break;
      case BPF_RET | BPF_K: return instruction.k;
      default: {
        const std::optional<bool> taken = Compare(instruction.code, accumulator, instruction.k);
        if (!taken) return invalid("a code that no filter of ours contains");
        next += *taken ? instruction.jt : instruction.jf;
        break;
      }
    }
    if (next >= program.size()) return invalid("leaves the program without a return");
  }
  return Error(Errc::kInvalidArgument, "an empty BPF program");
}

}  // namespace glovebox
