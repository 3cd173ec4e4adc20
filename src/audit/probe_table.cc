#include <algorithm>
#include <array>

#include "audit/probe.h"
#include "audit/program.h"

namespace glovebox::audit {
namespace {

using F = Family;
using W = Witness;

constexpr std::array kProbes = {
    // FileSystemAccess
    Probe{"read_etc_passwd", F::kFileSystemAccess, W::kAnswer, kPlain},
    Probe{"list_home_directory", F::kFileSystemAccess, W::kAnswer, kPlain},
    Probe{"get_user_info", F::kFileSystemAccess, W::kAnswer, kPlain},
    Probe{"write_to_tmp", F::kFileSystemAccess, W::kLeft, kPlain},
    // CommandExecution
    Probe{"subprocess_whoami", F::kCommandExecution, W::kAnswer, kPlain},
    Probe{"os_system_uname", F::kCommandExecution, W::kAnswer, kPlain},
    Probe{"subprocess_ps_aux", F::kCommandExecution, W::kSecret, kPlain},
    Probe{"import_pty", F::kCommandExecution, W::kAnswer, kPlain | kNoEffect},
    // NetworkAccess
    Probe{"dns_lookup", F::kNetworkAccess, W::kListeners, kPlain},
    Probe{"connect_port_80", F::kNetworkAccess, W::kListeners, kPlain},
    Probe{"import_requests", F::kNetworkAccess, W::kAnswer, kPlain | kNoEffect},
    Probe{"import_urllib_request", F::kNetworkAccess, W::kAnswer, kPlain | kNoEffect},
    Probe{"import_http_client", F::kNetworkAccess, W::kAnswer, kPlain | kNoEffect},
    Probe{"open_local_socket", F::kNetworkAccess, W::kKnock, kPlain},
    // SystemResources
    Probe{"system_info", F::kSystemResources, W::kAnswer, kPlain},
    Probe{"process_info", F::kSystemResources, W::kSecret, kPlain},
    Probe{"environment_variables", F::kSystemResources, W::kSecret, kPlain},
    Probe{"import_sys", F::kSystemResources, W::kAnswer, kPlain | kNoEffect},
    Probe{"import_os_path", F::kSystemResources, W::kAnswer, kPlain | kNoEffect},
    Probe{"import_ctypes", F::kSystemResources, W::kAnswer, kPlain | kNoEffect},
    Probe{"import_signal", F::kSystemResources, W::kAnswer, kPlain | kNoEffect},
    // FileReads
    Probe{"read_open", F::kFileReads, W::kSecret},
    Probe{"read_os_open", F::kFileReads, W::kSecret},
    Probe{"read_openat_dirfd", F::kFileReads, W::kSecret},
    Probe{"read_o_path_reopen", F::kFileReads, W::kSecret},
    Probe{"read_mmap", F::kFileReads, W::kSecret},
    Probe{"read_symlink_out", F::kFileReads, W::kSecret},
    Probe{"read_proc_1_root", F::kFileReads, W::kSecret},
    Probe{"read_proc_self_root", F::kFileReads, W::kSecret},
    Probe{"read_dotdot", F::kFileReads, W::kSecret},
    Probe{"read_thread_self_cwd", F::kFileReads, W::kSecret},
    Probe{"read_sendfile", F::kFileReads, W::kSecret},
    Probe{"read_splice", F::kFileReads, W::kSecret},
    Probe{"read_copy_file_range", F::kFileReads, W::kSecret},
    Probe{"read_ctypes_fopen", F::kFileReads, W::kSecret},
    Probe{"read_fileio_opener", F::kFileReads, W::kSecret},
    Probe{"read_open_code", F::kFileReads, W::kSecret},
    Probe{"read_openat2", F::kFileReads, W::kSecret},
    Probe{"read_listdir", F::kFileReads, W::kSecret},
    Probe{"read_getdents", F::kFileReads, W::kSecret},
    Probe{"read_run_path", F::kFileReads, W::kSecret},
    Probe{"read_readlink", F::kFileReads, W::kSecret},
    Probe{"read_stat", F::kFileReads, W::kNonce},
    Probe{"read_victim_root", F::kFileReads, W::kSecret},
    Probe{"read_victim_cwd", F::kFileReads, W::kSecret},
    Probe{"read_victim_fd", F::kFileReads, W::kSecret},
    Probe{"read_handle_tmpfs", F::kFileReads, W::kSecret},
    Probe{"read_handle_disk", F::kFileReads, W::kSecret},
    // FileWrites
    Probe{"write_open", F::kFileWrites, W::kFolder},
    Probe{"write_append", F::kFileWrites, W::kFolder},
    Probe{"write_truncate", F::kFileWrites, W::kFolder},
    Probe{"write_o_tmpfile", F::kFileWrites, W::kFolder},
    Probe{"write_create", F::kFileWrites, W::kFolder},
    Probe{"write_rename_over", F::kFileWrites, W::kFolder},
    Probe{"write_exchange", F::kFileWrites, W::kFolder},
    Probe{"write_unlink", F::kFileWrites, W::kFolder},
    Probe{"write_rmdir", F::kFileWrites, W::kFolder},
    Probe{"write_mkdir", F::kFileWrites, W::kFolder},
    Probe{"write_symlink", F::kFileWrites, W::kFolder},
    Probe{"write_hardlink", F::kFileWrites, W::kFolder},
    Probe{"write_chmod", F::kFileWrites, W::kFolder},
    Probe{"write_chown", F::kFileWrites, W::kFolder},
    Probe{"write_utime", F::kFileWrites, W::kFolder},
    Probe{"write_mmap_shared", F::kFileWrites, W::kFolder},
    Probe{"write_fallocate", F::kFileWrites, W::kFolder},
    Probe{"write_mkfifo", F::kFileWrites, W::kFolder},
    Probe{"write_symlink_trick", F::kFileWrites, W::kFolder},
    Probe{"write_proc_self_root", F::kFileWrites, W::kFolder},
    Probe{"write_victim_cwd", F::kFileWrites, W::kFolder},
    Probe{"write_via_parent_root", F::kFileWrites, W::kFolder},
    Probe{"write_mknod_device", F::kFileWrites, W::kNonce},
    Probe{"write_mknod_tmp", F::kFileWrites, W::kNonce},
    Probe{"write_core_pattern", F::kFileWrites, W::kNonce},
    Probe{"write_proc_sys", F::kFileWrites, W::kNonce},
    Probe{"write_cgroup", F::kFileWrites, W::kNonce},
    Probe{"write_cgroup_mkdir", F::kFileWrites, W::kNonce},
    Probe{"write_sysfs", F::kFileWrites, W::kNonce},
    Probe{"write_kmsg", F::kFileWrites, W::kNonce},
    Probe{"write_device", F::kFileWrites, W::kNonce},
    // Programs
    Probe{"run_execve", F::kPrograms, W::kNonce},
    Probe{"run_execveat", F::kPrograms, W::kNonce},
    Probe{"run_memfd", F::kPrograms, W::kNonce},
    Probe{"run_memfd_exec_flag", F::kPrograms, W::kNonce},
    Probe{"run_posix_spawn", F::kPrograms, W::kNonce},
    Probe{"run_subprocess", F::kPrograms, W::kNonce},
    Probe{"run_spawnv", F::kPrograms, W::kNonce},
    Probe{"run_os_system", F::kPrograms, W::kNonce},
    Probe{"run_libc_system", F::kPrograms, W::kNonce},
    Probe{"run_libc_popen", F::kPrograms, W::kNonce},
    Probe{"run_ld_so", F::kPrograms, W::kNonce},
    Probe{"run_ld_so_elf", F::kPrograms, W::kNonce},
    Probe{"run_script", F::kPrograms, W::kNonce},
    Probe{"run_elf", F::kPrograms, W::kNonce},
    Probe{"run_elf_shm", F::kPrograms, W::kNonce},
    Probe{"run_pty", F::kPrograms, W::kNonce},
    Probe{"run_python", F::kPrograms, W::kNonce},
    // Sockets
    Probe{"tcp_connect", F::kSockets, W::kListeners},
    Probe{"tcp_connect_v6", F::kSockets, W::kListeners},
    Probe{"tcp_connect_raw", F::kSockets, W::kListeners},
    Probe{"tcp_listen", F::kSockets, W::kKnock},
    Probe{"tcp_fastopen", F::kSockets, W::kListeners},
    Probe{"tcp_mptcp", F::kSockets, W::kListeners},
    Probe{"udp_send", F::kSockets, W::kListeners},
    Probe{"udp_send_v6", F::kSockets, W::kListeners},
    Probe{"udp_send_raw", F::kSockets, W::kListeners},
    Probe{"udp_send_packet", F::kSockets, W::kListeners},
    Probe{"netlink_addresses", F::kSockets, W::kNonce},
    Probe{"unix_connect", F::kSockets, W::kListeners},
    Probe{"unix_datagram", F::kSockets, W::kListeners},
    Probe{"unix_socketpair_sendto", F::kSockets, W::kListeners},
    Probe{"abstract_connect", F::kSockets, W::kListeners},
    Probe{"abstract_datagram", F::kSockets, W::kListeners},
    Probe{"abstract_socketpair_sendto", F::kSockets, W::kListeners},
    Probe{"vsock_socket", F::kSockets, W::kNonce},
    Probe{"alg_socket", F::kSockets, W::kNonce},
    Probe{"bluetooth_socket", F::kSockets, W::kNonce},
    // KernelCalls
    Probe{"bpf_map", F::kKernelCalls, W::kNonce},
    Probe{"io_uring_ring", F::kKernelCalls, W::kNonce},
    Probe{"keyctl_session", F::kKernelCalls, W::kSecret},
    Probe{"keyctl_join", F::kKernelCalls, W::kNonce},
    Probe{"add_key", F::kKernelCalls, W::kNonce},
    Probe{"request_key", F::kKernelCalls, W::kNonce},
    Probe{"userfaultfd", F::kKernelCalls, W::kNonce},
    Probe{"perf_event", F::kKernelCalls, W::kNonce},
    Probe{"fanotify", F::kKernelCalls, W::kNonce},
    Probe{"personality", F::kKernelCalls, W::kNonce},
    Probe{"modify_ldt", F::kKernelCalls, W::kNonce},
    Probe{"swapon", F::kKernelCalls, W::kNonce},
    Probe{"acct", F::kKernelCalls, W::kNonce},
    Probe{"reboot", F::kKernelCalls, W::kNonce},
    Probe{"settimeofday", F::kKernelCalls, W::kNonce},
    Probe{"adjtimex", F::kKernelCalls, W::kNonce},
    Probe{"quotactl", F::kKernelCalls, W::kNonce},
    Probe{"syslog", F::kKernelCalls, W::kNonce},
    Probe{"seccomp_listener", F::kKernelCalls, W::kNonce},
    Probe{"x32_call", F::kKernelCalls, W::kNonce},
    Probe{"int80_call", F::kKernelCalls, W::kNonce},
    Probe{"wx_mapping", F::kKernelCalls, W::kNonce},
    Probe{"mprotect_exec", F::kKernelCalls, W::kNonce},
    // Namespaces
    Probe{"mount_tmpfs", F::kNamespaces, W::kMounts},
    Probe{"umount", F::kNamespaces, W::kMounts, kHurtsHost},
    Probe{"mount_bind", F::kNamespaces, W::kNonce},
    Probe{"open_tree", F::kNamespaces, W::kNonce},
    Probe{"fsopen", F::kNamespaces, W::kNonce},
    Probe{"mount_setattr", F::kNamespaces, W::kNonce},
    Probe{"pivot_root", F::kNamespaces, W::kNonce},
    Probe{"chroot", F::kNamespaces, W::kNonce},
    Probe{"unshare_user", F::kNamespaces, W::kNonce},
    Probe{"unshare_mount", F::kNamespaces, W::kNonce},
    Probe{"unshare_net", F::kNamespaces, W::kNonce},
    Probe{"setns", F::kNamespaces, W::kNonce},
    Probe{"clone_newuser", F::kNamespaces, W::kNonce},
    Probe{"clone_newuser_high_bits", F::kNamespaces, W::kNonce},
    Probe{"clone3_newuser", F::kNamespaces, W::kNonce},
    Probe{"sethostname", F::kNamespaces, W::kHostName, kHurtsHost},
    // Processes
    Probe{"read_victim_environ", F::kProcesses, W::kSecret},
    Probe{"read_victim_cmdline", F::kProcesses, W::kSecret},
    Probe{"read_victim_mem", F::kProcesses, W::kSecret},
    Probe{"read_parent_mem", F::kProcesses, W::kNonce},
    Probe{"write_oom_score", F::kProcesses, W::kVictim},
    Probe{"ptrace_victim", F::kProcesses, W::kSecret},
    Probe{"ptrace_parent", F::kProcesses, W::kNonce},
    Probe{"ptrace_traceme", F::kProcesses, W::kNonce},
    Probe{"process_vm_readv", F::kProcesses, W::kSecret},
    Probe{"process_vm_readv_parent", F::kProcesses, W::kNonce},
    Probe{"process_vm_writev", F::kProcesses, W::kVictim},
    Probe{"pidfd_getfd", F::kProcesses, W::kSecret},
    Probe{"kcmp", F::kProcesses, W::kNonce},
    Probe{"signal_kill", F::kProcesses, W::kVictim},
    Probe{"signal_pidfd", F::kProcesses, W::kVictim},
    Probe{"signal_tgkill", F::kProcesses, W::kVictim},
    Probe{"signal_queue", F::kProcesses, W::kVictim},
    Probe{"signal_everyone", F::kProcesses, W::kVictim, kHurtsHost},
    Probe{"signal_group", F::kProcesses, W::kVictim},
    Probe{"signal_owner", F::kProcesses, W::kVictim},
    Probe{"see_processes", F::kProcesses, W::kSecret},
    Probe{"see_pidfd", F::kProcesses, W::kNonce},
    Probe{"see_kill_zero", F::kProcesses, W::kNonce},
    Probe{"nice_victim", F::kProcesses, W::kVictim},
    Probe{"prlimit_victim", F::kProcesses, W::kVictim},
    Probe{"affinity_victim", F::kProcesses, W::kVictim},
    // Ipc
    Probe{"ipc_shm_read", F::kIpc, W::kSecret},
    Probe{"ipc_message_send", F::kIpc, W::kIpc},
    Probe{"ipc_semaphore_set", F::kIpc, W::kIpc},
    Probe{"ipc_mq_send", F::kIpc, W::kIpc},
    // Terminals
    Probe{"tiocsti", F::kTerminals, W::kTerminal},
    Probe{"tiocsti_own", F::kTerminals, W::kNonce},
    // Identity
    Probe{"identity_host_root", F::kIdentity, W::kNonce},
    Probe{"identity_setuid", F::kIdentity, W::kNonce},
    Probe{"identity_setgroups", F::kIdentity, W::kNonce},
    Probe{"identity_capset", F::kIdentity, W::kNonce},
    Probe{"identity_setgid_file", F::kIdentity, W::kNonce},
    Probe{"identity_securebits", F::kIdentity, W::kNonce},
    // Descriptors
    Probe{"inherited_file", F::kDescriptors, W::kSecret, kPlain},
    Probe{"inherited_folder", F::kDescriptors, W::kSecret, kPlain},
    Probe{"inherited_by_proc", F::kDescriptors, W::kSecret, kPlain},
    // Limits
    Probe{"fork_bomb", F::kLimits, W::kTasks},
    Probe{"thread_bomb", F::kLimits, W::kTasks},
    Probe{"clone_bomb", F::kLimits, W::kTasks},
    Probe{"memory_heap", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_mmap", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_far", F::kLimits, W::kNonce, kManyBytes},
    Probe{"memory_mmap_shared", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_children", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_shm", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_memfd", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_sysv", F::kLimits, W::kMemory, kManyBytes},
    Probe{"memory_pipes", F::kLimits, W::kMemory, kManyBytes},
    Probe{"disk_one_file", F::kLimits, W::kNonce},
    Probe{"disk_many_files", F::kLimits, W::kNonce},
    Probe{"disk_inodes", F::kLimits, W::kNonce},
    Probe{"disk_sparse", F::kLimits, W::kNonce},
    Probe{"disk_descriptors", F::kLimits, W::kNonce},
    // Leaks
    Probe{"leak_host_name", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_machine_id", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_boot_id", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_kernel_command_line", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_firmware", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_interfaces", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_disks", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_listening_ports", F::kLeaks, W::kFact, kPlain},
    Probe{"leak_environment", F::kLeaks, W::kSecret, kPlain},
    // Persistence
    Probe{"outlive_daemon", F::kPersistence, W::kSurvivor},
    Probe{"outlive_deaf", F::kPersistence, W::kSurvivor},
    Probe{"outlive_respawn", F::kPersistence, W::kSurvivor},
    Probe{"leave_in_tmp", F::kPersistence, W::kLeft, kPlain},
    Probe{"leave_in_var_tmp", F::kPersistence, W::kLeft, kPlain},
    Probe{"leave_in_shared_memory", F::kPersistence, W::kLeft, kPlain},
    Probe{"leave_in_home", F::kPersistence, W::kLeft, kPlain},
    // Neighbours
    Probe{"neighbour_file_past", F::kNeighbours, W::kNeighbour, kPlain | kAfterFirst},
    Probe{"neighbour_shared_memory_past", F::kNeighbours, W::kNeighbour, kPlain | kAfterFirst},
    Probe{"neighbour_interpreter_past", F::kNeighbours, W::kNeighbour, kPlain | kAfterFirst},
    Probe{"neighbour_file_live", F::kNeighbours, W::kNeighbour, kPlain | kBesideFirst},
    Probe{"neighbour_shared_memory_live", F::kNeighbours, W::kNeighbour, kPlain | kBesideFirst},
    Probe{"neighbour_abstract_socket_live", F::kNeighbours, W::kNeighbour, kPlain | kBesideFirst},
    Probe{"neighbour_loopback_live", F::kNeighbours, W::kNeighbour, kPlain | kBesideFirst},
    Probe{"neighbour_process_live", F::kNeighbours, W::kNeighbour, kPlain | kBesideFirst},
    // Language
    Probe{"language_subclasses", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_generator_frame", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_traceback_frame", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_format_string", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_function_globals", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_module_loader", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_builtins_walk", F::kLanguage, W::kSecret, kPlain},
    Probe{"language_pickle_protocol", F::kLanguage, W::kSecret, kPlain},
};

struct FamilyWords {
  std::string_view name;
  std::string_view title;
  std::string_view threat;
};

constexpr std::array<FamilyWords, kFamilyCount> kFamilies = {{
    {"file_system_access", "File System Access", "read or write files of the host"},
    {"command_execution", "Command Execution", "run programs"},
    {"network_access", "Network Access", "use the network"},
    {"system_resources", "System Resources", "see what the host is and does"},
    {"file_reads", "Reading Host Files", "read files of the host"},
    {"file_writes", "Changing Host Files", "change files of the host"},
    {"programs", "Running Programs", "run programs"},
    {"sockets", "Sockets by Family", "reach sockets outside of the box"},
    {"kernel_calls", "Dangerous System Calls", "use dangerous interfaces of the kernel"},
    {"namespaces", "Namespaces and Mounts", "make namespaces, mounts or roots of its own"},
    {"processes", "Other Processes", "see, signal, read or change processes of the host"},
    {"ipc", "System V and POSIX IPC", "use queues, semaphores and memory of the host"},
    {"terminals", "Terminals", "type into terminals"},
    {"identity", "Identity and Capabilities", "become another user or gain a capability"},
    {"descriptors", "Inherited Descriptors", "use descriptors that were left open"},
    {"limits", "Limits", "use more than it was given"},
    {"leaks", "Leaks", "learn which host it is on, or its secrets"},
    {"persistence", "Persistence", "leave something behind"},
    {"neighbours", "One Box Against Another", "get at another execution, alive or past"},
    {"language", "Ways Around the Language", "get from plain Python objects to the machine"},
}};

}  // namespace

std::span<const Probe> Probes() { return kProbes; }

const Probe* FindProbe(std::string_view name) {
  const auto found = std::find_if(kProbes.begin(), kProbes.end(),
                                  [&](const Probe& probe) { return probe.name == name; });
  return found == kProbes.end() ? nullptr : &*found;
}

std::string_view ProbeTitle(const Probe& probe) {
  std::string_view text = ProgramSource(probe.name);
  text = text.substr(0, text.find('\n'));
  if (text.starts_with("# ")) text.remove_prefix(2);
  if (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

std::string_view FamilyName(Family family) {
  return kFamilies.at(static_cast<std::size_t>(family)).name;
}
std::string_view FamilyTitle(Family family) {
  return kFamilies.at(static_cast<std::size_t>(family)).title;
}
std::string_view FamilyThreat(Family family) {
  return kFamilies.at(static_cast<std::size_t>(family)).threat;
}

std::string_view WitnessText(Witness witness) {
  switch (witness) {
    case W::kNonce: return "the program, by a word it could not know otherwise";
    case W::kAnswer: return "the program's answer, held against the host's";
    case W::kSecret: return "a secret of the host in the output";
    case W::kNeighbour: return "another execution's secret in the output";
    case W::kFact: return "an identity of the host in the output";
    case W::kFolder: return "the host's canary folder";
    case W::kLeft: return "the host's folders after the end";
    case W::kListeners: return "the host's listeners and resolver";
    case W::kKnock: return "a knock at the port from the host";
    case W::kVictim: return "a victim process of the host";
    case W::kTasks: return "tasks counted on the host";
    case W::kMemory: return "memory measured on the host";
    case W::kSurvivor: return "processes of the host after the end";
    case W::kTerminal: return "a terminal of the host";
    case W::kHostName: return "the host's name";
    case W::kMounts: return "the host's mounts";
    case W::kIpc: return "the host's queues and semaphores";
  }
  return "";
}

}  // namespace glovebox::audit
