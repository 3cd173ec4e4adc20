#include "sandbox/parent/call_target.h"

#include <arpa/inet.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace glovebox::sandbox {
namespace {

constexpr std::size_t kTextBytesMax = 512;
constexpr std::size_t kPageBytes = 4096;
constexpr std::string_view kUnreadable = "<unreadable>";

enum class Kind : std::uint8_t {
  kText,          // a C string at argument `first`
  kAddress,       // a socket address at `first`, its length in `second`
  kFamily,        // a socket family in `first`, a type in `second`
  kNamespaces,    // CLONE_NEW* flags in `first`
  kNamespacesAt,  // the same, in the struct clone_args at `first`
  kProcess,       // a process id in `first`
  kNumber,        // a number with a name: "request 21523"
};

struct Shape {
  std::string_view call;
  Kind kind;
  std::uint8_t first;
  std::uint8_t second;
  std::string_view word;  // of kNumber
};

constexpr Shape kShapes[] = {
    {"execve", Kind::kText, 0, 0, ""},
    {"execveat", Kind::kText, 1, 0, ""},
    {"open", Kind::kText, 0, 0, ""},
    {"openat", Kind::kText, 1, 0, ""},
    {"creat", Kind::kText, 0, 0, ""},
    {"stat", Kind::kText, 0, 0, ""},
    {"lstat", Kind::kText, 0, 0, ""},
    {"newfstatat", Kind::kText, 1, 0, ""},
    {"statx", Kind::kText, 1, 0, ""},
    {"mkdir", Kind::kText, 0, 0, ""},
    {"mkdirat", Kind::kText, 1, 0, ""},
    {"rmdir", Kind::kText, 0, 0, ""},
    {"unlink", Kind::kText, 0, 0, ""},
    {"unlinkat", Kind::kText, 1, 0, ""},
    {"rename", Kind::kText, 1, 0, ""},
    {"renameat", Kind::kText, 3, 0, ""},
    {"renameat2", Kind::kText, 3, 0, ""},
    {"link", Kind::kText, 1, 0, ""},
    {"linkat", Kind::kText, 3, 0, ""},
    {"symlink", Kind::kText, 1, 0, ""},
    {"symlinkat", Kind::kText, 2, 0, ""},
    {"truncate", Kind::kText, 0, 0, ""},
    {"socket", Kind::kFamily, 0, 1, ""},
    {"socketpair", Kind::kFamily, 0, 1, ""},
    {"connect", Kind::kAddress, 1, 2, ""},
    {"bind", Kind::kAddress, 1, 2, ""},
    {"sendto", Kind::kAddress, 4, 5, ""},
    {"setsockopt", Kind::kNumber, 2, 0, "option"},
    {"ptrace", Kind::kProcess, 1, 0, ""},
    {"process_vm_readv", Kind::kProcess, 0, 0, ""},
    {"process_vm_writev", Kind::kProcess, 0, 0, ""},
    {"kcmp", Kind::kProcess, 0, 0, ""},
    {"migrate_pages", Kind::kProcess, 0, 0, ""},
    {"move_pages", Kind::kProcess, 0, 0, ""},
    {"sched_setaffinity", Kind::kProcess, 0, 0, ""},
    {"mount", Kind::kText, 1, 0, ""},
    {"umount2", Kind::kText, 0, 0, ""},
    {"pivot_root", Kind::kText, 0, 0, ""},
    {"chroot", Kind::kText, 0, 0, ""},
    {"open_tree", Kind::kText, 1, 0, ""},
    {"move_mount", Kind::kText, 3, 0, ""},
    {"mount_setattr", Kind::kText, 1, 0, ""},
    {"fspick", Kind::kText, 1, 0, ""},
    {"fsopen", Kind::kText, 0, 0, ""},
    {"unshare", Kind::kNamespaces, 0, 0, ""},
    {"clone", Kind::kNamespaces, 0, 0, ""},
    {"clone3", Kind::kNamespacesAt, 0, 0, ""},
    {"setns", Kind::kNamespaces, 1, 0, ""},
    {"keyctl", Kind::kNumber, 0, 0, "operation"},
    {"add_key", Kind::kText, 0, 0, ""},
    {"request_key", Kind::kText, 0, 0, ""},
    {"bpf", Kind::kNumber, 0, 0, "command"},
    {"io_uring_setup", Kind::kNumber, 0, 0, "entries"},
    {"name_to_handle_at", Kind::kText, 1, 0, ""},
    {"swapon", Kind::kText, 0, 0, ""},
    {"swapoff", Kind::kText, 0, 0, ""},
    {"acct", Kind::kText, 0, 0, ""},
    {"mq_open", Kind::kText, 0, 0, ""},
    {"mq_unlink", Kind::kText, 0, 0, ""},
    {"mknod", Kind::kText, 0, 0, ""},
    {"mknodat", Kind::kText, 1, 0, ""},
    {"ioctl", Kind::kNumber, 1, 0, "request"},
    {"fcntl", Kind::kNumber, 1, 0, "command"},
    {"prctl", Kind::kNumber, 0, 0, "option"},
    {"personality", Kind::kNumber, 0, 0, "persona"},
    {"syslog", Kind::kNumber, 0, 0, "action"},
    {"setuid", Kind::kNumber, 0, 0, "uid"},
    {"setresuid", Kind::kNumber, 0, 0, "uid"},
    {"setreuid", Kind::kNumber, 0, 0, "uid"},
    {"setfsuid", Kind::kNumber, 0, 0, "uid"},
    {"setgid", Kind::kNumber, 0, 0, "gid"},
    {"setresgid", Kind::kNumber, 0, 0, "gid"},
    {"setregid", Kind::kNumber, 0, 0, "gid"},
    {"setfsgid", Kind::kNumber, 0, 0, "gid"},
    {"shmget", Kind::kNumber, 0, 0, "key"},
    {"semget", Kind::kNumber, 0, 0, "key"},
    {"msgget", Kind::kNumber, 0, 0, "key"},
};

std::string FamilyName(unsigned family) {
  switch (family) {
    case AF_UNIX: return "AF_UNIX";
    case AF_INET: return "AF_INET";
    case AF_INET6: return "AF_INET6";
    case AF_NETLINK: return "AF_NETLINK";
    case AF_PACKET: return "AF_PACKET";
    case AF_ALG: return "AF_ALG";
    case AF_VSOCK: return "AF_VSOCK";
    case AF_BLUETOOTH: return "AF_BLUETOOTH";
    case AF_CAN: return "AF_CAN";
    case AF_XDP: return "AF_XDP";
    default: return "family " + std::to_string(family);
  }
}

std::string TypeName(unsigned type) {
  switch (type & 0xF) {  // the flags are above
    case SOCK_STREAM: return "SOCK_STREAM";
    case SOCK_DGRAM: return "SOCK_DGRAM";
    case SOCK_RAW: return "SOCK_RAW";
    case SOCK_SEQPACKET: return "SOCK_SEQPACKET";
    default: return "type " + std::to_string(type & 0xF);
  }
}

std::string NamespaceNames(std::uint64_t flags) {
  static constexpr std::array<std::pair<std::uint64_t, std::string_view>, 8> kNames = {{
      {CLONE_NEWUSER, "user"},
      {CLONE_NEWNS, "mount"},
      {CLONE_NEWPID, "pid"},
      {CLONE_NEWNET, "net"},
      {CLONE_NEWIPC, "ipc"},
      {CLONE_NEWUTS, "uts"},
      {CLONE_NEWCGROUP, "cgroup"},
      {0x80 /* CLONE_NEWTIME */, "time"},
  }};
  std::string names;
  for (const auto& [flag, name] : kNames) {
    if ((flags & flag) != 0) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

std::optional<std::uint64_t> ReadCloneFlags(std::uint64_t address, const MemoryReader& read) {
  const std::optional<std::string> bytes = read(address, sizeof(std::uint64_t));
  if (!bytes || bytes->size() != sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t flags = 0;
  std::memcpy(&flags, bytes->data(), sizeof(flags));
  return flags;
}

// A page at a time: the string may end just before memory that is not there.
std::string ReadText(std::uint64_t address, const MemoryReader& read) {
  std::string text;
  while (text.size() < kTextBytesMax) {
    const std::uint64_t at = address + text.size();
    const std::size_t size = std::min(kTextBytesMax - text.size(),
                                      kPageBytes - static_cast<std::size_t>(at % kPageBytes));
    const std::optional<std::string> part = read(at, size);
    if (!part) return text.empty() ? std::string(kUnreadable) : text;
    const std::size_t end = part->find('\0');
    text.append(*part, 0, end);
    if (end != std::string::npos || part->size() < size) break;
  }
  return text;
}

template <typename Address>
std::string WithPort(int family, const void* host, const Address& address, bool brackets) {
  std::array<char, INET6_ADDRSTRLEN> name = {};
  ::inet_ntop(family, host, name.data(), name.size());
  const std::string text(name.data());
  const auto port = ntohs(brackets ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return (brackets ? "[" + text + "]" : text) + ":" + std::to_string(port);
}

std::string UnixName(std::string_view path) {
  if (path.empty()) return "unix: unnamed";
  if (path.front() != '\0') return "unix:" + std::string(path.substr(0, path.find('\0')));
  return "unix:@" + std::string(path.substr(1));
}

std::string ReadAddress(std::uint64_t address, std::uint64_t length, const MemoryReader& read) {
  if (address == 0) return {};
  const std::size_t size =
      static_cast<std::size_t>(std::min<std::uint64_t>(length, sizeof(sockaddr_storage)));
  const std::optional<std::string> bytes = read(address, size);
  if (!bytes || bytes->size() < sizeof(sa_family_t)) return std::string(kUnreadable);
  sockaddr_storage storage = {};
  std::memcpy(&storage, bytes->data(), bytes->size());
  if (storage.ss_family == AF_INET && bytes->size() >= sizeof(sockaddr_in)) {
    const auto& internet = reinterpret_cast<const sockaddr_in&>(storage);
    return WithPort(AF_INET, &internet.sin_addr, storage, false);
  }
  if (storage.ss_family == AF_INET6 && bytes->size() >= offsetof(sockaddr_in6, sin6_scope_id)) {
    const auto& internet = reinterpret_cast<const sockaddr_in6&>(storage);
    return WithPort(AF_INET6, &internet.sin6_addr, storage, true);
  }
  if (storage.ss_family == AF_UNIX) {
    return UnixName(std::string_view(*bytes).substr(offsetof(sockaddr_un, sun_path)));
  }
  return FamilyName(storage.ss_family);
}

}  // namespace

MemoryReader MemoryOf(pid_t pid) {
  return [pid](std::uint64_t address, std::size_t size) -> std::optional<std::string> {
    std::string bytes(size, '\0');
    const iovec ours = {bytes.data(), bytes.size()};
    const iovec theirs = {reinterpret_cast<void*>(address), size};
    const ssize_t got = ::process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
    if (got <= 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  };
}

bool LeadsToLoopback(std::span<const std::uint64_t, 6> arguments, const MemoryReader& read) {
  const auto length = static_cast<std::uint32_t>(arguments[2]);
  const std::size_t size = std::min<std::size_t>(length, sizeof(sockaddr_storage));
  const std::optional<std::string> bytes = read(arguments[1], size);
  if (!bytes || bytes->size() != size) return false;
  sockaddr_storage storage = {};
  std::memcpy(&storage, bytes->data(), size);
  if (storage.ss_family == AF_INET && size >= sizeof(sockaddr_in)) {
    const auto& internet = reinterpret_cast<const sockaddr_in&>(storage);
    return ntohl(internet.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (storage.ss_family == AF_INET6 && size >= offsetof(sockaddr_in6, sin6_scope_id)) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
  }
  return false;
}

bool IsNotable(std::string_view call, std::span<const std::uint64_t, 6> arguments,
               const MemoryReader& read) {
  if (call != "clone3") return true;
  const auto flags = ReadCloneFlags(arguments[0], read);
  return !flags || !NamespaceNames(*flags).empty();
}

std::string DescribeTarget(std::string_view call, std::span<const std::uint64_t, 6> arguments,
                           const MemoryReader& read) {
  const auto shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                  [call](const Shape& one) { return one.call == call; });
  if (shape == std::end(kShapes)) return {};
  const std::uint64_t first = arguments[shape->first];
  const std::uint64_t second = arguments[shape->second];
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  switch (shape->kind) {
    case Kind::kText: return first == 0 ? std::string() : ReadText(first, read);
    case Kind::kAddress: return ReadAddress(first, low(second), read);
    case Kind::kFamily: return FamilyName(low(first)) + " " + TypeName(low(second));
    case Kind::kNamespaces: return NamespaceNames(low(first));
    case Kind::kNamespacesAt: {
      const auto flags = ReadCloneFlags(first, read);
      return flags ? NamespaceNames(*flags) : std::string(kUnreadable);
    }
    case Kind::kProcess: return "process " + std::to_string(static_cast<std::int32_t>(low(first)));
    case Kind::kNumber: return std::string(shape->word) + " " + std::to_string(low(first));
  }
  return {};
}

}  // namespace glovebox::sandbox
