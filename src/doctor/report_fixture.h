#pragma once

// Reports of a host without user namespaces and of one that lacks nothing, for
// tests.

#include "doctor/host_report.h"

namespace glovebox::doctor {

inline constexpr const char* kFix = "sysctl -w user.max_user_namespaces=15000";

inline HostReport Sick() {
  HostReport report;
  report.glovebox_version = "1.2.3";
  report.kernel = "Linux 6.1.0 x86_64";
  report.user = "uid 1000";
  const Trouble trouble = {"making namespaces: No space left on device (ENOSPC)",
                           "user.max_user_namespaces is 0: nobody may make a user namespace", kFix};
  report.walls = {{"identity", "a user nobody else has", trouble},
                  {"pid namespace", "own processes", trouble},
                  {"seccomp", "an allow-list of system calls", std::nullopt}};
  report.landlock = {3, {"TCP", "signals"}};
  report.cgroups = {"hybrid", {{"memory", 1, "/sys/fs/cgroup/memory"}}};
  report.runtimes = {{"runsc", "", ""}, {"docker", "/usr/bin/docker", "28.2.2"}};
  report.python = {"/usr/bin/python3", "3.11.2", "3.11", ""};
  report.packages = {{"numpy", "python3-numpy", "1.24.2"}, {"sklearn", "python3-sklearn", ""}};
  report.box.code = "print(2+2)";
  report.box.reason = "making namespaces: No space left on device";
  report.verdict = "glovebox serve cannot run here";
  return report;
}

inline HostReport Healthy() {
  HostReport report = Sick();
  for (WallReport& wall : report.walls) wall.trouble.reset();
  report.box = {true, false, "print(2+2)", "4", 0.125, 0.001953125, "cgroup", {}, ""};
  report.strength = Strength::kFull;
  report.verdict = "glovebox serve runs here at full strength";
  return report;
}

}  // namespace glovebox::doctor
