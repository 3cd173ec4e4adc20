#include "python/wire/zygote.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "python/wire/descriptor_passing.h"

namespace glovebox::wire {
namespace {

TEST(ZygoteWireTest, SetupSurvivesTheWire) {
  ZygoteSetup setup;
  setup.walls = 0x3ff;
  setup.identity = 3;
  setup.namespaces = false;
  setup.own_folder_rights = 77;
  setup.stdlib = "/usr/lib/python3";
  setup.module_paths = {"/a", "/b"};
  setup.preimports = {"json"};
  setup.work_folder = "/work";
  setup.host_name = "box";
  setup.tmpfs = {{"/tmp", "1", "2"}};
  setup.rlimits = {{4, 0}};
  setup.landlock = {1, 2, 3, {{"/usr", 4}}};
  setup.filter = {{0x20, 1, 2, 4}, {0x06, 0, 0, 0x7fff0000}};
  const std::optional<ZygoteSetup> out = DecodeZygoteSetup(Encode(setup));
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->walls, setup.walls);
  EXPECT_EQ(out->identity, 3);
  EXPECT_FALSE(out->namespaces);
  EXPECT_EQ(out->own_folder_rights, 77u);
  EXPECT_EQ(out->module_paths, setup.module_paths);
  EXPECT_EQ(out->preimports, setup.preimports);
  ASSERT_EQ(out->tmpfs.size(), 1u);
  EXPECT_EQ(out->tmpfs[0].inodes, "2");
  EXPECT_EQ(out->rlimits, setup.rlimits);
  EXPECT_EQ(out->landlock.rules, setup.landlock.rules);
  ASSERT_EQ(out->filter.size(), 2u);
  EXPECT_EQ(out->filter[1].k, 0x7fff0000u);
  EXPECT_EQ(out->filter[0].jf, 2);
}

TEST(ZygoteWireTest, SmallMessagesSurviveTheWire) {
  const std::optional<SpawnBox> spawn =
      DecodeSpawnBox(Encode(SpawnBox{5, 6, true, Rehearsal::kLong, 7, "/dev/shm/x"}));
  ASSERT_TRUE(spawn.has_value());
  EXPECT_EQ(spawn->uid, 6u);
  EXPECT_TRUE(spawn->into_cgroup);
  EXPECT_EQ(spawn->rehearsal, Rehearsal::kLong);
  EXPECT_EQ(spawn->cpu, 7);
  EXPECT_EQ(spawn->folder, "/dev/shm/x");
  const std::optional<BoxBorn> born = DecodeBoxBorn(Encode(BoxBorn{5, 11}));
  ASSERT_TRUE(born.has_value());
  EXPECT_EQ(born->sys_errno, 11);
  const std::optional<ZygoteReady> ready = DecodeZygoteReady(Encode(ZygoteReady{"no", 0.5}));
  ASSERT_TRUE(ready.has_value());
  EXPECT_EQ(ready->error, "no");
  EXPECT_FALSE(DecodeSpawnBox("short").has_value());
}

TEST(DescriptorPassingTest, CarriesDescriptorsAndTellsTheEnd) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  int pipe_fds[2];
  ASSERT_EQ(::pipe2(pipe_fds, O_CLOEXEC), 0);
  ASSERT_EQ(SendWithDescriptors(sockets[0], "hello", {pipe_fds[1]}), 0);
  ReceivedMessage message;
  ASSERT_EQ(ReceiveWithDescriptors(sockets[1], message), 0);
  EXPECT_EQ(message.payload, "hello");
  ASSERT_EQ(message.fds.size(), 1u);
  ASSERT_EQ(::write(message.fds[0], "x", 1), 1);
  char byte = 0;
  ASSERT_EQ(::read(pipe_fds[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  ::close(sockets[0]);
  ASSERT_EQ(ReceiveWithDescriptors(sockets[1], message), 0);
  EXPECT_TRUE(message.payload.empty());
  for (const int fd : {sockets[1], pipe_fds[0], pipe_fds[1]}) ::close(fd);
}

}  // namespace
}  // namespace glovebox::wire
