#include "sandbox/compile/landlock_rules.h"

#include <sys/stat.h>

namespace glovebox::sandbox {
namespace {

// The kernel's interface (uapi/linux/landlock.h); written out because distributions' headers stop
// at an older ABI than their kernels.
constexpr std::uint64_t kExecute = 1ull << 0;
constexpr std::uint64_t kWriteFile = 1ull << 1;
constexpr std::uint64_t kReadFile = 1ull << 2;
constexpr std::uint64_t kReadDir = 1ull << 3;
constexpr std::uint64_t kMakeChar = 1ull << 6;
constexpr std::uint64_t kMakeSocket = 1ull << 9;
constexpr std::uint64_t kMakeBlock = 1ull << 11;
constexpr std::uint64_t kTruncate = 1ull << 14;     // ABI 3
constexpr std::uint64_t kIoctlDevice = 1ull << 15;  // ABI 5
constexpr std::uint64_t kResolveUnix = 1ull << 16;  // ABI 9

constexpr std::uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;

bool Exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

bool IsDirectory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

std::vector<std::string> MissingWithLandlockAbi(int abi) {
  std::vector<std::string> missing;
  if (abi < 1) missing.emplace_back("files");
  if (abi < 3) missing.emplace_back("truncation");
  if (abi < 4) missing.emplace_back("TCP");
  if (abi < 5) missing.emplace_back("device ioctls");
  if (abi < 6) missing.emplace_back("signals and abstract sockets");
  return missing;
}

std::uint64_t LandlockWritable(int abi) {
  return MasksForAbi(abi).fs &
         ~(kExecute | kMakeChar | kMakeBlock | kMakeSocket | kIoctlDevice | kResolveUnix);
}

std::uint64_t LandlockRights(int abi, LandlockUse use, bool folder) {
  std::uint64_t rights = 0;
  switch (use) {
    case LandlockUse::kList: rights = kReadDir; break;
    case LandlockUse::kRead: rights = kReadFile | kReadDir; break;
    case LandlockUse::kExecute: rights = kReadFile | kReadDir | kExecute; break;
    case LandlockUse::kWrite: rights = LandlockWritable(abi); break;
    case LandlockUse::kOwn: rights = LandlockWritable(abi) | kExecute; break;
    case LandlockUse::kDevice: rights = kReadFile | kWriteFile; break;
  }
  return MasksForAbi(abi).fs & rights & (folder ? ~0ull : kFileRights);
}

std::vector<LandlockGrant> CompileLandlockOnHost(const policy::BoxPolicy& policy, int abi) {
  policy::BoxPolicy shared;
  for (const policy::RootItem& item : policy.root) {
    if (item.kind != policy::RootItemKind::kBind && item.kind != policy::RootItemKind::kDevice) {
      continue;
    }
    shared.root.push_back(item);
    shared.root.back().path = item.source();
  }
  std::vector<LandlockGrant> grants = CompileLandlock(shared, abi);
  std::erase_if(grants, [](const LandlockGrant& grant) { return grant.path == "/proc"; });
  return grants;
}

std::vector<LandlockGrant> CompileLandlock(const policy::BoxPolicy& policy, int abi) {
  const std::uint64_t known = MasksForAbi(abi).fs;
  const std::uint64_t writable = LandlockWritable(abi);
  std::vector<LandlockGrant> grants;
  // `source` is what appears at `path`: the kernel refuses a directory's rights on a file.
  const auto grant = [&](const std::string& path, std::uint64_t rights, const std::string& source) {
    grants.push_back({path, known & rights & (IsDirectory(source) ? ~0ull : kFileRights)});
  };
  for (const policy::RootItem& item : policy.root) {
    if (item.optional && !Exists(item.path)) continue;
    if (item.kind == policy::RootItemKind::kBind) {
      grant(item.path, item.writable ? writable : kReadFile | kReadDir, item.source());
    }
    if (item.kind == policy::RootItemKind::kDevice) {
      grant(item.path, kReadFile | kWriteFile, item.path);
    }
    if (item.kind == policy::RootItemKind::kFile) grant(item.path, kReadFile, item.path);
  }
  grant("/proc", kReadFile | kReadDir, "/proc");
  for (const policy::TmpfsItem& item : policy.tmpfs) {
    grants.push_back({item.path, writable});
  }
  return grants;
}

}  // namespace glovebox::sandbox
