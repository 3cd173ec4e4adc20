#include "sandbox/parent/call_target.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

using Arguments = std::array<std::uint64_t, 6>;

std::uint64_t AddressOf(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// Our own memory stands in for a box's.
std::string Describe(std::string_view call, const Arguments& arguments) {
  return DescribeTarget(call, arguments, MemoryOf(::getpid()));
}

TEST(CallTargetTest, ReadsPaths) {
  EXPECT_EQ(Describe("execve", {AddressOf("/bin/sh")}), "/bin/sh");
  EXPECT_EQ(Describe("mount", {AddressOf("none"), AddressOf("/mnt")}), "/mnt");
  EXPECT_EQ(Describe("execve", {0}), "");
}

TEST(CallTargetTest, BoundsWhatItReads) {
  const std::string long_path(100'000, 'x');
  EXPECT_EQ(Describe("execve", {AddressOf(long_path.c_str())}).size(), 512u);
}

TEST(CallTargetTest, SaysWhenMemoryCannotBeRead) {
  EXPECT_EQ(Describe("execve", {1}), "<unreadable>");
  EXPECT_EQ(Describe("connect", {3, 1, 16}), "<unreadable>");
}

TEST(CallTargetTest, NamesAddresses) {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(80);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(Describe("connect", {3, AddressOf(&v4), sizeof(v4)}), "127.0.0.1:80");
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(443);
  v6.sin6_addr = in6addr_loopback;
  EXPECT_EQ(Describe("bind", {3, AddressOf(&v6), sizeof(v6)}), "[::1]:443");
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  std::strcpy(local.sun_path, "/run/docker.sock");
  EXPECT_EQ(Describe("connect", {3, AddressOf(&local), sizeof(local)}), "unix:/run/docker.sock");
  std::memcpy(local.sun_path, "\0bus", 4);
  EXPECT_EQ(Describe("connect", {3, AddressOf(&local), sizeof(sa_family_t) + 4}), "unix:@bus");
  EXPECT_EQ(Describe("sendto", {3, 0, 0, 0, 0, 0}), "");
}

TEST(CallTargetTest, NamesFamiliesNamespacesAndNumbers) {
  EXPECT_EQ(Describe("socket", {AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC}), "AF_VSOCK SOCK_STREAM");
  EXPECT_EQ(Describe("socket", {99, 9}), "family 99 type 9");
  EXPECT_EQ(Describe("unshare", {CLONE_NEWUSER | CLONE_NEWNET}), "user, net");
  EXPECT_EQ(Describe("ptrace", {16, 0xFFFFFFFFFFFFFFFF}), "process -1");
  EXPECT_EQ(Describe("ioctl", {0, 0x5412}), "request 21522");
  EXPECT_EQ(Describe("vhangup", {}), "");
}

TEST(CallTargetTest, FollowsThePointerOfClone3) {
  const auto notable = [](std::uint64_t argument) {
    const Arguments arguments = {argument};
    return IsNotable("clone3", arguments, MemoryOf(::getpid()));
  };
  std::array<std::uint64_t, 8> clone_arguments = {CLONE_NEWUSER};
  EXPECT_TRUE(notable(AddressOf(clone_arguments.data())));
  EXPECT_EQ(Describe("clone3", {AddressOf(clone_arguments.data())}), "user");
  clone_arguments[0] = CLONE_VM | CLONE_THREAD;
  EXPECT_FALSE(notable(AddressOf(clone_arguments.data())));
  EXPECT_TRUE(notable(1)) << "what cannot be read is told";
}

}  // namespace
}  // namespace glovebox::sandbox
