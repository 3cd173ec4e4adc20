#include "python/client/box_factory.h"

#include <linux/sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "sandbox/compile/filters.h"
#include "sandbox/compile/landlock_rules.h"
#include "sandbox/compile/python_box.h"

namespace glovebox::python {
namespace {

namespace fs = std::filesystem;
using sandbox::Wall;

constexpr char kProgramInRoot[] = "/usr/libexec/glovebox-python";

bool ExistsOnHost(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

constexpr char kCertificates[] = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::uint64_t kConnectTcp = 1ull << 1;  // LANDLOCK_ACCESS_NET_CONNECT_TCP

Status FillLandlock(const policy::BoxPolicy& policy, sandbox::Walls walls, bool namespaces,
                    wire::ZygoteSetup& setup, std::vector<std::string>& missing) {
  if (!walls.stands(Wall::kLandlock)) return {};
  const int abi = sandbox::LandlockAbi();
  if (abi < 1) {
    return Error(Errc::kUnsupported,
                 "this kernel has no Landlock (needs Linux 5.13 with lsm=landlock)");
  }
  for (const std::string& what : sandbox::MissingWithLandlockAbi(abi)) {
    missing.push_back("Landlock ABI " + std::to_string(abi) + " does not cover " + what);
  }
  const sandbox::LandlockMasks masks = sandbox::MasksForAbi(abi);
  setup.landlock = {masks.fs, masks.net, masks.scoped, {}};
  // In a network of its own a box may connect, and still listen nowhere.
  if (!setup.network_ports.empty()) setup.landlock.handled_net &= ~kConnectTcp;
  if (!namespaces) setup.own_folder_rights = sandbox::LandlockWritable(abi);
  for (const sandbox::LandlockGrant& grant : namespaces
                                                 ? sandbox::CompileLandlock(policy, abi)
                                                 : sandbox::CompileLandlockOnHost(policy, abi)) {
    // Without a root of its own the box sees the host's, which lacks the box's own folders.
    if (!walls.stands(Wall::kRoot) && !ExistsOnHost(grant.path)) continue;
    setup.landlock.rules.emplace_back(grant.path, grant.allowed);
  }
  return {};
}

std::span<const sock_filter> FilterFor(const BoxFooting& footing, bool network) {
  if (footing.container) return PythonFilterInContainer();
  if (network) {
    return footing.cgroups ? PythonNetworkFilter() : PythonNetworkFilterWithoutCgroup();
  }
  if (!footing.mode.namespaces) return PythonFilterWithoutNamespaces();
  return footing.cgroups ? PythonFilter() : PythonFilterWithoutCgroup();
}

Status FillFilter(sandbox::Walls walls, const BoxFooting& footing, wire::ZygoteSetup& setup) {
  if (!walls.stands(Wall::kSeccomp)) return {};
  const std::span<const sock_filter> filter = FilterFor(footing, !setup.network_ports.empty());
  if (filter.empty()) {
    return Error(Errc::kUnsupported, "there is no system-call filter for this processor");
  }
  setup.filter.assign(filter.begin(), filter.end());
  return {};
}

// sys.path beyond the standard library: what the operator adds, then the machine's own packages.
std::vector<std::string> ModulePaths(const policy::BoxPolicy& policy, const BoxContents& contents) {
  std::vector<std::string> paths = contents.module_paths;
  for (const policy::RootItem& item : policy.root) {
    if (item.kind == policy::RootItemKind::kBind && item.path.ends_with("/dist-packages") &&
        ExistsOnHost(item.path)) {
      paths.push_back(item.path);
    }
  }
  return paths;
}

bool IsBound(const policy::BoxPolicy& policy, const std::string& path) {
  return std::any_of(policy.root.begin(), policy.root.end(), [&](const policy::RootItem& item) {
    return item.kind == policy::RootItemKind::kBind && item.path == path;
  });
}

// Whom programs trust in TLS.
Status AddCertificates(policy::BoxPolicy& policy) {
  if (!ExistsOnHost(kCertificates)) return {};
  TRY(policy::AddGrant({kCertificates, kCertificates, false}, policy));
  for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}) {
    policy.environment.emplace_back(name, kCertificates);
  }
  return {};
}

Result<policy::BoxPolicy> PolicyOf(const BoxContents& contents) {
  policy::BoxPolicy policy = TRY(sandbox::PythonBoxPolicy());
  for (const std::string& path : contents.module_paths) {
    if (!IsBound(policy, path)) TRY(policy::AddGrant({path, path, false}, policy));
  }
  for (const policy::FolderGrant& folder : contents.folders) {
    TRY(policy::AddGrant(folder, policy));
  }
  if (contents.network) {
    policy::AddNetwork(*contents.network, policy);
    TRY(AddCertificates(policy));
  }
  return policy;
}

}  // namespace

Result<BoxFactory> BoxFactory::Prepare(const std::string& zygote_program,
                                       const BoxContents& contents, sandbox::Walls walls,
                                       const BoxFooting& footing) {
  if (contents.network && !walls.stands(Wall::kNetNamespace)) {
    return Error(Errc::kUnsupported,
                 "a box that reaches hosts needs a network namespace of its own, which this host "
                 "does not give (glovebox doctor says why); without it, switch the profile "
                 "network off (SANDBOX_ENABLE_NETWORK)");
  }
  policy::BoxPolicy policy = TRY(PolicyOf(contents));
  // A procfs can only be mounted with power over the PID namespace it shows: our own, or, for host
  // root, any.
  const bool may_mount_proc = walls.stands(Wall::kPidNamespace) || !walls.stands(Wall::kIdentity);
  const sandbox::RootExtras extras = {
      zygote_program, kProgramInRoot,
      may_mount_proc ? sandbox::RootEntryKind::kProc : sandbox::RootEntryKind::kHostProc};
  sandbox::RootLayout root = TRY(sandbox::CompileRoot(policy, extras));
  BoxFactory factory(walls, footing.mode, std::move(policy), std::move(root));
  factory.program_ = walls.stands(Wall::kRoot) ? kProgramInRoot : zygote_program;
  factory.init_program_ = fs::path(zygote_program).replace_filename("glovebox-init").string();
  if (!footing.container && !ExistsOnHost(factory.init_program_)) {
    return Error(Errc::kUnsupported, factory.init_program_ +
                                         " is missing, the first process of every box: install "
                                         "glovebox again");
  }
  wire::ZygoteSetup& setup = factory.setup_;
  setup.walls = walls.bits();
  setup.identity = static_cast<std::uint8_t>(footing.mode.identity);
  setup.namespaces = footing.mode.namespaces;
  setup.stdlib = sandbox::PythonStdlib();
  setup.module_paths = ModulePaths(factory.policy_, contents);
  setup.preimports = contents.preimports;
  setup.rehearse = contents.rehearse;
  setup.makers = contents.makers;
  setup.work_folder = "/work";
  setup.host_name = "box";
  for (const policy::TmpfsItem& item : factory.policy_.tmpfs) {
    setup.tmpfs.push_back(
        {item.path, std::to_string(item.size_bytes), std::to_string(item.inodes)});
  }
  for (const policy::RlimitItem& item : factory.policy_.rlimits) {
    setup.rlimits.emplace_back(item.resource, item.value);
  }
  if (contents.network) setup.network_ports = contents.network->ports;
  TRY(FillLandlock(factory.policy_, walls, footing.mode.namespaces, setup, factory.missing_));
  TRY(FillFilter(walls, footing, setup));
  return factory;
}

sandbox::SpawnRequest BoxFactory::ZygoteSpawn(const std::optional<sandbox::UidRange>& uids) const {
  sandbox::SpawnRequest spawn;
  const bool own_identity = walls_.stands(Wall::kIdentity);
  if (own_identity && mode_.user_namespaces()) spawn.namespaces |= CLONE_NEWUSER;
  if (walls_.stands(Wall::kPidNamespace)) spawn.namespaces |= CLONE_NEWPID;
  if (walls_.stands(Wall::kNetNamespace)) spawn.namespaces |= CLONE_NEWNET;
  if (walls_.stands(Wall::kIpcNamespace)) spawn.namespaces |= CLONE_NEWIPC | CLONE_NEWUTS;
  if (walls_.stands(Wall::kRoot)) {
    spawn.namespaces |= CLONE_NEWNS;
    spawn.root = &root_;
  }
  spawn.uid_base = uids ? uids->base() : ::geteuid();
  spawn.gid_base = uids ? uids->base() : ::getegid();
  spawn.uid_count = uids ? sandbox::kUidsPerRange : 1;
  if (own_identity && mode_.identity == sandbox::IdentitySource::kHostRange) {
    CHECK(uids.has_value());
    spawn.host_uid = uids->base();
    spawn.kept_capabilities =
        mode_.namespaces ? sandbox::kZygoteCapabilities : sandbox::kZygoteUidCapabilities;
    if (!setup_.network_ports.empty()) {
      spawn.kept_capabilities |= sandbox::kZygoteNetworkCapabilities;
    }
  }
  spawn.executable = program_;
  spawn.arguments = {"glovebox-python"};
  for (const auto& [name, value] : policy_.environment) {
    spawn.environment.emplace_back(name).append("=").append(value);
  }
  return spawn;
}

}  // namespace glovebox::python
