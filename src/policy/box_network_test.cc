#include "policy/box_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(BoxNetwork, NamesWithoutWildcardsAreReachedDirectly) {
  const auto policy = ParseEgressPolicy({"a.example", "b.example:8443", "a.example:81",
                                         "*.c.example", "10.0.0.1:5000", "localhost:9000"});
  ASSERT_TRUE(policy.ok());
  const BoxNetwork network = PlanBoxNetwork(*policy);
  EXPECT_THAT(network.ports, ElementsAre(kProxyPort, 80, 443, 8443, 81));
  EXPECT_EQ(network.hosts, "127.7.0.1 a.example\n127.7.0.2 b.example\n");
  ASSERT_EQ(network.direct.size(), 2u);
  EXPECT_EQ(network.direct[1].name, "b.example");
  EXPECT_THAT(network.environment, Contains(Pair("https_proxy", "http://127.0.0.1:3128")));
  EXPECT_THAT(network.environment, Contains(Pair("NO_PROXY", "")));
}

TEST(BoxNetwork, WithoutRulesThereIsTheProxyThatRefuses) {
  const BoxNetwork network = PlanBoxNetwork(EgressPolicy{});
  EXPECT_THAT(network.ports, ElementsAre(kProxyPort));
  EXPECT_TRUE(network.hosts.empty());
}

}  // namespace
}  // namespace glovebox::policy
