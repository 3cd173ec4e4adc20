#pragma once

// What a child does to itself, as plain data. The parent computes everything: it allocates, formats
// and decides; the child reads one of these structs and makes system calls.

#include <linux/capability.h>
#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <type_traits>

#include "sandbox/plan/host_mode.h"

namespace glovebox::sandbox {

// Where a child failed. The parent turns (stage, errno) into a sentence; see StageName().
enum class ChildStage : std::uint8_t {
  kNone = 0,
  kWaitForParent,
  kDieWithParent,
  kSignals,
  kNewSession,
  kMountSources,
  kCgroups,
  kNamespaces,
  kNetwork,
  kRootMount,
  kRootEntry,
  kRootPivot,
  kFreshMounts,
  kHostName,
  kIdentity,
  kUserNamespace,
  kWorkFolder,
  kKeyring,
  kLimits,
  kCapabilities,
  kNoNewPrivs,
  kFork,
  kDescriptors,
  kProcessFlags,
  kLandlock,
  kSeccomp,
  kExec,
  kProbe,
};

struct ChildFailure {
  ChildStage stage = ChildStage::kNone;
  std::uint8_t reserved = 0;
  std::uint16_t detail = 0;  // index of the entry within the stage: which mount, which limit
  std::int32_t sys_errno = 0;

  constexpr bool failed() const { return stage != ChildStage::kNone; }
};
static_assert(sizeof(ChildFailure) == 8, "written to a pipe in one atomic write");

// What a step that returned `error` (0 for success) means for its stage.
constexpr ChildFailure Check(ChildStage stage, int error, std::uint16_t detail = 0) noexcept {
  return error == 0 ? ChildFailure{} : ChildFailure{stage, 0, detail, error};
}

enum class RootEntryKind : std::uint8_t {
  kDirectory,      // an empty directory, mode 0755
  kFile,           // a file holding `text`
  kSymlink,        // a link to `text`
  kBind,           // the host's `text`, read-only, nosuid, nodev
  kWritableBind,   // the host's `text`, noexec, nosuid, nodev
  kDevice,         // the host's device node `text`
  kProc,           // a procfs of the current PID namespace
  kHostProc,       // the host's procfs, for a zygote without a PID namespace (test seam)
  kGrant,          // as kBind, of a path that may not lead through a link
  kWritableGrant,  // as kWritableBind, the same
  kTmpfs,          // a tmpfs for programs too, of `text` bytes, owned by the box
  kNoFolder,       // a folder that nobody may enter, over what is there
  kNoFile,         // a file that nobody may open, over what is there
};

// One entry of a new root, in the order in which they are made. Parents come before children.
struct RootEntry {
  RootEntryKind kind;
  const char* target;  // relative to the new root, no leading slash
  const char* text;
  std::uint32_t text_length;
  int prepared_fd = -1;  // kGrant, kWritableGrant: the detached mount, where the parent made it
};

// A root built on a tmpfs of its own, from descriptors, and pivoted into.
struct RootPlan {
  const RootEntry* entries = nullptr;
  std::uint16_t entry_count = 0;
  int* source_fds = nullptr;          // scratch: one slot per entry, filled by the child
  const char* tmpfs_owner = nullptr;  // kTmpfs: uid and gid in decimal, of our user namespace
};

// A fresh tmpfs over an existing directory of the root.
struct FreshMount {
  const char* target;   // absolute
  const char* options;  // "size=67108864,nr_inodes=1024,mode=0700,uid=7,gid=7"
};

struct LimitEntry {
  int resource;
  std::uint64_t value;  // soft and hard
};

struct LandlockRule {
  const char* path;
  std::uint64_t allowed;
  int opened_fd = -1;  // the path, opened ahead; -1: the child opens it
};

// Masks already reduced to what this kernel's ABI knows.
struct LandlockPlan {
  std::uint64_t handled_fs = 0;
  std::uint64_t handled_net = 0;
  std::uint64_t scoped = 0;
  const LandlockRule* rules = nullptr;
  std::uint16_t rule_count = 0;
  const std::uint16_t* connect_ports = nullptr;  // TCP ports that may be connected to
  std::uint16_t connect_port_count = 0;
};

// A network of the child's own: a new network namespace in which lo is up, and listeners on it that
// are served from outside.
struct NetworkPlan {
  int report_fd = -1;  // a unix socket: gets one message with the listeners; -1: no such network
  const std::uint16_t* ports = nullptr;  // one listener each, on every address, in this order
  std::uint16_t port_count = 0;
};
inline constexpr std::uint16_t kListenersMax = 64;

struct DescriptorMove {
  int from;  // above every `to`, so that no move overwrites a source
  int to;
};

// What a zygote without a user namespace keeps of root's capabilities; boxes keep none.
inline constexpr std::uint64_t kZygoteUidCapabilities =
    1ull << CAP_SETUID |   // a box's init becomes its throw-away uid
    1ull << CAP_SETGID |   // and its gid, without supplementary groups
    1ull << CAP_SETPCAP |  // and empties the bounding set, locks the securebits
    1ull << CAP_KILL;      // inits hear of the zygote's death, which the kernel tells in its name
inline constexpr std::uint64_t kZygoteCapabilities =
    kZygoteUidCapabilities |
    1ull << CAP_SYS_ADMIN;  // namespaces, mounts, pivot_root, the host name
// What it keeps besides where its boxes have networks of their own.
inline constexpr std::uint64_t kZygoteNetworkCapabilities =
    1ull << CAP_NET_ADMIN |        // lo up
    1ull << CAP_NET_BIND_SERVICE;  // listeners on 80 and 443

// A child of the (threaded) server that becomes another program inside new namespaces. The
// namespaces themselves are flags of the parent's clone3.
struct SpawnPlan {
  int failure_fd = -1;                  // O_CLOEXEC; end-of-file without a record means exec
  int parent_ready_fd = -1;             // one byte arrives when the parent has written the id maps
  bool switch_identity = false;         // become `uid`, also as a group
  uid_t uid = 0;                        // 0: of a new user namespace
  std::uint64_t kept_capabilities = 0;  // of the host's root, who becomes another uid
  NetworkPlan network;                  // with CLONE_NEWNET
  bool build_root = false;
  RootPlan root;
  const DescriptorMove* moves = nullptr;
  std::uint16_t move_count = 0;
  int first_closed_fd = 3;  // everything from here on is closed
  const char* executable = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
};

// A fork of the zygote that becomes a box. The steps are in sandbox/child/enter_box.cc.
struct BoxPlan {
  std::uint32_t walls = 0;  // Walls::bits()
  HostMode mode;
  const int* cgroup_fds = nullptr;  // files that take "0" as "the writer joins"
  std::uint16_t cgroup_fd_count = 0;
  // In the zygote's user namespace; this box's alone while it lives. 0 where the zygote has no
  // other uid to give: then boxes are told apart by their user namespaces, or not at all.
  uid_t uid = 0;
  uid_t inner_uid = 0;                  // what the box calls itself
  const char* inner_uid_map = nullptr;  // "1000 <uid> 1"
  NetworkPlan network;
  const FreshMount* fresh_mounts = nullptr;
  std::uint16_t fresh_mount_count = 0;
  const char* host_name = nullptr;
  const char* work_folder = nullptr;
  // Without namespaces: the one place the box may write, and with which rights.
  LandlockRule own_folder = {nullptr, 0};
  const LimitEntry* limits = nullptr;
  std::uint16_t limit_count = 0;
  // The one CPU it may use, and no huge pages, where memory is held by looking: what it can take
  // between two looks is then bounded. -1: all CPUs.
  std::int32_t cpu = -1;
  LandlockPlan landlock;
  const sock_filter* filter = nullptr;
  std::uint16_t filter_length = 0;
};

// Nothing in a plan may run code in the child: no constructors, destructors or allocators.
static_assert(std::is_trivially_copyable_v<SpawnPlan> &&
              std::is_trivially_destructible_v<SpawnPlan>);
static_assert(std::is_trivially_copyable_v<BoxPlan> && std::is_trivially_destructible_v<BoxPlan>);

// What a box's init writes to its status pipe: that the box could not be built, or how Python
// ended. That it was built is said by Python itself, at the gate. Untrusted code never holds the
// pipe.
enum class StatusKind : std::uint8_t { kBuildFailed = 1, kEnded = 2 };

struct StatusRecord {
  StatusKind kind;
  std::uint8_t reserved[3];
  std::int32_t wait_status;  // kEnded: of Python, as wait4 gave it
  ChildFailure failure;      // kBuildFailed
  std::uint64_t cpu_us;      // kEnded: user and system time of Python and its reaped children
};
static_assert(sizeof(StatusRecord) == 24 && std::is_trivially_copyable_v<StatusRecord>);

}  // namespace glovebox::sandbox
