#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace glovebox::audit {

inline constexpr int kVictimFd = 77;  // the descriptor that holds the secret
inline constexpr char kVictimFlag[] = "--victim";

// What the victim shares with us, so that we see what was done to it.
struct VictimPage {
  std::uint32_t ready;
  std::uint32_t signals;
  std::uint64_t secret_address;
  std::array<char, 64> scribble;
};

// A host process with a secret in its arguments, environment, name, memory and descriptors, that
// counts the signals it gets. Lives as long as the object.
class Victim {
 public:
  static Result<Victim> Start(const std::string& secret, const std::string& folder);
  Victim(Victim&& other) noexcept;
  Victim& operator=(Victim&&) = delete;
  ~Victim();

  pid_t pid() const { return pid_; }
  std::uint64_t secret_address() const { return page_->secret_address; }
  std::uint64_t scribble_address() const { return page_address_ + offsetof(VictimPage, scribble); }

  // Takes everything that was done to it back; call before a run.
  void Reset();
  // What was done to it since Reset(); nothing when it was left alone.
  std::optional<std::string> Harm() const;

 private:
  Victim(pid_t pid, VictimPage* page) : pid_(pid), page_(page) {}
  pid_t pid_;
  VictimPage* page_;
  std::uint64_t page_address_ = 0;  // in the victim
};

// Whether this process is to be the victim: `program --victim SECRET FOLDER`.
bool IsVictim(int argc, char** argv);
// Its main().
int VictimMain(char** argv);

}  // namespace glovebox::audit
