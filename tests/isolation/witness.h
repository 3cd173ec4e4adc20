#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "executor/outcome.h"
#include "scene.h"

namespace glovebox::isolation {

// Who says whether the forbidden effect happened. All but kNonce look from outside the box.
enum class Witness : std::uint8_t {
  kNonce,      // the payload's word, for calls that leave no trace outside
  kSecret,     // text that only the host has came out of the box
  kFolder,     // the host's folder: names, content, modes, owners, times
  kListeners,  // TCP, UDP and Unix listeners of the host
  kKnock,      // the host can connect to a listener in the box
  kVictim,     // a host process: alive, no signal, memory, priority, limits
  kTasks,      // processes and threads counted from outside
  kMemory,     // memory charged, seen from outside
  kSurvivor,   // a process of the box after the end of its execution
  kTerminal,   // a host terminal's input
  kHostName,
  kMounts,
  kIpc,  // System V and POSIX objects of the host
};

// Watches one run: made before it, ticked during it, asked after it.
class Observation {
 public:
  Observation(Scene& scene, Witness witness);
  const std::string& nonce() const { return nonce_; }
  void Tick();
  // What happened, or nothing.
  std::optional<std::string> Effect(const Outcome& outcome);

 private:
  std::optional<std::string> Judge(const Outcome& outcome);

  Scene& scene_;
  Witness witness_;
  std::string nonce_;
  std::uint64_t memory_before_ = 0;
  std::uint64_t memory_most_ = 0;
  std::uint32_t tasks_before_ = 0;
  std::uint32_t tasks_most_ = 0;
};

// Whether `text` is anywhere in what came out of the box.
bool AppearsIn(const Outcome& outcome, const std::string& text);

// One line about an outcome, for failure messages.
std::string Summary(const Outcome& outcome);

}  // namespace glovebox::isolation
