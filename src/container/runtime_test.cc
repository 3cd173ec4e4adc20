#include "container/runtime.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container/podman.h"

namespace glovebox::container {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Runtime Of(RuntimeKind kind, const std::string& platform = "") {
  return {kind, "/usr/bin/x", platform, "/l/glovebox-python"};
}

TEST(RuntimeTest, GVisorHasNoNetworkAndTheNamedPlatform) {
  const auto arguments =
      Of(RuntimeKind::kRunsc, "ptrace").RunArguments("/state", "/bundle", "/pid", "id");
  EXPECT_EQ(arguments.front(), "/usr/bin/x");
  EXPECT_THAT(arguments, Contains("--network=none"));
  EXPECT_THAT(arguments, Contains("--platform=ptrace"));
  EXPECT_THAT(arguments, Contains("--detach"));
  EXPECT_EQ(arguments.back(), "id");
}

TEST(RuntimeTest, RuntimesThatWantCgroupsAreLaunchedWhereTheySeeNone) {
  for (const RuntimeKind kind : {RuntimeKind::kCrun, RuntimeKind::kRunc}) {
    for (const auto& arguments : {Of(kind).RunArguments("/state", "/bundle", "/pid", "id"),
                                  Of(kind).DeleteArguments("/state", "id")}) {
      ASSERT_GT(arguments.size(), 3u);
      EXPECT_EQ(arguments[0], "/l/glovebox-python");
      EXPECT_EQ(arguments[1], "launch");
      EXPECT_EQ(arguments[2], "/usr/bin/x");
    }
  }
}

TEST(RuntimeTest, WithoutAPidFileTheProgramWaitsForTheContainer) {
  const auto arguments = Of(RuntimeKind::kRunc).RunArguments("/state", "/bundle", "", "id");
  EXPECT_THAT(arguments, Not(Contains("--detach")));
}

TEST(RuntimeTest, PodmanKeepsEverythingInOneFolderAndStartsNothingOfItsOwn) {
  const Runtime podman = Of(RuntimeKind::kPodman);
  const auto arguments = podman.RunArguments("/s/e1", "/bundle", "/pid", "id");
  EXPECT_EQ(arguments[1], "launch");
  for (const char* word :
       {"--root=/s/e1/root", "--runroot=/s/e1/r", "--tmpdir=/s/e1/tmp", "--hooks-dir=/s/e1/hooks",
        "--runtime-flag=root=/s/e1/crun", "CONTAINERS_CONF=/s/e1/containers.conf",
        "--cgroups=disabled", "--preserve-fds=1", "--detach"}) {
    EXPECT_THAT(arguments, Contains(word));
  }
  EXPECT_EQ(podman.wire_fd(), 3);
  EXPECT_EQ(arguments.back(), "/the-hook-of-glovebox-was-not-asked");
  const NamedTexts files = PodmanFiles("/s/e1", "/bundle");
  EXPECT_THAT(files, Contains(testing::Pair("hooks/precreate.json",
                                            testing::AllOf(HasSubstr("/bundle/config.json"),
                                                           HasSubstr("precreate")))));
}

TEST(FindRuntimeTest, EnginesAreTriedLast) {
  std::vector<std::string> tried;
  static_cast<void>(FindRuntime("auto", "/l", [&](const Runtime& runtime) -> Status {
    if (tried.empty() || tried.back() != runtime.name()) tried.push_back(runtime.name());
    return Error(Errc::kUnsupported, "no");
  }));
  std::vector<std::string> order = RuntimeNames();
  std::erase_if(order, [&](const std::string& name) {
    return std::find(tried.begin(), tried.end(), name) == tried.end();
  });
  EXPECT_EQ(tried, order);
  EXPECT_EQ(RuntimeNames().back(), "docker");
}

TEST(FindRuntimeTest, WhatWasTriedAndTheFixAreSaid) {
  const auto found = FindRuntime("auto", "/l", [](const Runtime&) -> Status {
    return Error(Errc::kUnsupported, "noise\nit is broken");
  });
  ASSERT_FALSE(found.ok());
  const std::string& message = found.error().message();
  EXPECT_THAT(message, HasSubstr("no container runtime works here"));
  EXPECT_THAT(message, HasSubstr("SANDBOX_CONTAINER_RUNTIME"));
  EXPECT_THAT(message, HasSubstr("runc"));
  EXPECT_THAT(message, Not(HasSubstr("noise")));
}

TEST(FindRuntimeTest, NoRuntimeIsTriedThatTheSettingDoesNotName) {
  std::vector<std::string> tried;
  static_cast<void>(FindRuntime("runc", "/l", [&](const Runtime& runtime) -> Status {
    tried.push_back(runtime.name());
    return Error(Errc::kUnsupported, "no");
  }));
  for (const std::string& name : tried) EXPECT_EQ(name, "runc");
}

}  // namespace
}  // namespace glovebox::container
