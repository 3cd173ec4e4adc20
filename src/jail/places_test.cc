#include "jail/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "jail/refusals.h"

namespace glovebox::jail {
namespace {

namespace fs = std::filesystem;
using policy::JailPolicy;

policy::BoxPolicy SmallBox() {
  policy::BoxPolicy box;
  box.root.push_back({policy::RootItemKind::kBind, "/usr", {}});
  box.root.push_back({policy::RootItemKind::kFile, "/etc/passwd", "x"});
  box.tmpfs.push_back({"/tmp", 1 << 20, 100});
  box.tmpfs.push_back({"/home/box", 1 << 20, 100});
  return box;
}

class PlacesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/var/tmp/places-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = name;
    for (const char* folder : {".ssh", "src/out", "server/node_modules/thing/dist"}) {
      fs::create_directories(home_ + "/" + folder);
    }
    std::ofstream(home_ + "/server/node_modules/thing/dist/index.js") << "1";
    fs::create_symlink(home_ + "/src", home_ + "/link");
    starter_ = {home_, home_, {home_}};
  }
  void TearDown() override { fs::remove_all(home_); }

  Result<Places> Compose(const JailPolicy& policy, std::vector<std::string> command = {"true"}) {
    return ComposePlaces(policy, SmallBox(), command, "/usr/bin/env", starter_);
  }
  std::string Refusal(const JailPolicy& policy) {
    const Result<Places> places = Compose(policy);
    return places ? "" : places.error().message();
  }
  PlaceKind KindOf(const Places& places, const std::string& path) {
    const Place* place = places.Find(path);
    EXPECT_NE(place, nullptr) << path;
    return place == nullptr ? PlaceKind::kOwn : place->kind;
  }

  std::string home_;
  Starter starter_;
};

TEST_F(PlacesTest, TheDeepestRuleDecidesWhateverTheOrder) {
  JailPolicy policy;
  policy.read = {"~/src"};
  policy.write = {"~/src/out"};
  const auto places = Compose(policy);
  ASSERT_TRUE(places) << places.error().message();
  EXPECT_EQ(KindOf(*places, home_ + "/src/a.c"), PlaceKind::kRead);
  EXPECT_EQ(KindOf(*places, home_ + "/src/out/a.o"), PlaceKind::kWrite);
  EXPECT_EQ(KindOf(*places, "/usr/bin/cc"), PlaceKind::kRuntime);
  EXPECT_EQ(KindOf(*places, "/tmp/x"), PlaceKind::kPrivate);
  EXPECT_EQ(places->Find(home_ + "/srcs"), nullptr);
}

TEST_F(PlacesTest, SensitivePathsAreRefusedInsideAGrant) {
  JailPolicy policy;
  policy.read = {"~"};
  auto places = Compose(policy);
  ASSERT_TRUE(places) << places.error().message();
  EXPECT_EQ(KindOf(*places, home_ + "/.ssh/id_rsa"), PlaceKind::kRefused);
  policy.allow_sensitive = {"~/.ssh"};
  places = Compose(policy);
  ASSERT_TRUE(places) << places.error().message();
  EXPECT_EQ(KindOf(*places, home_ + "/.ssh/id_rsa"), PlaceKind::kRead);
}

TEST_F(PlacesTest, WhatCannotBeGrantedIsASentence) {
  const auto read = [](const std::string& path) {
    JailPolicy policy;
    policy.read = {path};
    return policy;
  };
  EXPECT_NE(Refusal(read("~/.ssh")).find("--allow-sensitive"), std::string::npos);
  EXPECT_NE(Refusal(read("/")).find("whole host"), std::string::npos);
  EXPECT_NE(Refusal(read("/proc")).find("/proc"), std::string::npos);
  EXPECT_NE(Refusal(read("/etc")).find("part of the jail"), std::string::npos);
  EXPECT_NE(Refusal(read("/tmp")).find("to itself"), std::string::npos);
  EXPECT_NE(Refusal(read("nowhere")).find("does not exist"), std::string::npos);
  EXPECT_NE(Refusal(read("/dev/null")).find("/dev"), std::string::npos);
  JailPolicy both = read("~/src");
  both.write = {"~/link"};
  EXPECT_NE(Refusal(both).find("contradicts"), std::string::npos);
  JailPolicy vain;
  vain.allow_sensitive = {"~/.ssh"};
  EXPECT_NE(Refusal(vain).find("allows nothing"), std::string::npos);
}

TEST_F(PlacesTest, ALinkLeadsToWhatWasGranted) {
  JailPolicy policy;
  policy.read = {"~/link"};
  const auto places = Compose(policy);
  ASSERT_TRUE(places) << places.error().message();
  EXPECT_EQ(KindOf(*places, home_ + "/src/a"), PlaceKind::kRead);
  ASSERT_EQ(places->links().size(), 1u);
  EXPECT_EQ(places->links()[0].first, home_ + "/link");
}

TEST_F(PlacesTest, AProgramsOwnInstallationAndItsArguments) {
  JailPolicy policy;
  policy.arguments = policy::ArgumentGrant::kWrite;
  const auto places = Compose(
      policy, {"node", home_ + "/server/node_modules/thing/dist/index.js", home_ + "/src", "-x"});
  ASSERT_TRUE(places) << places.error().message();
  EXPECT_EQ(KindOf(*places, home_ + "/server/node_modules/other"), PlaceKind::kProgram);
  EXPECT_EQ(KindOf(*places, home_ + "/src/file"), PlaceKind::kWrite);
  EXPECT_EQ(places->Find(home_ + "/server/secret"), nullptr);
}

TEST_F(PlacesTest, TheJudgeNamesWhatWouldHaveWorkedOutside) {
  JailPolicy policy;
  policy.read = {"~/src"};
  auto places = Compose(policy);
  ASSERT_TRUE(places);
  const Judge judge({std::move(*places), false}, nullptr);
  const auto read = judge.JudgePath(home_ + "/server/node_modules", Judge::Use::kRead);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->Text(), "read " + home_ + "/server/node_modules: no grant shows it; allow with " +
                              "--read " + home_ + "/server/node_modules");
  const auto write = judge.JudgePath(home_ + "/src/new", Judge::Use::kWrite);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->remedy, "--write " + home_ + "/src");
  EXPECT_FALSE(judge.JudgePath(home_ + "/src", Judge::Use::kRead));
  EXPECT_FALSE(judge.JudgePath(home_ + "/not-there", Judge::Use::kRead));
  EXPECT_FALSE(judge.JudgePath("/proc/meminfo", Judge::Use::kRead));
  EXPECT_FALSE(judge.JudgePath(home_, Judge::Use::kRead)) << "it lies on the way";
  const auto address = judge.JudgeAddress("192.0.2.1:443");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->Text(),
            "connect to 192.0.2.1:443: no host was granted; allow with --net HOST");
}

}  // namespace
}  // namespace glovebox::jail
