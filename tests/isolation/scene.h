#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "python/wire/value.h"
#include "victim.h"

namespace glovebox::isolation {

// How much the bombs take. Each lies between what a box may have and what the cage bears.
inline constexpr std::uint64_t kMemoryLimitBytes = 96ull << 20;
inline constexpr std::uint64_t kMemoryWantedBytes = 360ull << 20;
// Beyond even the slack of RLIMIT_DATA.
inline constexpr std::uint64_t kFarWantedBytes = 760ull << 20;
inline constexpr std::uint64_t kMemoryEffectBytes = 160ull << 20;  // limit, and generous noise
inline constexpr std::uint32_t kProcessesLimit = 48;
inline constexpr std::uint32_t kProcessesWanted = 150;
inline constexpr std::uint32_t kProcessesEffect = 70;
inline constexpr std::uint64_t kDiskWantedBytes = 80ull << 20;
inline constexpr std::uint32_t kInodesWanted = 20'000;
inline constexpr std::uint32_t kDescriptorsWanted = 1'500;

// A socket of the host that must hear nothing.
struct Listener {
  UniqueFd fd;
  bool stream = false;
};

// Everything on "the host" that payloads aim at. One per test process, inside the cage.
class Scene {
 public:
  static Result<std::unique_ptr<Scene>> Create();
  ~Scene();

  // Puts everything back in its place and forgets what was heard. Call before each run.
  Status Reset();

  // The names that a payload finds bound: the nonce, the targets, the sizes.
  wire::Value::Dict Globals(const std::string& nonce) const;

  const std::string& secret() const { return secret_; }
  const std::string& cookie() const { return cookie_; }
  const Victim& victim() const { return *victim_; }

  // Each: what happened since Reset(), or nothing.
  std::optional<std::string> FolderChanged() const;
  std::optional<std::string> SomethingHeard();
  std::optional<std::string> MountsChanged() const;
  std::optional<std::string> HostNameChanged() const;
  std::optional<std::string> TerminalTyped();
  std::optional<std::string> IpcTouched() const;
  std::optional<std::string> Survivor() const;

  // Tries to reach the port on which a payload may listen.
  void KnockAtBox();
  bool box_answered() const { return box_answered_; }

  // Ends processes that carry our cookie.
  void KillSurvivors();

 private:
  Scene();
  Status MakeFolder();
  Status MakeListeners();
  Status MakeIpc();
  Status MakeHandles();
  Status MakeTerminal();
  std::string Fingerprint() const;

  std::string secret_;
  std::string cookie_;
  std::string secret_address_;
  std::uint16_t tcp_port_ = 0;
  std::uint16_t tcp6_port_ = 0;
  std::uint16_t udp_port_ = 0;
  std::uint16_t listen_port_ = 0;
  std::vector<Listener> listeners_;
  std::optional<Victim> victim_;
  std::string fingerprint_;
  std::string handle_;
  std::string disk_handle_;
  std::string disk_file_;
  UniqueFd terminal_master_;
  UniqueFd terminal_slave_;
  std::string terminal_path_;
  int ipc_key_ = 0;
  int ipc_segment_ = -1;
  int ipc_queue_ = -1;
  int ipc_semaphore_ = -1;
  int mq_ = -1;
  bool box_answered_ = false;
};

// `length` random hexadecimal digits.
std::string RandomHex(std::size_t length);

}  // namespace glovebox::isolation
