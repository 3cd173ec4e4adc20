#include "doctor/report_json.h"

#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "doctor/report_fixture.h"

namespace glovebox::doctor {
namespace {

// With keys in the order of docs/doctor.md; serialised again, so that blanks do
// not count.
std::string Compact(const char* text) { return boost::json::serialize(boost::json::parse(text)); }

TEST(ReportJsonTest, HasTheDocumentedShape) {
  EXPECT_EQ(boost::json::serialize(ReportJson(Sick())), Compact(R"__({
    "glovebox": "1.2.3", "strength": "none", "exit_code": 3,
    "verdict": "glovebox serve cannot run here", "kernel": "Linux 6.1.0 x86_64",
    "user": "uid 1000", "setting": null,
    "walls": [
      {"name": "identity", "what": "a user nobody else has", "stands": false,
       "reason": "making namespaces: No space left on device (ENOSPC)",
       "cause": "user.max_user_namespaces is 0: nobody may make a user namespace",
       "fix": "sysctl -w user.max_user_namespaces=15000"},
      {"name": "pid namespace", "what": "own processes", "stands": false,
       "reason": "making namespaces: No space left on device (ENOSPC)",
       "cause": "user.max_user_namespaces is 0: nobody may make a user namespace",
       "fix": "sysctl -w user.max_user_namespaces=15000"},
      {"name": "seccomp", "what": "an allow-list of system calls", "stands": true}],
    "landlock": {"abi": 3, "lacks": ["TCP", "signals"]},
    "cgroups": {"layout": "hybrid", "controllers": [
      {"name": "memory", "version": 1, "directory": "/sys/fs/cgroup/memory"}]},
    "limits_tier": null,
    "python": {"path": "/usr/bin/python3", "version": "3.11.2", "built_for": "3.11",
               "reason": null},
    "packages": [
      {"module": "numpy", "debian": "python3-numpy", "installed": true, "version": "1.24.2"},
      {"module": "sklearn", "debian": "python3-sklearn", "installed": false, "version": null}],
    "runtimes": [
      {"name": "runsc", "path": null, "version": null},
      {"name": "docker", "path": "/usr/bin/docker", "version": "28.2.2"}],
    "box": {"ran": false, "code": "print(2+2)",
            "reason": "making namespaces: No space left on device"},
    "container": {"ran": false, "runtime": null, "reason": null}})__"));
}

TEST(ReportJsonTest, ABoxThatRanTellsItsTimes) {
  const boost::json::object document = ReportJson(Healthy());
  EXPECT_EQ(boost::json::serialize(document.at("box")), Compact(R"__({
    "ran": true, "code": "print(2+2)", "allow_degraded": false, "output": "4",
    "start_seconds": 0.125,
    "run_seconds": 0.001953125, "missing_walls": []})__"));
  EXPECT_EQ(document.at("limits_tier"), "cgroup");
  EXPECT_EQ(document.at("exit_code"), 0);
}

TEST(ReportJsonTest, AContainerThatRanTellsItsRuntime) {
  HostReport report = Healthy();
  report.container = {true, "gVisor (runsc, platform ptrace)", 0.5, 0.125, ""};
  EXPECT_EQ(boost::json::serialize(ReportJson(report).at("container")), Compact(R"__({
    "ran": true, "runtime": "gVisor (runsc, platform ptrace)",
    "start_seconds": 0.5, "run_seconds": 0.125})__"));
}

}  // namespace
}  // namespace glovebox::doctor
