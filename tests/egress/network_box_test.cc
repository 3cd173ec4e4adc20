// Python boxes with hosts, as the profile network has them, against servers on this machine.

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/local_executor.h"
#include "jailed_program.h"
#include "loopback_server.h"

namespace glovebox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// localhost is the one name that every host's /etc/hosts has.
class NetworkBox : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::signal(SIGPIPE, SIG_IGN);
    scene_ = new Scene;
  }
  static void TearDownTestSuite() { delete std::exchange(scene_, nullptr); }

  struct Scene {
    LoopbackServer allowed{HttpAnswer("from the allowed host")};
    LoopbackServer secret{HttpAnswer("from the secret host")};
    boost::asio::io_context context{1};
    std::unique_ptr<Executor> executor;

    Scene() {
      LocalExecutorOptions options;
      options.zygote_program = std::getenv("GLOVEBOX_PYTHON");
      options.egress_program = EgressProgram();
      const std::string port = ":" + std::to_string(allowed.port());
      BoxKind with_hosts{.name = "python+network"};
      with_hosts.egress = *policy::ParseEgressPolicy(
          {"localhost" + port, allowed.place(), "unresolvable.example" + port});
      with_hosts.egress->remedy = "add {} to SANDBOX_ALLOWED_HOSTS";
      BoxKind nowhere{.name = "nowhere"};
      nowhere.egress = policy::EgressPolicy{};
      options.kinds = {{.name = "python"}, with_hosts, nowhere};
      auto made = CreateLocalExecutor(context, std::move(options));
      EXPECT_TRUE(made.ok()) << made.error().message();
      executor = std::move(*made);
    }
  };

  static Outcome Run(const std::string& code, const std::string& kind = "python+network") {
    ExecutionRequest request;
    request.code = code;
    request.kind = kind;
    std::optional<Outcome> outcome;
    const auto execution = scene_->executor->Start(
        std::move(request), nullptr, [&](Outcome arrived) { outcome = std::move(arrived); });
    while (!outcome) scene_->context.run_one();
    return std::move(*outcome);
  }

  static std::string Fetch(const std::string& url) {
    return "import urllib.request, urllib.error\n"
           "try:\n"
           "  print(urllib.request.urlopen('" +
           url +
           "', timeout=20).read().decode())\n"
           "except urllib.error.HTTPError as error:\n"
           "  print(error.code, error.read().decode())\n";
  }

  static std::vector<Event> EventsOf(const Outcome& outcome, EventSource source) {
    std::vector<Event> events;
    for (const Event& event : outcome.events) {
      if (event.source == source) events.push_back(event);
    }
    return events;
  }

  static Scene* scene_;
};
NetworkBox::Scene* NetworkBox::scene_ = nullptr;

TEST_F(NetworkBox, ReachesAnAllowedHostAndSaysSo) {
  const std::string place = "localhost:" + std::to_string(scene_->allowed.port());
  const Outcome outcome = Run(Fetch("http://" + place + "/a"));
  EXPECT_THAT(outcome.stdout_stream.text, HasSubstr("from the allowed host")) << outcome.message;
  const auto events = EventsOf(outcome, EventSource::kEgress);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].target, place);
  EXPECT_EQ(events[0].rule, place);
  EXPECT_FALSE(events[0].refused);
  EXPECT_GT(events[0].bytes_sent, 0u);
  EXPECT_GT(events[0].bytes_received, 0u);
  EXPECT_THAT(EventsOf(outcome, EventSource::kKernel), SizeIs(0));
}

TEST_F(NetworkBox, ReachesNothingElseAndSaysWhatWouldAllowIt) {
  const Outcome outcome = Run(Fetch("http://" + scene_->secret.place() + "/"));
  EXPECT_THAT(outcome.stdout_stream.text, HasSubstr("403"));
  EXPECT_THAT(outcome.stdout_stream.text,
              HasSubstr("add " + scene_->secret.place() + " to SANDBOX_ALLOWED_HOSTS"));
  const auto events = EventsOf(outcome, EventSource::kEgress);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_TRUE(events[0].refused);
  EXPECT_EQ(events[0].remedy, "add " + scene_->secret.place() + " to SANDBOX_ALLOWED_HOSTS");
  EXPECT_THAT(scene_->secret.received(), SizeIs(0));
}

TEST_F(NetworkBox, ANameOfARuleIsReachedWithoutKnowingOfAProxy) {
  const Outcome outcome =
      Run("import http.client\n"
          "client = http.client.HTTPConnection('unresolvable.example', " +
          std::to_string(scene_->allowed.port()) +
          ", timeout=30)\n"
          "try:\n"
          "  client.request('GET', '/'); print(client.getresponse().status)\n"
          "except Exception as error: print(type(error).__name__)\n");
  const auto events = EventsOf(outcome, EventSource::kEgress);
  ASSERT_THAT(events, SizeIs(1)) << outcome.stdout_stream.text << outcome.message;
  EXPECT_EQ(events[0].operation, "connect (direct)");
  EXPECT_EQ(events[0].target, "unresolvable.example:" + std::to_string(scene_->allowed.port()));
}

TEST_F(NetworkBox, WhoDialsByItselfIsToldHow) {
  const Outcome outcome =
      Run("import socket\n"
          "for family, place in [(socket.AF_INET, ('10.0.0.1', 80)),\n"
          "                      (socket.AF_INET6, ('2001:db8::1', 443))]:\n"
          "  try: socket.socket(family).connect(place); print('OPEN')\n"
          "  except OSError as error: print(error)\n"
          "for kind in [socket.SOCK_DGRAM, socket.SOCK_RAW]:\n"
          "  try: socket.socket(socket.AF_INET, kind); print('OPEN')\n"
          "  except OSError as error: print(error)\n");
  EXPECT_THAT(outcome.stdout_stream.text, Not(HasSubstr("OPEN")));
  EXPECT_THAT(outcome.stdout_stream.text, HasSubstr("Network is unreachable"));
  const auto events = EventsOf(outcome, EventSource::kKernel);
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events[0].target, "10.0.0.1:80");
  EXPECT_EQ(events[0].layer, "net namespace");
  EXPECT_THAT(events[0].remedy, HasSubstr("SANDBOX_ALLOWED_HOSTS"));
  EXPECT_EQ(events[1].target, "[2001:db8::1]:443");
}

TEST_F(NetworkBox, WithoutHostsNothingIsReached) {
  const Outcome outcome = Run(Fetch("http://" + scene_->allowed.place() + "/never"), "nowhere");
  EXPECT_THAT(outcome.stdout_stream.text, HasSubstr("403")) << outcome.message;
  for (const std::string& request : scene_->allowed.received()) {
    EXPECT_THAT(request, Not(HasSubstr("/never")));
  }
}

TEST_F(NetworkBox, BoxesWithoutHostsHaveNoSockets) {
  const Outcome outcome = Run("import socket; socket.socket()", "python");
  EXPECT_THAT(outcome.message, HasSubstr("PermissionError"));
}

}  // namespace
}  // namespace glovebox
