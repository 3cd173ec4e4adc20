#include "sandbox/child/identity.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cstring>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

AFTER_FORK int WriteWhole(const char* path, const char* text) noexcept {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ErrnoOf(syscall(SYS_write, fd, text, strlen(text)));
  syscall(SYS_close, fd);
  return error;
}

// From the bounding set: every capability that is not in `kept`.
AFTER_FORK int BoundCapabilities(std::uint64_t kept) noexcept {
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if ((kept >> capability & 1) != 0) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      if (errno == EINVAL && capability > CAP_LAST_CAP) break;  // past this kernel's last one
      return errno;
    }
  }
  return 0;
}

AFTER_FORK int SetCapabilities(std::uint64_t exactly) noexcept {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<std::uint32_t>(exactly);
  const auto high = static_cast<std::uint32_t>(exactly >> 32);
  const __user_cap_data_struct sets[2] = {{low, low, low}, {high, high, high}};
  return ErrnoOf(syscall(SYS_capset, &header, sets));
}

// Verified by doing: nothing may lead back.
AFTER_FORK int ConfirmNoWayBack() noexcept {
  return syscall(SYS_setresuid, 0, 0, 0) == 0 ? EISDIR : 0;
}

}  // namespace

AFTER_FORK int BecomeUser(uid_t id) noexcept {
  if (syscall(SYS_setgroups, 0, nullptr) < 0) return errno;
  if (syscall(SYS_setresgid, id, id, id) < 0) return errno;
  return ErrnoOf(syscall(SYS_setresuid, id, id, id));
}

AFTER_FORK int EnterUserNamespace(const char* map) noexcept {
  // A change of uid made the process undumpable, and an undumpable process's /proc files belong to
  // root: it could not write its own map.
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return errno;
  if (syscall(SYS_unshare, CLONE_NEWUSER) < 0) return errno;
  if (const int error = WriteWhole("/proc/self/setgroups", "deny"); error != 0) return error;
  if (const int error = WriteWhole("/proc/self/uid_map", map); error != 0) return error;
  return WriteWhole("/proc/self/gid_map", map);
}

AFTER_FORK int LoseCapabilities() noexcept {
  constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                  SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) != 0) return errno;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return errno;
  if (const int error = BoundCapabilities(0); error != 0) return error;
  return SetCapabilities(0);
}

AFTER_FORK int DropCapabilities() noexcept {
  if (const int error = LoseCapabilities(); error != 0) return error;
  return ConfirmNoWayBack();
}

AFTER_FORK int ConfirmNoCapabilities() noexcept {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return errno;
  if (const int error = SetCapabilities(0); error != 0) return error;
  return ConfirmNoWayBack();
}

AFTER_FORK int KeepCapabilities(std::uint64_t kept) noexcept {
  if (const int error = BoundCapabilities(kept); error != 0) return error;
  return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

AFTER_FORK int RaiseCapabilities(std::uint64_t kept) noexcept {
  if (const int error = SetCapabilities(kept); error != 0) return error;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if ((kept >> capability & 1) == 0) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return errno;
  }
  return 0;
}

AFTER_FORK int JoinFreshKeyring() noexcept {
  if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) return 0;
  // A kernel without keyrings has none to leak; a container whose filter refuses every question
  // about them keeps the box from them as well.
  if (errno == ENOSYS) return 0;
  if (errno != EPERM) return errno;
  const long id = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  return id < 0 && errno == EPERM ? 0 : EPERM;
}

}  // namespace glovebox::sandbox
