#include "executor/container_wire.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

class ContainerWireTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/container_wire.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/socket";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  UniqueFd Call() const {
    UniqueFd caller(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size());
    EXPECT_EQ(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    return caller;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(ContainerWireTest, TheCallerIsKnown) {
  const auto listener = ListenForContainer(path_, ::geteuid());
  ASSERT_TRUE(listener.ok()) << listener.error().message();
  struct stat facts = {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  const UniqueFd caller = Call();
  const auto call = AcceptContainer(listener->get(), ::geteuid());
  ASSERT_TRUE(call.ok()) << call.error().message();
  EXPECT_EQ(call->pid, ::getpid());
}

TEST_F(ContainerWireTest, SomebodyElseIsRefused) {
  const auto listener = ListenForContainer(path_, ::geteuid());
  ASSERT_TRUE(listener.ok());
  const UniqueFd caller = Call();
  const auto call = AcceptContainer(listener->get(), ::geteuid() + 1);
  ASSERT_FALSE(call.ok());
  EXPECT_NE(call.error().message().find("somebody else"), std::string::npos);
}

TEST_F(ContainerWireTest, ANameThatIsTooLongIsRefused) {
  EXPECT_FALSE(ListenForContainer(folder_ + "/" + std::string(200, 'x'), ::geteuid()).ok());
}

}  // namespace
}  // namespace glovebox
