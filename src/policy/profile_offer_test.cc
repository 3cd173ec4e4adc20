#include "policy/profile_offer.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ProfileOffer Usual() { return {.enabled = {"basic", "full"}}; }

TEST(ProfileOfferTest, ACallThatNamesNoneGetsBasicAndWhatIsEnabledBesideIt) {
  EXPECT_EQ(Usual().Choose("", {})->name(), "basic");
  const ProfileOffer all = {.enabled = {"basic", "data_science", "network", "filesystem", "full"}};
  const auto choice = all.Choose("", {});
  EXPECT_EQ(choice->name(), "basic+data_science+filesystem");
  EXPECT_TRUE(choice->language_layer);
  EXPECT_THAT(choice->modules, Contains("numpy"));
  EXPECT_THAT(choice->modules, Contains("math"));
  EXPECT_THAT(choice->builtins, ElementsAre("open"));
  EXPECT_EQ(choice->memory_bytes, 512u << 20);  // the largest of them
}

TEST(ProfileOfferTest, TheOperatorSaysWhatTheDefaultIs) {
  ProfileOffer offer = Usual();
  offer.default_profile = "full";
  EXPECT_TRUE(offer.Check().ok());
  EXPECT_FALSE(offer.Choose("", {})->language_layer);
  EXPECT_EQ(offer.Choose("basic", {})->name(), "basic");
  offer.default_profile = "data_science";
  EXPECT_THAT(offer.Check().error().message(),
              HasSubstr("SANDBOX_DEFAULT_PROFILE must be one of basic, full"));
  offer.enabled.push_back("network");
  offer.default_profile = "network";
  EXPECT_TRUE(offer.Check().ok());
}

TEST(ProfileOfferTest, OnlyEnabledOnesCanBeChosen) {
  const auto unknown = Usual().Choose("root", {});
  EXPECT_EQ(unknown.error().code(), Errc::kInvalidArgument);
  EXPECT_EQ(unknown.error().message(), "one of basic, full, or several joined by +");
  EXPECT_THAT(Usual().Choose("basic+data_science", {}).error().message(),
              HasSubstr("'data_science' is not enabled on this server"));
}

TEST(ProfileOfferTest, SeveralAreJoinedByPlusOrComma) {
  const ProfileOffer offer = {.enabled = {"basic", "data_science", "filesystem", "full"}};
  EXPECT_EQ(offer.Choose("data_science+basic", {})->name(), "basic+data_science");
  EXPECT_EQ(offer.Choose(" basic , filesystem ", {})->name(), "basic+filesystem");
  EXPECT_EQ(offer.Choose("data_science", {})->name(), "basic+data_science");
  EXPECT_EQ(offer.Choose("full", {})->name(), "full");
  const auto all = offer.Choose("full+filesystem", {});
  EXPECT_FALSE(all->language_layer);
  EXPECT_TRUE(all->has("filesystem"));
  EXPECT_TRUE(all->modules.empty());
}

TEST(ProfileOfferTest, TheNetworkHasBoxesOfItsOwnAndComesByNameAlone) {
  const ProfileOffer offer = {.enabled = {"basic", "filesystem", "network"}};
  EXPECT_EQ(offer.Choose("network", {})->box_kind(), "python+network");
  EXPECT_EQ(offer.Choose("filesystem+network", {})->box_kind(), "python+filesystem+network");
  EXPECT_EQ(offer.Choose("", {})->box_kind(), "python+filesystem");
}

TEST(ProfileOfferTest, ACallMayNarrowAndNotWiden) {
  const auto choice = Usual().Choose("", {"math", "collections.abc", "os", "numpy"});
  EXPECT_THAT(choice->modules, ElementsAre("math", "collections.abc"));
  EXPECT_THAT(Usual().Choose("full", {"math"}).error().message(), HasSubstr("left out"));
  EXPECT_TRUE(Usual().Choose("full", {}).ok());
}

TEST(ProfileOfferTest, AListOfTheOperatorReplacesAllModules) {
  ProfileOffer offer = {.enabled = {"basic", "data_science", "full"}};
  offer.allowed_imports = {"math", "os"};
  EXPECT_THAT(offer.Choose("basic", {})->modules, ElementsAre("math", "os"));
  EXPECT_THAT(offer.Choose("data_science", {})->modules, ElementsAre("math", "os"));
  EXPECT_TRUE(offer.Choose("full", {})->modules.empty());
  EXPECT_THAT(offer.Choose("basic", {"json", "os"})->modules, ElementsAre("os"));
}

TEST(ProfileOfferTest, TheOperatorsMemoryCountsForAllProfiles) {
  ProfileOffer offer = Usual();
  EXPECT_EQ(offer.Choose("basic", {})->memory_bytes, 128u << 20);
  EXPECT_EQ(offer.Choose("full", {})->memory_bytes, 512u << 20);
  offer.memory_bytes_max = 256u << 20;
  EXPECT_EQ(offer.Choose("full", {})->memory_bytes, 256u << 20);
  offer.memory_bytes = 64u << 20;
  EXPECT_EQ(offer.Choose("full", {})->memory_bytes, 64u << 20);
}

TEST(ProfileOfferTest, SaysWhatWouldAllowAModule) {
  const ProfileOffer offer = {.enabled = {"basic", "data_science", "full"}};
  const auto remedies = offer.Remedies(*offer.Choose("basic", {}));
  EXPECT_THAT(remedies, Contains(testing::Pair("numpy", "profile 'data_science'")));
  EXPECT_THAT(remedies,
              Contains(testing::Pair("requests", "the operator's SANDBOX_ENABLE_NETWORK")));
  EXPECT_THAT(remedies, Not(Contains(testing::Pair("math", testing::_))));
  EXPECT_TRUE(offer.Remedies(*offer.Choose("full", {})).empty());
}

}  // namespace
}  // namespace glovebox::policy
