#include "policy/box_policy.h"

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

using testing::HasSubstr;

const PolicyVariables kVariables = {"/usr/lib/python3.99", "3.99", "m-linux-gnu", "x86_64"};

Result<BoxPolicy> Parse(std::string_view text) { return ParseBoxPolicy(text, kVariables); }

TEST(BoxPolicyTest, ReadsEveryKindOfEntry) {
  const Result<BoxPolicy> policy = Parse(R"(
[[root.bind]]
path = "${python_stdlib}"
why = "w"
[[root.file]]
path = "/etc/x"
text = "content"
why = "w"
[[root.link]]
path = "/lib"
target = "usr/lib"
why = "w"
[[tmpfs]]
path = "/tmp"
size = "64m"
inodes = 10
why = "w"
[[rlimit]]
resource = "core"
value = 0
why = "w"
[environment]
HOME = "/work"
)");
  ASSERT_TRUE(policy.ok()) << policy.error().message();
  ASSERT_EQ(policy->root.size(), 3u);
  EXPECT_EQ(policy->root[0].path, "/usr/lib/python3.99");
  EXPECT_EQ(policy->root[1].text, "content");
  ASSERT_EQ(policy->tmpfs.size(), 1u);
  EXPECT_EQ(policy->tmpfs[0].size_bytes, 64u << 20);
  ASSERT_EQ(policy->rlimits.size(), 1u);
  EXPECT_EQ(policy->rlimits[0].resource, RLIMIT_CORE);
  ASSERT_EQ(policy->environment.size(), 1u);
}

TEST(BoxPolicyTest, DropsEntriesOfAnotherArchitecture) {
  const Result<BoxPolicy> policy = Parse(R"(
[[root.link]]
path = "/a"
target = "b"
arch = "aarch64"
why = "w"
)");
  ASSERT_TRUE(policy.ok()) << policy.error().message();
  EXPECT_TRUE(policy->root.empty());
}

struct BadPolicy {
  const char* text;
  const char* complaint;
};
class BadBoxPolicyTest : public testing::TestWithParam<BadPolicy> {};

TEST_P(BadBoxPolicyTest, IsRefusedWithTheReason) {
  const Result<BoxPolicy> policy = Parse(GetParam().text);
  ASSERT_FALSE(policy.ok());
  EXPECT_THAT(policy.error().message(), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBoxPolicyTest,
    testing::Values(BadPolicy{"= nonsense", "line 1"},
                    BadPolicy{"[environment]\nA='b'", "[root] is missing"},
                    BadPolicy{"[[root.bind]]\npath='/a'", "`why` is missing"},
                    BadPolicy{"[[root.bind]]\npath='a'\nwhy='w'", "must be absolute"},
                    BadPolicy{"[[root.bind]]\npath='/${nope}'\nwhy='w'", "unknown variable 'nope'"},
                    BadPolicy{"[[root.bind]]\npath='/a'\nwhy='w'\nmode='rw'", "unknown key `mode`"},
                    BadPolicy{"[root]\n[[tmpfs]]\npath='/t'\nsize='lots'\ninodes=1\nwhy='w'",
                              "integer with an optional unit"},
                    BadPolicy{"[root]\n[[rlimit]]\nresource='luck'\nvalue=1\nwhy='w'",
                              "unknown resource 'luck'"},
                    BadPolicy{"[root]\n[[rlimit]]\nresource='core'\nvalue=-1\nwhy='w'",
                              "not negative"},
                    BadPolicy{"[root]\n[environment]\nA=1", "must be a text"},
                    BadPolicy{"[root]\n[tmpfs]\npath='/t'", "written as [[tmpfs]]"}));

// What an operator grants, against what every box holds.
BoxPolicy SmallPolicy() {
  BoxPolicy policy;
  policy.root = {{RootItemKind::kBind, "/usr/lib/python3", {}, false},
                 {RootItemKind::kFile, "/etc/passwd", "x", false}};
  policy.tmpfs = {{"/work", 1, 1}};
  return policy;
}

TEST(BoxPolicyTest, AGrantAppearsWhereItIsWanted) {
  BoxPolicy policy = SmallPolicy();
  ASSERT_TRUE(AddGrant({"/srv/data", "/data", true}, policy).ok());
  ASSERT_EQ(policy.root.size(), 3u);
  EXPECT_EQ(policy.root[2].path, "/data");
  EXPECT_EQ(policy.root[2].source(), "/srv/data");
  EXPECT_TRUE(policy.root[2].writable);
  EXPECT_FALSE(policy.root[2].optional);
  EXPECT_EQ(policy.root[0].source(), "/usr/lib/python3");
}

TEST(BoxPolicyTest, AGrantMayNotHideTheBoxItself) {
  for (const char* place : {"/usr", "/usr/lib/python3", "/etc", "/work", "/work/data", "/proc/x"}) {
    BoxPolicy policy = SmallPolicy();
    const Status added = AddGrant({"/srv/data", place, false}, policy);
    ASSERT_FALSE(added.ok()) << place;
    EXPECT_THAT(added.error().message(), HasSubstr(place));
    EXPECT_THAT(added.error().message(), HasSubstr("choose"));
    EXPECT_EQ(policy.root.size(), 2u);
  }
}

TEST(BoxPolicyTest, AGrantIsSpeltOneWay) {
  for (const char* path : {"data", "/", "/data/", "/a/../b", "/a//b", ""}) {
    BoxPolicy policy = SmallPolicy();
    EXPECT_FALSE(AddGrant({path, "/data", false}, policy).ok()) << path;
    EXPECT_FALSE(AddGrant({"/srv", path, false}, policy).ok()) << path;
  }
}

}  // namespace
}  // namespace glovebox::policy
