#include "sandbox/compile/root_layout.h"

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

using testing::HasSubstr;

policy::BoxPolicy PolicyWith(std::vector<policy::RootItem> items) {
  policy::BoxPolicy policy;
  policy.root = std::move(items);
  policy.tmpfs = {{"/dev/shm", 1, 1}};
  return policy;
}

TEST(RootLayoutTest, ParentsComeBeforeChildrenAndOnlyOnce) {
  const Result<RootLayout> layout =
      CompileRoot(PolicyWith({{policy::RootItemKind::kBind, "/usr/lib", {}, false},
                              {policy::RootItemKind::kFile, "/etc/a", "x", false},
                              {policy::RootItemKind::kFile, "/etc/b", "y", false}}),
                  {});
  ASSERT_TRUE(layout.ok()) << layout.error().message();
  std::set<std::string> made;
  const RootPlan& plan = layout->plan();
  for (std::uint16_t i = 0; i < plan.entry_count; ++i) {
    const std::string target = plan.entries[i].target;
    EXPECT_NE(target[0], '/');
    if (const std::size_t slash = target.rfind('/'); slash != std::string::npos) {
      EXPECT_EQ(made.count(target.substr(0, slash)), 1u) << target;
    }
    EXPECT_TRUE(made.insert(target).second) << target << " is made twice";
  }
  EXPECT_EQ(made, (std::set<std::string>{"usr", "usr/lib", "etc", "etc/a", "etc/b", "dev",
                                         "dev/shm", "proc"}));
}

TEST(RootLayoutTest, ThePlanSurvivesAMove) {
  Result<RootLayout> first =
      CompileRoot(PolicyWith({{policy::RootItemKind::kFile, "/etc/a", "content", false}}), {});
  ASSERT_TRUE(first.ok());
  const RootLayout moved = std::move(*first);
  EXPECT_STREQ(moved.plan().entries[1].target, "etc/a");
  EXPECT_STREQ(moved.plan().entries[1].text, "content");
  EXPECT_EQ(moved.plan().entries[1].text_length, 7u);
}

TEST(RootLayoutTest, AMissingSourceIsAnErrorUnlessOptional) {
  const Result<RootLayout> required =
      CompileRoot(PolicyWith({{policy::RootItemKind::kBind, "/no/such", {}, false}}), {});
  ASSERT_FALSE(required.ok());
  EXPECT_THAT(required.error().message(), HasSubstr("/no/such"));
  EXPECT_TRUE(
      CompileRoot(PolicyWith({{policy::RootItemKind::kBind, "/no/such", {}, true}}), {}).ok());
}

TEST(RootLayoutTest, PlacesTheProgramAndDescribesEntries) {
  const Result<RootLayout> layout =
      CompileRoot(PolicyWith({}), {"/bin/true", "/usr/libexec/program"});
  ASSERT_TRUE(layout.ok());
  bool found = false;
  for (std::uint16_t i = 0; i < layout->plan().entry_count; ++i) {
    if (std::strcmp(layout->plan().entries[i].target, "usr/libexec/program") != 0) continue;
    found = true;
    EXPECT_EQ(layout->Describe(i), "bind /usr/libexec/program");
  }
  EXPECT_TRUE(found);
  EXPECT_FALSE(CompileRoot(PolicyWith({}), {"/no/program", "/p"}).ok());
}

TEST(RootLayoutTest, CopiesTheLinksOfADirectoryByPrefix) {
  const Result<RootLayout> layout =
      CompileRoot(PolicyWith({{policy::RootItemKind::kLinksIn, "/proc/self", "roo", false}}), {});
  ASSERT_TRUE(layout.ok());
  EXPECT_THAT(layout->Describe(2), HasSubstr("link /proc/self/root"));
}

}  // namespace
}  // namespace glovebox::sandbox
