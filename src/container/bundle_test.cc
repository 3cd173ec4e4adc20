#include "container/bundle.h"

#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "container/sample_bundle.h"

namespace glovebox::container {
namespace {

namespace json = boost::json;

class BundleTest : public testing::Test, protected WithSampleBundle {
 protected:
  BundleTest() { root_.binds.push_back({"/data", "/work/data", true}); }

  json::value Configuration() const { return json::parse(BundleConfiguration(spec_)); }

  // The options of what is mounted at `target`, as one text; empty when there is nothing.
  std::string OptionsAt(const std::string& target) const {
    const json::value configuration = Configuration();
    for (const json::value& mount : configuration.at("mounts").as_array()) {
      if (mount.at("destination") != json::value(target)) continue;
      std::string text;
      for (const json::value& option : mount.at("options").as_array()) {
        text += std::string(option.as_string()) + " ";
      }
      return text;
    }
    return {};
  }

  bool HasNamespace(const std::string& type) const {
    const json::value configuration = Configuration();
    for (const json::value& entry : configuration.at("linux").at("namespaces").as_array()) {
      if (entry.at("type") == json::value(type)) return true;
    }
    return false;
  }
};

TEST_F(BundleTest, IsAUserWithoutPowersInAReadOnlyRoot) {
  const json::value configuration = Configuration();
  EXPECT_TRUE(configuration.at("root").at("readonly").as_bool());
  const json::value& process = configuration.at("process");
  EXPECT_EQ(process.at("user").at("uid").as_int64(), 1000);
  EXPECT_TRUE(process.at("noNewPrivileges").as_bool());
  for (const auto& set : process.at("capabilities").as_object()) {
    EXPECT_TRUE(set.value().as_array().empty()) << set.key();
  }
  EXPECT_TRUE(HasNamespace("network"));
  EXPECT_TRUE(HasNamespace("pid"));
  EXPECT_EQ(process.at("rlimits").at(0).at("type"), json::value("RLIMIT_NOFILE"));
  EXPECT_EQ(process.at("rlimits").at(0).at("hard").as_int64(), 1024);
}

TEST_F(BundleTest, WhatTheHostLendsIsReadOnlyUnlessGrantedToWrite) {
  EXPECT_NE(OptionsAt("/usr/lib/x").find("ro "), std::string::npos);
  EXPECT_EQ(OptionsAt("/usr/lib/x").find("rw "), std::string::npos);
  EXPECT_NE(OptionsAt("/work/data").find("rw "), std::string::npos);
  EXPECT_NE(OptionsAt("/work/data").find("noexec "), std::string::npos);
  EXPECT_NE(OptionsAt("/tmp").find("size=1048576 "), std::string::npos);
  EXPECT_NE(OptionsAt("/tmp").find("noexec "), std::string::npos);
}

TEST_F(BundleTest, OnTheHostsKernelThereAreAUserNamespaceAndAFilter) {
  const json::value configuration = Configuration();
  EXPECT_TRUE(HasNamespace("user"));
  EXPECT_EQ(configuration.at("linux").at("uidMappings").at(1).at("hostID").as_int64(), 101);
  const std::string filter = json::serialize(configuration.at("linux").at("seccomp"));
  for (const char* call : {"\"bpf\"", "\"mount\"", "\"ptrace\"", "\"keyctl\""}) {
    EXPECT_NE(filter.find(call), std::string::npos) << call;
  }
  EXPECT_EQ(filter.find("\"execve\""), std::string::npos) << "the container could not start";
}

TEST_F(BundleTest, AKernelOfItsOwnIsAskedForNeither) {
  spec_.own_kernel = true;
  EXPECT_FALSE(HasNamespace("user"));
  EXPECT_FALSE(Configuration().at("linux").as_object().contains("seccomp"));
}

TEST_F(BundleTest, WhatLiesDeeperIsMountedLater) {
  policy_.tmpfs.push_back({.path = "/work", .size_bytes = 1 << 20, .inodes = 16});
  const std::string mounts = json::serialize(Configuration().at("mounts"));
  EXPECT_LT(mounts.find("\"/work\""), mounts.find("\"/work/data\""));
}

TEST_F(BundleTest, FlagsOfWhatIsWritableAreThoseThatCrunKeeps) {
  EXPECT_NE(OptionsAt("/work/data").find("rnoexec "), std::string::npos);
  spec_.own_kernel = true;
  EXPECT_EQ(OptionsAt("/work/data").find("rnoexec "), std::string::npos);
}

TEST_F(BundleTest, AForeignProgramHasItsOwnListAndMayRunWhatItFetched) {
  spec_.foreign = true;
  EXPECT_EQ(OptionsAt("/tmp").find("noexec "), std::string::npos);
  EXPECT_NE(OptionsAt("/work/data").find("noexec "), std::string::npos);
  const json::value configuration = Configuration();
  const std::string filter = json::serialize(configuration.at("linux").at("seccomp"));
  for (const char* call : {"\"clone3\"", "\"unshare\"", "\"seccomp\"", "\"io_uring_setup\"",
                           "\"clone\"", "\"socket\"", "SCMP_CMP_MASKED_EQ"}) {
    EXPECT_NE(filter.find(call), std::string::npos) << call;
  }
  EXPECT_EQ(filter.find("\"execve\""), std::string::npos);
}

TEST_F(BundleTest, AnEnginesFilterLetsAContainerCallUsAndNobodyElse) {
  const json::value filter = json::parse(FilterConfiguration());
  bool other_families = false;
  for (const json::value& rule : filter.at("syscalls").as_array()) {
    const std::string names = json::serialize(rule.at("names"));
    EXPECT_EQ(names.find("\"connect\""), std::string::npos);
    if (names.find("\"socket\"") == std::string::npos) continue;
    other_families = json::serialize(rule.at("args")).find("SCMP_CMP_NE") != std::string::npos;
  }
  EXPECT_TRUE(other_families);
  const std::string text = json::serialize(filter);
  for (const char* call : {"\"bpf\"", "\"mount\"", "\"bind\"", "\"keyctl\""}) {
    EXPECT_NE(text.find(call), std::string::npos) << call;
  }
}

TEST_F(BundleTest, NamesItsMaker) {
  const json::value configuration = Configuration();
  EXPECT_EQ(configuration.at("annotations").at("io.glovebox.container"), json::value("c1"));
  EXPECT_EQ(configuration.at("annotations").at("io.glovebox.server"), json::value("s1"));
}

}  // namespace
}  // namespace glovebox::container
