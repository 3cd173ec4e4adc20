#include "payload_table.h"

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

void AddReads(std::vector<Payload>& table) {
  const std::vector<Payload> rows = {
      {"read_open", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_os_open", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_openat_dirfd", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_o_path_reopen", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_mmap", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_symlink_out", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_proc_1_root", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"read_proc_self_root", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_dotdot", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_thread_self_cwd", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_sendfile", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_splice", kReadHostFile, {kRoot, kLandlock, kSeccomp}, kRaised},
      {"read_copy_file_range", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_ctypes_fopen", kReadHostFile, {kRoot, kLandlock}, kDone},
      {"read_fileio_opener", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_open_code", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_openat2", kReadHostFile, {kRoot, kLandlock, kSeccomp}, kDone},
      {"read_listdir", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_getdents", kReadHostFile, {kRoot, kLandlock}, kRaised},
      {"read_run_path", kReadHostFile, {kRoot, kLandlock}, kRaised},
      // Landlock knows no right for the text of a link or for metadata: the root alone holds.
      {"read_readlink", kReadHostFile, {kRoot}, kRaised},
      {"read_stat", kReadHostFile, {kRoot}, kRaised},
      // CAP_PERFMON reads environments past Landlock.
      {"read_victim_environ", kHostProcess, {kOwnProc, kIdentity}, kRaised},
      {"read_victim_cmdline", kHostProcess, {kOwnProc}, kRaised},
      {"read_victim_root", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"read_victim_cwd", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"read_victim_fd", kReadHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"read_victim_mem", kHostProcess, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"read_parent_mem", kHostProcess, {kLandlock, kIdentity}, kRaised},
      {"read_handle_tmpfs", kReadHostFile, {kRoot, kLandlock, kIdentity, kSeccomp}, kRaised},
      // The runtime lies on the same disk: with every capability the root alone does not hold.
      {"read_handle_disk", kReadHostFile, {kLandlock, kIdentity, kSeccomp}, kDone},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddWrites(std::vector<Payload>& table) {
  const std::vector<WallMask> every = {kRoot, kLandlock, kIdentity};
  const std::vector<WallMask> procfs = {kOwnProc, kLandlock, kIdentity};
  const std::vector<WallMask> metadata = {kRoot, kIdentity};  // Landlock has no right for it
  const std::vector<Payload> rows = {
      {"write_open", kWriteHostFile, every, kRaised},
      {"write_append", kWriteHostFile, every, kRaised},
      {"write_truncate", kWriteHostFile, every, kRaised},
      {"write_o_tmpfile", kWriteHostFile, every, kRaised},
      {"write_create", kWriteHostFile, every, kRaised},
      {"write_rename_over", kWriteHostFile, every, kRaised},
      {"write_exchange", kWriteHostFile, every, kDone},
      {"write_unlink", kWriteHostFile, every, kRaised},
      {"write_rmdir", kWriteHostFile, every, kRaised},
      {"write_mkdir", kWriteHostFile, every, kRaised},
      {"write_symlink", kWriteHostFile, every, kRaised},
      {"write_hardlink", kWriteHostFile, every, kRaised},
      {"write_chmod", kWriteHostFile, metadata, kRaised},
      {"write_chown", kWriteHostFile, metadata, kRaised},
      {"write_utime", kWriteHostFile, metadata, kRaised},
      {"write_mmap_shared", kWriteHostFile, every, kRaised},
      {"write_fallocate", kWriteHostFile, every, kRaised},
      {"write_mkfifo", kWriteHostFile, every, kRaised},
      {"write_symlink_trick", kWriteHostFile, every, kRaised},
      {"write_proc_self_root", kWriteHostFile, every, kRaised},
      {"write_victim_cwd", kWriteHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"write_via_parent_root", kWriteHostFile, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"write_mknod_device", kWriteHostFile, {kRoot, kLandlock, kIdentity, kSeccomp}, kRaised},
      {"write_mknod_tmp", kWriteHostFile, {kRoot, kLandlock, kIdentity, kSeccomp}, kRaised},
      {"write_core_pattern", kWriteHostFile, procfs, kRaised},
      {"write_proc_sys", kWriteHostFile, procfs, kRaised},
      {"write_oom_score", kHostProcess, {kOwnProc, kLandlock, kIdentity}, kRaised},
      {"write_cgroup", kWriteHostFile, every, kRaised},
      {"write_cgroup_mkdir", kWriteHostFile, every, kRaised},
      {"write_sysfs", kWriteHostFile, every, kRaised},
      {"write_kmsg", kWriteHostFile, every, kRaised},
      {"write_device", kWriteHostFile, every, kRaised},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddPrograms(std::vector<Payload>& table) {
  const std::vector<WallMask> every = {kSeccomp, kRoot, kLandlock};
  const std::vector<Payload> rows = {
      {"run_execve", kRunProgram, every, kRaised},
      {"run_execveat", kRunProgram, every, kRaised},
      // A file without a name lies in no folder: neither the root nor Landlock sees it.
      {"run_memfd", kRunProgram, {kSeccomp}, kDone},
      {"run_memfd_exec_flag", kRunProgram, {kSeccomp}, kRaised},
      {"run_posix_spawn", kRunProgram, every, kRaised},
      {"run_subprocess", kRunProgram, every, kRaised},
      {"run_spawnv", kRunProgram, every, kRaised},
      {"run_os_system", kRunProgram, every, kRaised},
      {"run_libc_system", kRunProgram, every, kDone},
      {"run_libc_popen", kRunProgram, every, kDone},
      {"run_ld_so", kRunProgram, every, kRaised},
      {"run_ld_so_elf", kRunProgram, every, kRaised},
      {"run_script", kRunProgram, every, kDone},
      {"run_elf", kRunProgram, every, kDone},
      {"run_elf_shm", kRunProgram, every, kDone},
      {"run_pty", kRunProgram, every, kRaised},
      {"run_python", kRunProgram, every, kRaised},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddSockets(std::vector<Payload>& table) {
  const std::vector<Payload> rows = {
      {"tcp_connect", kConnectTcp, {kNet, kSeccomp, kLandlock}, kRaised},
      {"tcp_connect_v6", kConnectTcp, {kNet, kSeccomp, kLandlock}, kRaised},
      {"tcp_connect_raw", kConnectTcp, {kNet, kSeccomp, kLandlock}, kDone},
      {"tcp_listen", kConnectTcp, {kNet, kSeccomp, kLandlock}, kRaised},
      // Landlock guards connect(); data with the first packet does not call it.
      {"tcp_fastopen", kConnectTcp, {kNet, kSeccomp}, kRaised},
      {"tcp_mptcp", kConnectTcp, {kNet, kSeccomp}, kRaised},
      {"udp_send", kOtherSockets, {kNet, kSeccomp}, kRaised},
      {"udp_send_v6", kOtherSockets, {kNet, kSeccomp}, kRaised},
      {"udp_send_raw", kOtherSockets, {kNet, kSeccomp, kIdentity}, kRaised},
      {"udp_send_packet", kOtherSockets, {kNet, kSeccomp, kIdentity}, kRaised},
      {"netlink_addresses", kOtherSockets, {kNet, kSeccomp}, kRaised},
      {"unix_connect", kHostUnixSocket, {kRoot, kSeccomp}, kRaised},
      {"unix_datagram", kHostUnixSocket, {kRoot, kSeccomp}, kRaised},
      {"unix_socketpair_sendto", kHostUnixSocket, {kRoot, kSeccomp}, kRaised},
      {"abstract_connect", kHostUnixSocket, {kNet, kSeccomp, kLandlock}, kRaised},
      {"abstract_datagram", kHostUnixSocket, {kNet, kSeccomp, kLandlock}, kRaised},
      {"abstract_socketpair_sendto", kHostUnixSocket, {kNet, kSeccomp, kLandlock}, kRaised},
      {"vsock_socket", kKernelSurface, {kSeccomp}, kDone},
      {"alg_socket", kKernelSurface, {kSeccomp}, kDone},
      {"bluetooth_socket", kKernelSurface, {kSeccomp}, kDone},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddKernelCalls(std::vector<Payload>& table) {
  const std::vector<WallMask> filter = {kSeccomp};
  const std::vector<WallMask> privileged = {kSeccomp, kIdentity};
  const std::vector<WallMask> process = {kSeccomp, kIdentity, kPids, kLandlock};
  const std::vector<Payload> rows = {
      {"bpf_map", kKernelSurface, privileged, kDone},
      {"io_uring_ring", kKernelSurface, filter, kDone},
      {"keyctl_session", kKernelSurface, privileged, kDone},
      {"keyctl_join", kKernelSurface, filter, kDone},
      {"add_key", kKernelSurface, filter, kDone},
      {"request_key", kKernelSurface, filter, kDone},
      {"userfaultfd", kKernelSurface, filter, kDone},
      {"perf_event", kKernelSurface, filter, kDone},
      {"mount_tmpfs", kKernelSurface, {kSeccomp, kIdentity, kRoot, kLandlock}, kDone},
      {"umount", kKernelSurface, {kSeccomp, kIdentity, kRoot, kLandlock}, kDone},
      {"mount_bind", kKernelSurface, {kSeccomp, kIdentity, kLandlock}, kDone},
      {"open_tree", kKernelSurface, privileged, kDone},
      {"fsopen", kKernelSurface, privileged, kDone},
      {"mount_setattr", kKernelSurface, filter, kDone},
      {"pivot_root", kKernelSurface, privileged, kDone},
      {"chroot", kKernelSurface, privileged, kDone},
      {"unshare_user", kKernelSurface, filter, kDone},
      {"unshare_mount", kKernelSurface, privileged, kDone},
      {"unshare_net", kKernelSurface, privileged, kDone},
      {"setns", kKernelSurface, privileged, kDone},
      {"clone_newuser", kKernelSurface, filter, kDone},
      {"clone_newuser_high_bits", kKernelSurface, filter, kDone},
      {"clone3_newuser", kKernelSurface, filter, kDone},
      {"ptrace_victim", kKernelSurface, process, kDone},
      {"ptrace_parent", kKernelSurface, {kSeccomp, kIdentity, kLandlock}, kDone},
      {"ptrace_traceme", kKernelSurface, filter, kDone},
      {"process_vm_readv", kKernelSurface, process, kDone},
      {"process_vm_readv_parent", kKernelSurface, {kSeccomp, kIdentity, kLandlock}, kDone},
      {"process_vm_writev", kKernelSurface, process, kDone},
      {"pidfd_getfd", kKernelSurface, process, kDone},
      {"kcmp", kKernelSurface, filter, kDone},
      {"fanotify", kKernelSurface, privileged, kDone},
      {"personality", kKernelSurface, filter, kDone},
      {"modify_ldt", kKernelSurface, filter, kDone},
      {"swapon", kKernelSurface, privileged, kDone},
      {"acct", kKernelSurface, privileged, kDone},
      {"reboot", kKernelSurface, privileged, kDone},
      {"settimeofday", kKernelSurface, filter, kDone},
      {"adjtimex", kKernelSurface, filter, kDone},
      {"sethostname", kKernelSurface, {kSeccomp, kIdentity, kIpcSpace}, kDone},
      {"quotactl", kKernelSurface, filter, kDone},
      {"syslog", kKernelSurface, filter, kDone},
      {"tiocsti", kKernelSurface, {kSeccomp, kIdentity, kRoot, kLandlock}, kRaised},
      {"tiocsti_own", kKernelSurface, {kSeccomp, kRoot, kLandlock}, kRaised},
      {"seccomp_listener", kKernelSurface, filter, kDone},
      {"x32_call", kKernelSurface, filter, kKilled},
      {"int80_call", kKernelSurface, {kSeccomp, kIdentity}, kDone},
      {"wx_mapping", kKernelSurface, {kIdentity}, kDone},
      {"mprotect_exec", kKernelSurface, {kIdentity}, kDone},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddProcesses(std::vector<Payload>& table) {
  const std::vector<WallMask> every = {kPids, kIdentity, kLandlock};
  const std::vector<Payload> rows = {
      {"signal_kill", kHostProcess, every, kRaised},
      {"signal_pidfd", kHostProcess, every, kDone},
      {"signal_tgkill", kHostProcess, every, kDone},
      {"signal_queue", kHostProcess, every, kDone},
      {"signal_everyone", kHostProcess, every, kRaised},
      {"signal_group", kHostProcess, every, kRaised},
      {"signal_owner", kHostProcess, every, kRaised},
      // Names of processes are no secret of theirs: only an own procfs hides them.
      {"see_processes", kHostProcess, {kOwnProc}, kDone},
      {"see_pidfd", kHostProcess, {kPids}, kDone},
      {"see_kill_zero", kHostProcess, every, kDone},
      {"nice_victim", kHostProcess, {kPids, kIdentity}, kRaised},
      {"prlimit_victim", kHostProcess, {kPids, kIdentity}, kRaised},
      {"affinity_victim", kHostProcess, {kPids, kIdentity, kSeccomp}, kRaised},
      {"fork_bomb", kForkWithoutBound, {kCgroup, kUserLimits}, kDone},
      {"thread_bomb", kForkWithoutBound, {kCgroup, kUserLimits}, kDone},
      {"clone_bomb", kForkWithoutBound, {kCgroup, kUserLimits}, kDone},
      {"outlive_daemon", kOutlive, {kPids, kCgroup}, kDone},
      {"outlive_deaf", kOutlive, {kPids, kCgroup}, kDone},
      {"outlive_respawn", kOutlive, {kPids, kCgroup}, kDone},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

void AddLimits(std::vector<Payload>& table) {
  const std::vector<Payload> rows = {
      // RLIMIT_DATA leaves 512 MiB of room for thread stacks: it holds far beyond the limit only.
      {"memory_heap", kExceedMemory, {kCgroup}, kTooMuch},
      {"memory_mmap", kExceedMemory, {kCgroup}, kTooMuch},
      {"memory_far", kExceedMemory, {kCgroup, kRlimits}, kRaised},
      {"memory_mmap_shared", kExceedMemory, {kCgroup}, kTooMuch},
      {"memory_children", kExceedMemory, {kCgroup}, kTooMuch},
      {"memory_shm", kExceedMemory, {kCgroup, kRoot}, kRaised},
      {"memory_memfd", kExceedMemory, {kCgroup}, kTooMuch},
      {"memory_sysv", kExceedMemory, {kCgroup, kSeccomp}, kRaised},
      {"memory_pipes", kExceedMemory, {kCgroup, kIdentity}, kRaised},
      {"disk_one_file", kExceedMemory, {kRoot, kRlimits}, kRaised},
      {"disk_many_files", kExceedMemory, {kRoot}, kRaised},
      {"disk_inodes", kExceedMemory, {kRoot}, kRaised},
      {"disk_sparse", kExceedMemory, {kRlimits}, kRaised},
      {"disk_descriptors", kExceedMemory, {kRlimits}, kDone},
      {"ipc_shm_read", kTouchOthers, {kIpcSpace, kSeccomp}, kDone},
      {"ipc_message_send", kTouchOthers, {kIpcSpace, kSeccomp}, kDone},
      {"ipc_semaphore_set", kTouchOthers, {kIpcSpace, kSeccomp}, kDone},
      {"ipc_mq_send", kTouchOthers, {kIpcSpace, kSeccomp}, kDone},
      {"identity_host_root", kGainPrivilege, {kIdentity}, kDone},
      {"identity_setuid", kGainPrivilege, {kIdentity}, kDone},
      {"identity_setgroups", kGainPrivilege, {kIdentity, kSeccomp}, kRaised},
      {"identity_capset", kGainPrivilege, {kIdentity, kSeccomp}, kDone},
      {"identity_setgid_file", kGainPrivilege, {kIdentity, kRoot}, kRaised},
      {"identity_securebits", kGainPrivilege, {kIdentity, kSeccomp}, kDone},
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

}  // namespace glovebox::isolation
