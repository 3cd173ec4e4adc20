#include "payload_table.h"

#include <array>

namespace glovebox::isolation {
namespace {

using sandbox::Bit;
using sandbox::Wall;
using sandbox::WallMask;

constexpr WallMask kIdentity = Bit(Wall::kIdentity);
constexpr WallMask kRoot = Bit(Wall::kRoot);
constexpr WallMask kPids = Bit(Wall::kPidNamespace);
constexpr WallMask kNet = Bit(Wall::kNetNamespace);
constexpr WallMask kIpcSpace = Bit(Wall::kIpcNamespace);
constexpr WallMask kLandlock = Bit(Wall::kLandlock);
constexpr WallMask kSeccomp = Bit(Wall::kSeccomp);
constexpr WallMask kCgroup = Bit(Wall::kCgroup);
constexpr WallMask kRlimits = Bit(Wall::kRlimits);
// Own processes, shown by an own procfs: the one without the other hides nothing.
constexpr WallMask kOwnProc = kRoot | kPids;
// The kernel counts a uid's processes only against a user without capabilities.
constexpr WallMask kUserLimits = kIdentity | kRlimits;

constexpr auto kDone = ExecutionStatus::kCompleted;
constexpr auto kRaised = ExecutionStatus::kFailed;
constexpr auto kKilled = ExecutionStatus::kViolated;
constexpr auto kTooMuch = ExecutionStatus::kLimitExceeded;

using enum Claim;
using enum Witness;

void AddReads(std::vector<Payload>& table) {
  const std::vector<Payload> rows = {
      {"read_open", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_os_open", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_openat_dirfd", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_o_path_reopen", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_mmap", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_symlink_out", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_proc_1_root", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised, kSecret},
      {"read_proc_self_root", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_dotdot", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_thread_self_cwd", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_sendfile", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_splice", kReadHostFile, {kRoot, kLandlock, kSeccomp}, kRaised, kSecret},
      {"read_copy_file_range", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_ctypes_fopen", kReadHostFile, {kRoot, kLandlock}, kDone, kSecret},
      {"read_fileio_opener", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_open_code", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_openat2", kReadHostFile, {kRoot, kLandlock, kSeccomp}, kDone, kSecret},
      {"read_listdir", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_getdents", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      {"read_run_path", kReadHostFile, {kRoot, kLandlock}, kRaised, kSecret},
      // Landlock knows no right for the text of a link or for metadata: the root alone holds.
      {"read_readlink", kReadHostFile, {kRoot}, kRaised, kSecret},
      {"read_stat", kReadHostFile, {kRoot}, kRaised, kNonce},
      // CAP_PERFMON reads environments past Landlock.
      {"read_victim_environ", kHostProcess, {kOwnProc, kIdentity}, kRaised, kSecret},
      {"read_victim_cmdline", kHostProcess, {kOwnProc}, kRaised, kSecret},
      {"read_victim_root", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised, kSecret},
      {"read_victim_cwd", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised, kSecret},
      {"read_victim_fd", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised, kSecret},
      {"read_victim_mem", kHostProcess, {kOwnProc, kLandlock, kIdentity}, kRaised, kSecret},
      {"read_parent_mem", kHostProcess, {kLandlock, kIdentity}, kRaised, kNonce},
      {"read_handle_tmpfs",
       kReadHostFile,
       {kRoot, kLandlock, kIdentity, kSeccomp},
       kRaised,
       kSecret},
      // The runtime lies on the same disk: with every capability the root alone does not hold.
      {"read_handle_disk", kReadHostFile, {kLandlock, kIdentity, kSeccomp}, kDone, kSecret},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddWrites(std::vector<Payload>& table) {
  const std::vector<WallMask> every = {kRoot, kLandlock, kIdentity};
  const std::vector<WallMask> procfs = {kOwnProc, kLandlock, kIdentity};
  const std::vector<WallMask> metadata = {kRoot, kIdentity};  // Landlock has no right for it
  const std::vector<Payload> rows = {
      {"write_open", kWriteHostFile, every, kRaised, kFolder},
      {"write_append", kWriteHostFile, every, kRaised, kFolder},
      {"write_truncate", kWriteHostFile, every, kRaised, kFolder},
      {"write_o_tmpfile", kWriteHostFile, every, kRaised, kFolder},
      {"write_create", kWriteHostFile, every, kRaised, kFolder},
      {"write_rename_over", kWriteHostFile, every, kRaised, kFolder},
      {"write_exchange", kWriteHostFile, every, kDone, kFolder},
      {"write_unlink", kWriteHostFile, every, kRaised, kFolder},
      {"write_rmdir", kWriteHostFile, every, kRaised, kFolder},
      {"write_mkdir", kWriteHostFile, every, kRaised, kFolder},
      {"write_symlink", kWriteHostFile, every, kRaised, kFolder},
      {"write_hardlink", kWriteHostFile, every, kRaised, kFolder},
      {"write_chmod", kWriteHostFile, metadata, kRaised, kFolder},
      {"write_chown", kWriteHostFile, metadata, kRaised, kFolder},
      {"write_utime", kWriteHostFile, metadata, kRaised, kFolder},
      {"write_mmap_shared", kWriteHostFile, every, kRaised, kFolder},
      {"write_fallocate", kWriteHostFile, every, kRaised, kFolder},
      {"write_mkfifo", kWriteHostFile, every, kRaised, kFolder},
      {"write_symlink_trick", kWriteHostFile, every, kRaised, kFolder},
      {"write_proc_self_root", kWriteHostFile, every, kRaised, kFolder},
      {"write_victim_cwd", kWriteHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised, kFolder},
      {"write_via_parent_root", kWriteHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised, kFolder},
      {"write_mknod_device",
       kWriteHostFile,
       {kRoot, kLandlock, kIdentity, kSeccomp},
       kRaised,
       kNonce},
      {"write_mknod_tmp", kWriteHostFile, {kRoot, kLandlock, kIdentity, kSeccomp}, kRaised, kNonce},
      {"write_core_pattern", kWriteHostFile, procfs, kRaised, kNonce},
      {"write_proc_sys", kWriteHostFile, procfs, kRaised, kNonce},
      {"write_oom_score", kHostProcess, {kOwnProc, kLandlock, kIdentity}, kRaised, kVictim},
      {"write_cgroup", kWriteHostFile, every, kRaised, kNonce},
      {"write_cgroup_mkdir", kWriteHostFile, every, kRaised, kNonce},
      {"write_sysfs", kWriteHostFile, every, kRaised, kNonce},
      {"write_kmsg", kWriteHostFile, every, kRaised, kNonce},
      {"write_device", kWriteHostFile, every, kRaised, kNonce},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddPrograms(std::vector<Payload>& table) {
  const std::vector<WallMask> every = {kSeccomp, kRoot, kLandlock};
  const std::vector<Payload> rows = {
      {"run_execve", kRunProgram, every, kRaised, kNonce},
      {"run_execveat", kRunProgram, every, kRaised, kNonce},
      // A file without a name lies in no folder: neither the root nor Landlock sees it.
      {"run_memfd", kRunProgram, {kSeccomp}, kDone, kNonce},
      {"run_memfd_exec_flag", kRunProgram, {kSeccomp}, kRaised, kNonce},
      {"run_posix_spawn", kRunProgram, every, kRaised, kNonce},
      {"run_subprocess", kRunProgram, every, kRaised, kNonce},
      {"run_spawnv", kRunProgram, every, kRaised, kNonce},
      {"run_os_system", kRunProgram, every, kRaised, kNonce},
      {"run_libc_system", kRunProgram, every, kDone, kNonce},
      {"run_libc_popen", kRunProgram, every, kDone, kNonce},
      {"run_ld_so", kRunProgram, every, kRaised, kNonce},
      {"run_ld_so_elf", kRunProgram, every, kRaised, kNonce},
      {"run_script", kRunProgram, every, kDone, kNonce},
      {"run_elf", kRunProgram, every, kDone, kNonce},
      {"run_elf_shm", kRunProgram, every, kDone, kNonce},
      {"run_pty", kRunProgram, every, kRaised, kNonce},
      {"run_python", kRunProgram, every, kRaised, kNonce},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddSockets(std::vector<Payload>& table) {
  const std::vector<Payload> rows = {
      {"tcp_connect", kConnectTcp, {kNet, kSeccomp, kLandlock}, kRaised, kListeners},
      {"tcp_connect_v6", kConnectTcp, {kNet, kSeccomp, kLandlock}, kRaised, kListeners},
      {"tcp_connect_raw", kConnectTcp, {kNet, kSeccomp, kLandlock}, kDone, kListeners},
      {"tcp_listen", kConnectTcp, {kNet, kSeccomp, kLandlock}, kRaised, kKnock},
      // Landlock guards connect(); data with the first packet does not call it.
      {"tcp_fastopen", kConnectTcp, {kNet, kSeccomp}, kRaised, kListeners},
      {"tcp_mptcp", kConnectTcp, {kNet, kSeccomp}, kRaised, kListeners},
      {"udp_send", kOtherSockets, {kNet, kSeccomp}, kRaised, kListeners},
      {"udp_send_v6", kOtherSockets, {kNet, kSeccomp}, kRaised, kListeners},
      {"udp_send_raw", kOtherSockets, {kNet, kSeccomp, kIdentity}, kRaised, kListeners},
      {"udp_send_packet", kOtherSockets, {kNet, kSeccomp, kIdentity}, kRaised, kListeners},
      {"netlink_addresses", kOtherSockets, {kNet, kSeccomp}, kRaised, kNonce},
      {"unix_connect", kHostUnixSocket, {kRoot, kSeccomp}, kRaised, kListeners},
      {"unix_datagram", kHostUnixSocket, {kRoot, kSeccomp}, kRaised, kListeners},
      {"unix_socketpair_sendto", kHostUnixSocket, {kRoot, kSeccomp}, kRaised, kListeners},
      {"abstract_connect", kHostUnixSocket, {kNet, kSeccomp, kLandlock}, kRaised, kListeners},
      {"abstract_datagram", kHostUnixSocket, {kNet, kSeccomp, kLandlock}, kRaised, kListeners},
      {"abstract_socketpair_sendto",
       kHostUnixSocket,
       {kNet, kSeccomp, kLandlock},
       kRaised,
       kListeners},
      {"vsock_socket", kKernelSurface, {kSeccomp}, kDone, kNonce},
      {"alg_socket", kKernelSurface, {kSeccomp}, kDone, kNonce},
      {"bluetooth_socket", kKernelSurface, {kSeccomp}, kDone, kNonce},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddKernelCalls(std::vector<Payload>& table) {
  const std::vector<WallMask> filter = {kSeccomp};
  const std::vector<WallMask> privileged = {kSeccomp, kIdentity};
  const std::vector<WallMask> process = {kSeccomp, kIdentity, kPids, kLandlock};
  const std::vector<Payload> rows = {
      {"bpf_map", kKernelSurface, privileged, kDone, kNonce},
      {"io_uring_ring", kKernelSurface, filter, kDone, kNonce},
      {"keyctl_session", kKernelSurface, privileged, kDone, kSecret},
      {"keyctl_join", kKernelSurface, filter, kDone, kNonce},
      {"add_key", kKernelSurface, filter, kDone, kNonce},
      {"request_key", kKernelSurface, filter, kDone, kNonce},
      {"userfaultfd", kKernelSurface, filter, kDone, kNonce},
      {"perf_event", kKernelSurface, filter, kDone, kNonce},
      {"mount_tmpfs", kKernelSurface, {kSeccomp, kIdentity, kRoot, kLandlock}, kDone, kMounts},
      {"umount", kKernelSurface, {kSeccomp, kIdentity, kRoot, kLandlock}, kDone, kMounts},
      {"mount_bind", kKernelSurface, {kSeccomp, kIdentity, kLandlock}, kDone, kNonce},
      {"open_tree", kKernelSurface, privileged, kDone, kNonce},
      {"fsopen", kKernelSurface, privileged, kDone, kNonce},
      {"mount_setattr", kKernelSurface, filter, kDone, kNonce},
      {"pivot_root", kKernelSurface, privileged, kDone, kNonce},
      {"chroot", kKernelSurface, privileged, kDone, kNonce},
      {"unshare_user", kKernelSurface, filter, kDone, kNonce},
      {"unshare_mount", kKernelSurface, privileged, kDone, kNonce},
      {"unshare_net", kKernelSurface, privileged, kDone, kNonce},
      {"setns", kKernelSurface, privileged, kDone, kNonce},
      {"clone_newuser", kKernelSurface, filter, kDone, kNonce},
      {"clone_newuser_high_bits", kKernelSurface, filter, kDone, kNonce},
      {"clone3_newuser", kKernelSurface, filter, kDone, kNonce},
      {"ptrace_victim", kKernelSurface, process, kDone, kSecret},
      {"ptrace_parent", kKernelSurface, {kSeccomp, kIdentity, kLandlock}, kDone, kNonce},
      {"ptrace_traceme", kKernelSurface, filter, kDone, kNonce},
      {"process_vm_readv", kKernelSurface, process, kDone, kSecret},
      {"process_vm_readv_parent", kKernelSurface, {kSeccomp, kIdentity, kLandlock}, kDone, kNonce},
      {"process_vm_writev", kKernelSurface, process, kDone, kVictim},
      {"pidfd_getfd", kKernelSurface, process, kDone, kSecret},
      {"kcmp", kKernelSurface, filter, kDone, kNonce},
      {"fanotify", kKernelSurface, privileged, kDone, kNonce},
      {"personality", kKernelSurface, filter, kDone, kNonce},
      {"modify_ldt", kKernelSurface, filter, kDone, kNonce},
      {"swapon", kKernelSurface, privileged, kDone, kNonce},
      {"acct", kKernelSurface, privileged, kDone, kNonce},
      {"reboot", kKernelSurface, privileged, kDone, kNonce},
      {"settimeofday", kKernelSurface, filter, kDone, kNonce},
      {"adjtimex", kKernelSurface, filter, kDone, kNonce},
      {"sethostname", kKernelSurface, {kSeccomp, kIdentity, kIpcSpace}, kDone, kHostName},
      {"quotactl", kKernelSurface, filter, kDone, kNonce},
      {"syslog", kKernelSurface, filter, kDone, kNonce},
      {"tiocsti", kKernelSurface, {kSeccomp, kIdentity, kRoot, kLandlock}, kRaised, kTerminal},
      {"tiocsti_own", kKernelSurface, {kSeccomp, kRoot, kLandlock}, kRaised, kNonce},
      {"seccomp_listener", kKernelSurface, filter, kDone, kNonce},
      {"x32_call", kKernelSurface, filter, kKilled, kNonce},
      {"int80_call", kKernelSurface, {kSeccomp, kIdentity}, kDone, kNonce},
      {"wx_mapping", kKernelSurface, {kIdentity}, kDone, kNonce},
      {"mprotect_exec", kKernelSurface, {kIdentity}, kDone, kNonce},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddProcesses(std::vector<Payload>& table) {
  const std::vector<WallMask> every = {kPids, kIdentity, kLandlock};
  const std::vector<Payload> rows = {
      {"signal_kill", kHostProcess, every, kRaised, kVictim},
      {"signal_pidfd", kHostProcess, every, kDone, kVictim},
      {"signal_tgkill", kHostProcess, every, kDone, kVictim},
      {"signal_queue", kHostProcess, every, kDone, kVictim},
      {"signal_everyone", kHostProcess, every, kRaised, kVictim},
      {"signal_group", kHostProcess, every, kRaised, kVictim},
      {"signal_owner", kHostProcess, every, kRaised, kVictim},
      // Names of processes are no secret of theirs: only an own procfs hides them.
      {"see_processes", kHostProcess, {kOwnProc}, kDone, kSecret},
      {"see_pidfd", kHostProcess, {kPids}, kDone, kNonce},
      {"see_kill_zero", kHostProcess, every, kDone, kNonce},
      {"nice_victim", kHostProcess, {kPids, kIdentity}, kRaised, kVictim},
      {"prlimit_victim", kHostProcess, {kPids, kIdentity}, kRaised, kVictim},
      {"affinity_victim", kHostProcess, {kPids, kIdentity, kSeccomp}, kRaised, kVictim},
      {"fork_bomb", kForkWithoutBound, {kCgroup, kUserLimits}, kDone, kTasks},
      {"thread_bomb", kForkWithoutBound, {kCgroup, kUserLimits}, kDone, kTasks},
      {"clone_bomb", kForkWithoutBound, {kCgroup, kUserLimits}, kDone, kTasks},
      {"outlive_daemon", kOutlive, {kPids, kCgroup}, kDone, kSurvivor},
      {"outlive_deaf", kOutlive, {kPids, kCgroup}, kDone, kSurvivor},
      {"outlive_respawn", kOutlive, {kPids, kCgroup}, kDone, kSurvivor},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddLimits(std::vector<Payload>& table) {
  const std::vector<Payload> rows = {
      // RLIMIT_DATA leaves 512 MiB of room for thread stacks: it holds far beyond the limit only.
      {"memory_heap", kExceedMemory, {kCgroup}, kTooMuch, kMemory},
      {"memory_mmap", kExceedMemory, {kCgroup}, kTooMuch, kMemory},
      {"memory_far", kExceedMemory, {kCgroup, kRlimits}, kRaised, kNonce},
      {"memory_mmap_shared", kExceedMemory, {kCgroup}, kTooMuch, kMemory},
      {"memory_children", kExceedMemory, {kCgroup}, kTooMuch, kMemory},
      {"memory_shm", kExceedMemory, {kCgroup, kRoot}, kRaised, kMemory},
      {"memory_memfd", kExceedMemory, {kCgroup}, kTooMuch, kMemory},
      {"memory_sysv", kExceedMemory, {kCgroup, kSeccomp}, kRaised, kMemory},
      {"memory_pipes", kExceedMemory, {kCgroup, kIdentity}, kRaised, kMemory},
      {"disk_one_file", kExceedMemory, {kRoot, kRlimits}, kRaised, kNonce},
      {"disk_many_files", kExceedMemory, {kRoot}, kRaised, kNonce},
      {"disk_inodes", kExceedMemory, {kRoot}, kRaised, kNonce},
      {"disk_sparse", kExceedMemory, {kRlimits}, kRaised, kNonce},
      {"disk_descriptors", kExceedMemory, {kRlimits}, kDone, kNonce},
      {"ipc_shm_read", kTouchOthers, {kIpcSpace, kSeccomp}, kDone, kSecret},
      {"ipc_message_send", kTouchOthers, {kIpcSpace, kSeccomp}, kDone, kIpc},
      {"ipc_semaphore_set", kTouchOthers, {kIpcSpace, kSeccomp}, kDone, kIpc},
      {"ipc_mq_send", kTouchOthers, {kIpcSpace, kSeccomp}, kDone, kIpc},
      {"identity_host_root", kGainPrivilege, {kIdentity}, kDone, kNonce},
      {"identity_setuid", kGainPrivilege, {kIdentity}, kDone, kNonce},
      {"identity_setgroups", kGainPrivilege, {kIdentity, kSeccomp}, kRaised, kNonce},
      {"identity_capset", kGainPrivilege, {kIdentity, kSeccomp}, kDone, kNonce},
      {"identity_setgid_file", kGainPrivilege, {kIdentity, kRoot}, kRaised, kNonce},
      {"identity_securebits", kGainPrivilege, {kIdentity, kSeccomp}, kDone, kNonce},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace

const std::vector<Payload>& PayloadTable() {
  static const std::vector<Payload> table = [] {
    std::vector<Payload> rows;
    AddReads(rows);
    AddWrites(rows);
    AddPrograms(rows);
    AddSockets(rows);
    AddKernelCalls(rows);
    AddProcesses(rows);
    AddLimits(rows);
    return rows;
  }();
  return table;
}

std::string_view ClaimText(Claim claim) {
  switch (claim) {
    case kReadHostFile: return "read a host file";
    case kWriteHostFile: return "write a host file";
    case kRunProgram: return "run a program";
    case kConnectTcp: return "open a TCP connection";
    case kOtherSockets: return "use UDP, raw, packet, netlink sockets";
    case kHostUnixSocket: return "reach a host Unix socket";
    case kKernelSurface: return "use dangerous kernel interfaces";
    case kHostProcess: return "signal or see a host process";
    case kForkWithoutBound: return "fork without bound";
    case kExceedMemory: return "exceed memory";
    case kOutlive: return "outlive its execution";
    case kTouchOthers: return "touch another box or the host's objects";
    case kGainPrivilege: return "gain privilege";
  }
  return "";
}

std::string WallNames(WallMask mask) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Wall::kCount)> kNames = {
      "identity", "root",    "pidns",  "netns",   "ipcns",
      "landlock", "seccomp", "cgroup", "rlimits", "interpreter"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((mask & (1u << i)) != 0) text += (text.empty() ? "" : "+") + std::string(kNames.at(i));
  }
  return text.empty() ? "none" : text;
}

}  // namespace glovebox::isolation
