#pragma once

// What crosses between the server and its zygote: one SOCK_SEQPACKET message each. Both ends are
// ours; the bounds are against bugs, not against attackers.

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace glovebox::wire {

inline constexpr int kZygoteSocketFd = 3;  // the zygote's end, by agreement
inline constexpr int kInitProgramFd = 4;   // glovebox-init, which is PID 1 of every box
inline constexpr std::size_t kZygoteMessageMax = 256u << 10;
inline constexpr std::size_t kBoxDescriptorsMax = 16;
inline constexpr int kListenerSocketIndex = 5;  // among a box's descriptors, where there is one

struct TmpfsSetup {
  std::string path;
  std::string size;
  std::string inodes;
};

struct LandlockSetup {
  std::uint64_t handled_fs = 0;
  std::uint64_t handled_net = 0;
  std::uint64_t scoped = 0;
  std::vector<std::pair<std::string, std::uint64_t>> rules;
};

// First message: everything that is the same for all boxes of this zygote.
struct ZygoteSetup {
  std::uint32_t walls = 0;
  std::uint8_t identity = 0;              // sandbox::IdentitySource
  bool namespaces = true;                 // as sandbox::HostMode has it
  std::string stdlib;                     // sys.path, with what is below it
  std::vector<std::string> module_paths;  // further entries of sys.path
  std::vector<std::string> preimports;
  bool rehearse = false;    // whether boxes will wait: see Rehearsal
  std::uint8_t makers = 1;  // processes that make boxes, each of them one at a time
  std::string work_folder;
  std::string host_name;
  std::uint32_t inner_uid = 1000;
  std::vector<TmpfsSetup> tmpfs;
  std::vector<std::pair<std::int32_t, std::uint64_t>> rlimits;
  LandlockSetup landlock;
  std::uint64_t own_folder_rights = 0;  // Landlock's, for SpawnBox::folder
  std::vector<sock_filter> filter;
  // Not empty: boxes have networks of their own, in which these ports are listened on.
  std::vector<std::uint16_t> network_ports;
};

// The zygote's answer when the interpreter is warm, or why it is not.
struct ZygoteReady {
  std::string error;  // empty: ready
  double import_seconds = 0;
};

// A typical program, run before a box is ready, so that the pages which a request touches are its
// own by then. For boxes that wait; one that is wanted at once is sooner ready without.
enum class Rehearsal : std::uint8_t {
  kNone,
  kShort,  // costs little memory
  kLong,   // for those that are handed out next
};

// Asks for one box. Descriptors travel with the message, in this order: stdin, stdout, stderr,
// gate, status, with `network` the socket that takes its listeners, the v1 cgroup files to join,
// and, if so said, the v2 cgroup to be born into.
struct SpawnBox {
  std::uint64_t box_id = 0;
  std::uint32_t uid = 0;  // in the zygote's user namespace
  bool into_cgroup = false;
  Rehearsal rehearsal = Rehearsal::kNone;
  std::int32_t cpu = -1;  // the one it may use; -1: all
  std::string folder;     // what the box may write where it has no mounts; empty where it has
  bool network = false;   // it has one of its own
};

// The answer; a pidfd of the box's init travels with it unless sys_errno is set. Whether the box
// could then be built is said on its own status pipe.
struct BoxBorn {
  std::uint64_t box_id = 0;
  std::int32_t sys_errno = 0;
};

std::string Encode(const ZygoteSetup& setup);
std::string Encode(const ZygoteReady& ready);
std::string Encode(const SpawnBox& spawn);
std::string Encode(const BoxBorn& born);
std::optional<ZygoteSetup> DecodeZygoteSetup(std::string_view payload);
std::optional<ZygoteReady> DecodeZygoteReady(std::string_view payload);
std::optional<SpawnBox> DecodeSpawnBox(std::string_view payload);
std::optional<BoxBorn> DecodeBoxBorn(std::string_view payload);

}  // namespace glovebox::wire
