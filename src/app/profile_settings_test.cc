#include "app/profile_settings.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ProfileSettingsTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static Configuration With(std::vector<std::pair<std::string, std::string>> variables) {
    ConfigurationSources sources;
    sources.environment = std::move(variables);
    auto configuration = Configure(sources);
    EXPECT_TRUE(configuration.ok()) << configuration.error().message();
    return std::move(*configuration);
  }
  static std::vector<std::string> KindNames(const Configuration& configuration) {
    std::vector<std::string> names;
    const auto kinds = BoxKindsOf(configuration.settings);
    for (const BoxKind& kind : *kinds) names.push_back(kind.name);
    return names;
  }

  // Tests run side by side, in processes of their own.
  const std::string folder_ =
      testing::TempDir() + "profile_settings_test." + std::to_string(::getpid());
};

TEST_F(ProfileSettingsTest, EnablingAProfileOffersIt) {
  EXPECT_THAT(OfferOf(With({})).enabled, ElementsAre("basic", "full"));
  EXPECT_THAT(OfferOf(With({{"SANDBOX_ENABLE_FULL", "false"}})).enabled, ElementsAre("basic"));
  for (const char* profile : {"data_science", "network", "filesystem"}) {
    const auto offer = OfferOf(With({{policy::EnableVariable(profile), "true"}}));
    EXPECT_THAT(offer.enabled, Contains(profile));
  }
}

TEST_F(ProfileSettingsTest, MemoryCountsForAllProfilesOnlyWhenItIsSet) {
  EXPECT_FALSE(OfferOf(With({})).memory_bytes.has_value());
  EXPECT_EQ(OfferOf(With({{"SANDBOX_DEFAULT_MEMORY_LIMIT", "64m"}})).memory_bytes, 64u << 20);
}

TEST_F(ProfileSettingsTest, ThereIsAKindForEveryCombinationThatNeedsOne) {
  EXPECT_THAT(KindNames(With({})), ElementsAre("python"));
  EXPECT_THAT(KindNames(With({{"SANDBOX_ENABLE_DATA_SCIENCE", "1"}})),
              ElementsAre("python", "python+data_science"));
  EXPECT_THAT(
      KindNames(With({{"SANDBOX_ENABLE_DATA_SCIENCE", "1"}, {"SANDBOX_ENABLE_FILESYSTEM", "1"}})),
      ElementsAre("python", "python+data_science", "python+filesystem",
                  "python+data_science+filesystem"));
}

TEST_F(ProfileSettingsTest, EveryChoiceHasItsKind) {
  const Configuration configuration =
      With({{"SANDBOX_ENABLE_DATA_SCIENCE", "1"}, {"SANDBOX_ENABLE_FILESYSTEM", "1"}});
  const policy::ProfileOffer offer = OfferOf(configuration);
  for (const char* profile : {"basic", "full", "basic+data_science", "full+filesystem",
                              "basic+data_science+filesystem", "filesystem", ""}) {
    EXPECT_THAT(KindNames(configuration), Contains(offer.Choose(profile, {})->box_kind()))
        << profile;
  }
}

TEST_F(ProfileSettingsTest, OnlyFilesystemBoxesHaveTheFolders) {
  const auto kinds = BoxKindsOf(With({{"SANDBOX_ENABLE_FILESYSTEM", "1"},
                                      {"SANDBOX_READ_PATHS", folder_},
                                      {"SANDBOX_WRITE_PATHS", folder_}})
                                    .settings);
  ASSERT_TRUE(kinds.ok()) << kinds.error().message();
  ASSERT_EQ(kinds->size(), 2u);
  EXPECT_TRUE((*kinds)[0].folders.empty());
  ASSERT_EQ((*kinds)[1].folders.size(), 2u);
  EXPECT_FALSE((*kinds)[1].folders[0].writable);
  EXPECT_TRUE((*kinds)[1].folders[1].writable);
  EXPECT_EQ((*kinds)[1].folders[1].box_path, folder_);
}

TEST_F(ProfileSettingsTest, APythonPathIsAFolderOrAVirtualEnvironment) {
  const auto paths = [&](const std::string& path) {
    return (*BoxKindsOf(With({{"SANDBOX_PYTHON_PATH", path}}).settings))[0].module_paths;
  };
  EXPECT_THAT(paths(folder_), ElementsAre(folder_));
  const std::string packages = folder_ + "/lib/python3.99/site-packages";
  fs::create_directories(packages);
  EXPECT_THAT(paths(folder_), ElementsAre(packages));
}

TEST_F(ProfileSettingsTest, AFolderThatIsNotThereIsNamedWithItsSetting) {
  for (const char* variable :
       {"SANDBOX_READ_PATHS", "SANDBOX_WRITE_PATHS", "SANDBOX_PYTHON_PATH"}) {
    const auto kinds = BoxKindsOf(With({{variable, "/no/such/folder"}}).settings);
    ASSERT_FALSE(kinds.ok());
    EXPECT_THAT(kinds.error().message(), HasSubstr(std::string(variable) + " names '/no/such"));
    EXPECT_FALSE(BoxKindsOf(With({{variable, "relative"}}).settings).ok());
  }
}

}  // namespace
}  // namespace glovebox
