#include "sandbox/parent/host_facts.h"

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

TEST(HostFactsTest, ContainersLeaveTheirNames) {
  EXPECT_EQ(ContainerName("0::/\n", "", true, false), "docker");
  EXPECT_EQ(ContainerName("0::/\n", "oci", false, true), "podman");
  EXPECT_EQ(ContainerName("0::/\n", "lxc", false, false), "lxc");
  EXPECT_EQ(ContainerName("0::/kubepods/pod1/x\n", "", false, false), "kubepods");
  EXPECT_EQ(ContainerName("0::/user.slice\n", "", false, false), "");
}

}  // namespace
}  // namespace glovebox::sandbox
