#include "sandbox/parent/host_probes.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

using testing::HasSubstr;

Status Find(const std::vector<ProbeResult>& results, HostProbe probe) {
  for (const ProbeResult& result : results) {
    if (result.probe == probe) return result.status;
  }
  return Error(Errc::kInternal, "was not probed");
}

bool MustIsolate() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  return std::getenv("GLOVEBOX_MUST_ISOLATE") != nullptr;
}

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Any program will do for the root: it only has to start.
TEST(HostProbesTest, WhereBoxesCanBeBuiltEveryProbeSucceeds) {
  if (!MustIsolate()) GTEST_SKIP() << "GLOVEBOX_MUST_ISOLATE is not set: this host may lack walls";
  for (const ProbeResult& result : ProbeHost("/bin/sh")) {
    EXPECT_TRUE(result.status.ok())
        << static_cast<int>(result.probe) << ": " << result.status.error().message();
  }
}

TEST(HostProbesTest, NothingIsLeftBehind) {
  const std::size_t before = OpenDescriptors();
  static_cast<void>(ProbeHost("/bin/sh"));
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(HostProbesTest, AMissingProgramIsNamed) {
  const Status root = Find(ProbeHost("/no/such/program"), HostProbe::kRoot);
  ASSERT_FALSE(root.ok());
  EXPECT_THAT(root.error().message(), HasSubstr("/no/such/program"));
}

// Landlock and the filter are tried in children: this process keeps what they lose.
TEST(HostProbesTest, TheCallerLosesNothing) {
  static_cast<void>(ProbeHost("/bin/sh"));
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_GE(fd, 0);
  ::close(fd);
}

TEST(HostProbesTest, ALimitThatCannotBeSetIsNamed) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Below what a box is given; without privilege nobody gets it back.
    const rlimit low = {512, 512};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) ::_exit(1);
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    const Status limits = Find(ProbeHost("/bin/sh"), HostProbe::kRlimits);
    if (limits.ok()) ::_exit(3);
    ::_exit(limits.error().message().find("limiting nofile to 1024") != std::string::npos ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace glovebox::sandbox
