#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace glovebox::sandbox {

enum class PidScope : std::uint8_t {
  kOwn,    // a PID namespace: the box is everything that init can see
  kGroup,  // the host's ids: the box is Python's process group, which nobody in it can leave
  kHost,   // the host's ids, and nothing to tell the box by (test seam): nothing is killed
};

// What a box's init is told: its one argument, as the digits and letters of InitArgument.
struct InitPlan {
  pid_t python_pid = 0;
  PidScope scope = PidScope::kOwn;
  bool hidden = true;  // nobody in the box may look into it
};

// What an init of kGroup takes off its queue; blocked before its fork, for good.
inline constexpr std::uint64_t kInitSignals = 1ull << (SIGCHLD - 1) | 1ull << (SIGTERM - 1);

// Where glovebox-init finds its descriptors.
inline constexpr int kInitStatusFd = 0;   // for a StatusRecord
inline constexpr int kInitStartedFd = 1;  // closed when it is hidden, after one byte

// "SHNNN": scope, hidden, Python's process id.
struct InitArgument {
  static constexpr int kDigits = 10;
  char text[2 + kDigits + 1] = {};
};

constexpr InitArgument Encode(const InitPlan& plan) noexcept {
  InitArgument argument;
  argument.text[0] = static_cast<char>('0' + static_cast<int>(plan.scope));
  argument.text[1] = plan.hidden ? '1' : '0';
  pid_t rest = plan.python_pid;
  for (int i = InitArgument::kDigits; i > 0; --i, rest /= 10) {
    argument.text[1 + i] = static_cast<char>('0' + rest % 10);
  }
  return argument;
}

constexpr InitPlan DecodeInitPlan(const char* text) noexcept {
  InitPlan plan;
  plan.scope = static_cast<PidScope>(text[0] - '0');
  plan.hidden = text[1] == '1';
  for (const char* digit = text + 2; *digit != '\0'; ++digit) {
    plan.python_pid = plan.python_pid * 10 + (*digit - '0');
  }
  return plan;
}

static_assert(DecodeInitPlan(Encode({4194304, PidScope::kGroup, false}).text).python_pid ==
              4194304);

}  // namespace glovebox::sandbox
