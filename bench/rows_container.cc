#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "program.h"
#include "rows.h"

namespace glovebox::bench {
namespace {

namespace json = boost::json;

constexpr char kUnifiedHierarchy[] = "/sys/fs/cgroup/unified";

json::object ReadOnlyBind(const char* path) {
  return {{"destination", path},
          {"type", "bind"},
          {"source", path},
          {"options", {"rbind", "ro", "nosuid", "nodev"}}};
}

// A container that sees the host's /usr read-only and runs `workload`: what a careful person would
// write, without a filter, as the runtimes have none by themselves.
json::object Configuration(const Workload& workload) {
  return {
      {"ociVersion", "1.0.2"},
      {"root", {{"path", "rootfs"}, {"readonly", true}}},
      {"process",
       {{"terminal", false},
        {"user", {{"uid", 65534}, {"gid", 65534}}},
        {"cwd", "/"},
        {"env", {"PATH=/usr/bin", "LANG=C.UTF-8"}},
        {"noNewPrivileges", true},
        {"args", {"/usr/bin/python3", "-I", "-S", "-c", workload.code}}}},
      {"mounts",
       {ReadOnlyBind("/usr"),
        {{"destination", "/proc"}, {"type", "proc"}, {"source", "proc"}},
        {{"destination", "/dev"}, {"type", "tmpfs"}, {"source", "tmpfs"}},
        {{"destination", "/tmp"}, {"type", "tmpfs"}, {"source", "tmpfs"}}}},
      {"linux",
       {{"namespaces",
         {{{"type", "pid"}},
          {{"type", "mount"}},
          {{"type", "ipc"}},
          {{"type", "uts"}},
          {{"type", "network"}}}}}},
  };
}

// Writes the bundle of `workload` and returns its folder.
std::string WriteBundle(const std::string& folder, const Workload& workload) {
  std::string bundle = folder + "/bundle_" + workload.name;
  const std::filesystem::path root = bundle + "/rootfs";
  for (const char* name : {"usr", "proc", "dev", "tmp", "etc"}) {
    std::filesystem::create_directories(root / name);
  }
  for (const char* name : {"bin", "lib", "lib64"}) {
    std::filesystem::create_directory_symlink(std::string("usr/") + name, root / name);
  }
  std::ofstream(bundle + "/config.json") << json::serialize(Configuration(workload)) << "\n";
  return bundle;
}

// crun refuses hosts that have both cgroup hierarchies. Runs a program where the second one is out
// of sight: from a thread with a mount namespace of its own, which costs some 0.1 ms.
Status RunWithOneHierarchy(const std::vector<std::string>& arguments, const std::string& output) {
  if (::access(kUnifiedHierarchy, F_OK) != 0) return RunProgram(arguments, output);
  Status done = Error(Errc::kInternal, "not run");
  std::thread([&] {
    if (::unshare(CLONE_FS | CLONE_NEWNS) < 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0 ||
        ::umount2(kUnifiedHierarchy, MNT_DETACH) < 0) {
      done = Error::FromErrno("hiding the unified cgroup hierarchy", errno);
      return;
    }
    done = RunProgram(arguments, output);
  }).join();
  return done;
}

// A name for each container: runtimes keep their state by it.
std::string NextName() {
  static int count = 0;
  return "glovebox-bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

}  // namespace

void AddContainerRows(Rows& rows, const Places& places) {
  const std::string bundle = WriteBundle(places.folder, kPrint);
  const std::string state = places.folder + "/state";
  rows.AddPeer({.name = "crun",
                .state = "fresh container",
                .walls = "namespaces, no capabilities, cgroup",
                .every = 2,
                .once = [=] {
                  return RunWithOneHierarchy(
                      {"/usr/bin/crun", "--root", state, "run", "--bundle", bundle, NextName()},
                      kPrint.output);
                }});
  rows.AddPeer({.name = "runc",
                .state = "fresh container",
                .walls = "namespaces, no capabilities, cgroup",
                .every = 2,
                .once = [=] {
                  return RunProgram(
                      {"/usr/sbin/runc", "--root", state, "run", "--bundle", bundle, NextName()},
                      kPrint.output);
                }});
  for (const char* platform : {"systrap", "kvm", "ptrace"}) {
    rows.AddPeer({.name = std::string("gVisor runsc, ") + platform,
                  .state = "fresh container",
                  .walls = "a kernel in user space, namespaces",
                  .every = kSeldom,
                  .calls = 1,
                  .once = [=] {
                    return RunProgram({"/usr/bin/runsc", "--root", state, "--network=none",
                                       "--ignore-cgroups", std::string("--platform=") + platform,
                                       "run", "--bundle", bundle, NextName()},
                                      kPrint.output);
                  }});
  }
}

}  // namespace glovebox::bench
