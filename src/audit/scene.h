#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "audit/victim.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::audit {

// How much the bombs take. Each lies between what a box may have and what the cage bears.
inline constexpr std::uint64_t kMemoryLimitBytes = 96ull << 20;
inline constexpr std::uint64_t kMemoryWantedBytes = 240ull << 20;
// Beyond even the slack of RLIMIT_DATA.
inline constexpr std::uint64_t kFarWantedBytes = 760ull << 20;
inline constexpr std::uint64_t kMemoryEffectBytes = 160ull << 20;  // limit, and generous noise
inline constexpr std::uint32_t kProcessesLimit = 48;
inline constexpr std::uint32_t kProcessesWanted = 150;
inline constexpr std::uint32_t kProcessesEffect = 70;
inline constexpr std::uint64_t kDiskWantedBytes = 80ull << 20;
inline constexpr std::uint32_t kInodesWanted = 17'000;
inline constexpr std::uint32_t kDescriptorsWanted = 1'500;

// An environment variable of ours that holds the secret, and descriptors that lead to it: what a
// jail must not pass on.
inline constexpr char kMarkerVariable[] = "GLOVEBOX_AUDIT_MARKER";
inline constexpr int kLeakedFileFd = 200;
inline constexpr int kLeakedFolderFd = 201;

// A socket of the host that must hear nothing.
struct Listener {
  UniqueFd fd;
  bool stream = false;
};

// Names that a program finds bound, and their values.
using Binding = std::pair<std::string, std::variant<std::uint64_t, std::string>>;
using Bindings = std::vector<Binding>;

// Whose the host is.
enum class Stage : std::uint8_t {
  kCage,  // ours alone (cage.h): mounts, names and addresses can be changed and put back
  kHost,  // somebody's: we add a folder, listeners, a process and objects, and remove them
};

// Everything on the host that probes aim at. One per process. On kHost it works for every user, and
// what a user cannot make stays unmade: its probes then find nothing, with or without walls.
class Scene {
 public:
  static Result<std::unique_ptr<Scene>> Create(Stage stage);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // Puts everything back in its place and forgets what was heard. Call before each run.
  Status Reset();

  // The names that a program finds bound: the nonce, the targets, the sizes. Every file that it
  // makes has `tag` in its name.
  Bindings Globals(const std::string& nonce, const std::string& tag) const;

  Stage stage() const { return stage_; }
  const std::string& folder() const { return folder_; }
  const std::string& secret() const { return secret_; }
  const std::string& cookie() const { return cookie_; }
  const Victim& victim() const { return *victim_; }
  // What identifies this host, for the probe that looks for it; empty where it has none.
  std::string Fact(std::string_view probe) const;

  // Each: what happened since Reset(), or nothing.
  std::optional<std::string> FolderChanged() const;
  std::optional<std::string> SomethingHeard();
  std::optional<std::string> MountsChanged() const;
  std::optional<std::string> HostNameChanged() const;
  std::optional<std::string> TerminalTyped();
  std::optional<std::string> IpcTouched() const;
  std::optional<std::string> Survivor() const;
  // A file with `tag` in its name, in a folder that outlives executions. Removes it.
  std::optional<std::string> LeftBehind(const std::string& tag) const;

  // Now: tasks and resident memory of the host (in the cage), of marked processes (elsewhere).
  std::uint32_t Tasks() const;
  std::uint64_t MemoryBytes() const;

  // Answers questions to our resolver. Call while a program runs.
  void AnswerNames();
  // Tries to reach the port on which a program may listen.
  void KnockAtBox();
  bool box_answered() const { return box_answered_; }

  // Ends processes that carry our cookie.
  void KillSurvivors();

 private:
  explicit Scene(Stage stage);
  Status MakeFolder();
  Status MakeListeners();
  Status MakeIpc();
  Status MakeTerminal();
  Status MakeLeaks();
  Status Fill();
  std::string Fingerprint() const;
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  const Stage stage_;
  std::string folder_;
  std::string secret_;
  std::string cookie_;
  std::string host_name_;
  std::string secret_address_;  // of this host; found by asking for its addresses
  std::uint16_t tcp_port_ = 0;
  std::uint16_t tcp6_port_ = 0;
  std::uint16_t udp_port_ = 0;
  std::uint16_t dns_port_ = 0;
  std::uint16_t listen_port_ = 0;
  std::vector<Listener> listeners_;
  Listener resolver_;
  bool resolver_asked_ = false;
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

}  // namespace glovebox::audit
