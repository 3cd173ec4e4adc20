#include "app/configuration_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/setting_table.h"
#include "base/file.h"

#ifndef GLOVEBOX_SOURCE_FOLDER
#error "GLOVEBOX_SOURCE_FOLDER is the source tree, defined by src/app/CMakeLists.txt"
#endif

namespace glovebox {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string InTree(const std::string& path) {
  return ReadFile(GLOVEBOX_SOURCE_FOLDER "/" + path).value_or("cannot be read");
}

TEST(ConfigurationDocumentsTest, TheFilesInTheTreeAreWhatTheTableSays) {
  EXPECT_TRUE(InTree(".env.example") == EnvironmentExample()) << "run `make config-docs`";
  EXPECT_TRUE(InTree("docs/configuration.md") == ConfigurationManual()) << "run `make config-docs`";
}

TEST(ConfigurationDocumentsTest, EverySettingIsInBoth) {
  for (const Setting& setting : SettingTable()) {
    for (const std::string_view variable : setting.variables) {
      EXPECT_THAT(ConfigurationManual(), HasSubstr("`" + std::string(variable) + "`"));
    }
    EXPECT_THAT(EnvironmentExample(), HasSubstr("\n#" + std::string(setting.variables[0]) + "="));
  }
}

TEST(ConfigurationDocumentsTest, TheExampleWithItsHashesRemovedSetsTheDefaults) {
  std::string text = EnvironmentExample();
  for (std::size_t at = text.find("\n#SANDBOX"); at != std::string::npos;
       at = text.find("\n#SANDBOX", at)) {
    text.erase(at + 1, 1);
  }
  ConfigurationSources sources;
  sources.environment_file = {".env", text};
  const auto configuration = Configure(sources);
  ASSERT_TRUE(configuration.ok()) << configuration.error().message();
  EXPECT_TRUE(configuration->warnings.empty());
  const auto defaults = Configure({});
  ConfigurationSources printed;
  printed.config_file = {"printed", EffectiveConfiguration(*configuration)};
  EXPECT_THAT(EffectiveConfiguration(*configuration), HasSubstr("port = 9015  # SANDBOX_PORT in"));
  EXPECT_EQ(configuration->settings.body_bytes_max, defaults->settings.body_bytes_max);
}

// What --print-config prints can be saved and used.
TEST(ConfigurationDocumentsTest, ThePrintedConfigurationReadsBackTheSame) {
  ConfigurationSources sources;
  sources.flags = {
      {"transport", "http"}, {"server-names", "a,b"}, {"memory", "100000k"}, {"rate", "0"}};
  const auto first = Configure(sources);
  ASSERT_TRUE(first.ok());
  ConfigurationSources again;
  again.config_file = {"printed", EffectiveConfiguration(*first)};
  const auto second = Configure(again);
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_EQ(second->settings.transport, "http");
  EXPECT_EQ(second->settings.server_names, first->settings.server_names);
  EXPECT_EQ(second->settings.memory_bytes_default, 100000u << 10);
  EXPECT_EQ(second->settings.requests_per_second, 0u);
}

TEST(ConfigurationDocumentsTest, ASecretIsNotPrinted) {
  ConfigurationSources sources;
  sources.environment = {{"SANDBOX_API_TOKEN", "the secret"}};
  const std::string text = EffectiveConfiguration(*Configure(sources));
  EXPECT_THAT(text, HasSubstr("# api_token is set: SANDBOX_API_TOKEN in the environment\n"));
  EXPECT_THAT(text, Not(HasSubstr("the secret")));
}

}  // namespace
}  // namespace glovebox
