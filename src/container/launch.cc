#include "container/launch.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace glovebox::container {
namespace {

// Runtimes insist on this one: it holds which devices a container may use.
constexpr std::string_view kKept = "devices";

bool Contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The mounts to be hidden, from a text in the form of /proc/self/mountinfo. A host that has nothing
// but version 2 keeps it: there is no other way to name a group there.
std::vector<std::string> HiddenMounts(std::string_view mountinfo) {
  std::vector<std::string> hidden;
  bool has_version_1 = false;
  std::vector<std::string> version_2;
  for (const std::string_view line : Split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> front = Split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> back = Split(line.substr(dash + 3), ' ');
    if (front.size() < 5 || back.size() < 3) continue;
    const std::string mount_point(front[4]);
    if (back[0] == "cgroup2") version_2.push_back(mount_point);
    if (back[0] != "cgroup") continue;
    has_version_1 = true;
    if (!Contains(Split(back[2], ','), kKept)) hidden.push_back(mount_point);
  }
  if (has_version_1) hidden.insert(hidden.end(), version_2.begin(), version_2.end());
  return hidden;
}

}  // namespace

int HideCgroupsAndExec(char* const* argv) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    std::perror("glovebox-python: making a mount namespace");
    return 125;
  }
  for (const std::string& path : HiddenMounts(ReadFile("/proc/self/mountinfo").value_or(""))) {
    if (::umount2(path.c_str(), MNT_DETACH) == 0) continue;
    std::perror(("glovebox-python: hiding " + path).c_str());
    return 125;
  }
  ::execv(argv[0], argv);
  std::perror(argv[0]);
  return 125;
}

int OutliveAndExec(char* const* argv) {
  if (::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) != 0) {
    std::perror("glovebox-python: outliving the server");
    return 125;
  }
  ::execv(argv[0], argv);
  std::perror(argv[0]);
  return 125;
}

}  // namespace glovebox::container
