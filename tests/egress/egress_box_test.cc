// A program in a network namespace of its own, the real proxy, and servers on the host.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jailed_program.h"
#include "loopback_server.h"

namespace glovebox::egress {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Fetch(const std::string& url) {
  return "import urllib.request, urllib.error\n"
         "try:\n"
         "  print(urllib.request.urlopen('" +
         url +
         "', timeout=10).read().decode())\n"
         "except urllib.error.HTTPError as error:\n"
         "  print(error.code, error.read().decode())\n"
         "except OSError as error:\n"
         "  print('failed:', error)\n";
}

class EgressBox : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { jail_ = new JailedProgram; }
  static void TearDownTestSuite() { delete std::exchange(jail_, nullptr); }
  static JailedProgram* jail_;
};
JailedProgram* EgressBox::jail_ = nullptr;

TEST_F(EgressBox, ReachesAnAddressThatIsNamed) {
  const LoopbackServer server(HttpAnswer("hello from outside"));
  const auto ran = jail_->Python(Fetch("http://" + server.place() + "/x?y=1"), {server.place()});
  EXPECT_THAT(ran.output, HasSubstr("hello from outside"));
  ASSERT_THAT(ran.reports, SizeIs(1));
  EXPECT_TRUE(ran.reports[0].allowed);
  EXPECT_EQ(ran.reports[0].host, "127.0.0.1");
  EXPECT_EQ(ran.reports[0].port, server.port());
  EXPECT_EQ(ran.reports[0].rule, server.place());
  EXPECT_GT(ran.reports[0].bytes_sent, 0u);
  EXPECT_GT(ran.reports[0].bytes_received, 0u);
  ASSERT_THAT(server.received(), SizeIs(1));
  EXPECT_THAT(server.received()[0], ::testing::StartsWith("GET /x?y=1 HTTP/1.1\r\nHost: "));
}

TEST_F(EgressBox, IsToldWhatWasRefusedAndWhatWouldAllowIt) {
  const LoopbackServer server(HttpAnswer("never"));
  const auto ran = jail_->Python(Fetch("http://" + server.place() + "/"), {});
  EXPECT_THAT(ran.output, HasSubstr("403 glovebox egress: " + server.place() +
                                    " was refused: no rule names 127.0.0.1"));
  EXPECT_THAT(ran.output, HasSubstr("--net " + server.place()));
  ASSERT_THAT(ran.reports, SizeIs(1));
  EXPECT_FALSE(ran.reports[0].allowed);
  EXPECT_EQ(ran.reports[0].remedy, "--net " + server.place());
  EXPECT_THAT(server.received(), SizeIs(0));
}

TEST_F(EgressBox, ANameIsResolvedOutsideAndItsAddressJudged) {
  const LoopbackServer server(HttpAnswer("by name"));
  const std::string port = ":" + std::to_string(server.port());
  const std::string hosts = "127.0.0.1 service.example\n";
  const std::string code = Fetch("http://service.example" + port + "/");
  const auto unnamed = jail_->Python(code, {"service.example" + port}, hosts);
  EXPECT_THAT(unnamed.output, HasSubstr("service.example leads to 127.0.0.1, a loopback address"));
  const auto named = jail_->Python(code, {"service.example" + port, server.place()}, hosts);
  EXPECT_THAT(named.output, HasSubstr("by name"));
}

TEST_F(EgressBox, HasNoOtherWayOut) {
  const LoopbackServer server(HttpAnswer("never"));
  const std::string code =
      "import socket\n"
      "for place in [('127.0.0.1', " +
      std::to_string(server.port()) +
      "), ('10.0.0.1', 80),\n"
      "              ('8.8.8.8', 53)]:\n"
      "  try:\n"
      "    socket.create_connection(place, timeout=3)\n"
      "    print('open', place)\n"
      "  except OSError as error:\n"
      "    print('closed', error)\n"
      "try:\n"
      "  socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))\n"
      "  print('open')\n"
      "except OSError as error:\n"
      "  print('closed', error)\n";
  const auto ran = jail_->Python(code, {server.place()});
  EXPECT_THAT(ran.output, ::testing::Not(HasSubstr("open")));
  EXPECT_THAT(ran.output, HasSubstr("Network is unreachable"));
  EXPECT_THAT(server.received(), SizeIs(0));
}

}  // namespace
}  // namespace glovebox::egress
