#include "app/configuration.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/setting_table.h"

namespace glovebox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConfigurationSources Everything() {
  ConfigurationSources sources;
  sources.flags = {{"port", "1"}};
  sources.environment = {{"SANDBOX_PORT", "2"}, {"SANDBOX_HOST", "two"}};
  sources.environment_file = {".env", "SANDBOX_PORT=3\nSANDBOX_HOST=three\nSANDBOX_PATH=/three\n"};
  sources.config_file = {"g.toml",
                         "[http]\nport = 4\nhost = \"four\"\npath = \"/four\"\n"
                         "server_names = [\"a\", \"b\"]\n"};
  return sources;
}

std::string ErrorOf(const ConfigurationSources& sources) {
  const auto configuration = Configure(sources);
  return configuration ? "" : configuration.error().message();
}

std::string ErrorOfFlag(const std::string& name, const std::string& value) {
  ConfigurationSources sources;
  sources.flags = {{name, value}};
  return ErrorOf(sources);
}

TEST(ConfigurationTest, DefaultsAreThoseOfTheContract) {
  const auto configuration = Configure({});
  ASSERT_TRUE(configuration.ok());
  const ServeSettings& settings = configuration->settings;
  EXPECT_EQ(settings.transport, "stdio");
  EXPECT_EQ(settings.host, "127.0.0.1");
  EXPECT_EQ(settings.port, 9015u);
  EXPECT_EQ(settings.path, "/mcp");
  EXPECT_EQ(settings.timeout_seconds_default, 30u);
  EXPECT_EQ(settings.timeout_seconds_max, 300u);
  EXPECT_EQ(settings.memory_bytes_default, 128u << 20);
  EXPECT_EQ(settings.output_chars_max, 1'048'576u);
  EXPECT_EQ(settings.code_chars_max, 100'000u);
  EXPECT_EQ(settings.api_token, "");
  EXPECT_TRUE(configuration->origins.empty());
  EXPECT_THAT(configuration->warnings, IsEmpty());
}

TEST(ConfigurationTest, TheStrongestSourceWins) {
  const auto configuration = Configure(Everything());
  ASSERT_TRUE(configuration.ok()) << configuration.error().message();
  EXPECT_EQ(configuration->settings.port, 1u);
  EXPECT_EQ(configuration->settings.host, "two");
  EXPECT_EQ(configuration->settings.path, "/three");
  EXPECT_THAT(configuration->settings.server_names, ElementsAre("a", "b"));
  EXPECT_EQ(configuration->origins.at("port"), "--port");
  EXPECT_EQ(configuration->origins.at("host"), "SANDBOX_HOST in the environment");
  EXPECT_EQ(configuration->origins.at("path"), "SANDBOX_PATH in .env, line 3");
  EXPECT_EQ(configuration->origins.at("server-names"), "`http.server_names` in g.toml, line 5");
  EXPECT_FALSE(configuration->given("rate"));
}

TEST(ConfigurationTest, AnEmptyVariableIsUnset) {
  ConfigurationSources sources = Everything();
  sources.flags.clear();
  sources.environment = {{"SANDBOX_PORT", " "}};
  EXPECT_EQ(Configure(sources)->settings.port, 3u);
}

TEST(ConfigurationTest, TheFirstNameOfASettingCounts) {
  ConfigurationSources sources;
  sources.environment = {{"SANDBOX_DEFAULT_TIMEOUT", "11"}};
  EXPECT_EQ(Configure(sources)->settings.timeout_seconds_default, 11u);
  sources.environment.emplace_back("SANDBOX_TIMEOUT", "12");
  EXPECT_EQ(Configure(sources)->settings.timeout_seconds_default, 12u);
}

TEST(ConfigurationTest, ListsAreTrimmedAndEmptyItemsDropped) {
  ConfigurationSources sources;
  sources.flags = {{"allowed-origins", " https://a , ,https://b,"}};
  EXPECT_THAT(Configure(sources)->settings.allowed_origins, ElementsAre("https://a", "https://b"));
}

TEST(ConfigurationTest, RefusalsNameTheSourceTheValueAndTheRule) {
  EXPECT_EQ(ErrorOfFlag("port", "65536"),
            "--port is '65536': must be a whole number from 0 to 65535");
  EXPECT_EQ(ErrorOfFlag("transport", "sse"), "--transport is 'sse': must be stdio or http");
  EXPECT_EQ(ErrorOfFlag("memory", "15m"),
            "--memory is '15m': must be a size such as 128m, from 16m to 1024g");
  EXPECT_EQ(ErrorOfFlag("max-timeout", "0"),
            "--max-timeout is '0': must be a whole number from 1 to 86400 (seconds)");
  ConfigurationSources sources;
  sources.environment = {{"SANDBOX_MAX_BOXES", "many"}};
  EXPECT_EQ(
      ErrorOf(sources),
      "SANDBOX_MAX_BOXES in the environment is 'many': must be a whole number from 1 to 1024");
  sources = {};
  sources.environment_file = {".env", "\nexport SANDBOX_RATE_LIMIT='-1'\n"};
  EXPECT_EQ(ErrorOf(sources),
            "SANDBOX_RATE_LIMIT in .env, line 2 is '-1': must be a whole number from 0 to 1000000 "
            "(per second)");
  sources = {};
  sources.config_file = {"g.toml", "[http]\nport = \"http\"\n"};
  EXPECT_EQ(ErrorOf(sources),
            "`http.port` in g.toml, line 2 is 'http': must be a whole number from 0 to 65535");
}

// Whatever the table holds: a number beyond either end, and text that is no number, is refused.
TEST(ConfigurationTest, EveryNumberHasARangeThatIsEnforced) {
  int numbers = 0;
  for (const Setting& setting : SettingTable()) {
    if (!std::holds_alternative<std::uint64_t ServeSettings::*>(setting.target)) continue;
    ++numbers;
    ServeSettings settings;
    EXPECT_TRUE(setting.Apply(std::to_string(setting.minimum), settings).ok()) << setting.name;
    EXPECT_TRUE(setting.Apply(std::to_string(setting.maximum), settings).ok()) << setting.name;
    EXPECT_FALSE(setting.Apply(std::to_string(setting.maximum + 1), settings).ok()) << setting.name;
    for (const char* text : {"", "-1", "1.5", "0x10", "1 2", "99999999999999999999"}) {
      EXPECT_FALSE(setting.Apply(text, settings).ok()) << setting.name << " " << text;
    }
    if (setting.minimum > 0) {
      EXPECT_FALSE(setting.Apply(std::to_string(setting.minimum - 1), settings).ok());
    }
  }
  EXPECT_GT(numbers, 10);
}

TEST(ConfigurationTest, DefaultsMustNotExceedMaxima) {
  EXPECT_EQ(ErrorOfFlag("timeout", "301"),
            "--timeout is 301: must be at most max-timeout, which is 300; lower it or raise "
            "--max-timeout");
  EXPECT_EQ(ErrorOfFlag("max-memory", "64m"),
            "the default of memory is 128m: must be at most max-memory, which is 64m; lower it or "
            "raise --max-memory");
}

TEST(ConfigurationTest, PathsThatCannotBeServedAreRefused) {
  for (const char* path : {"mcp", "", "/healthz", "/metrics", "/readyz", "/a?b", "/a b"}) {
    EXPECT_THAT(ErrorOfFlag("path", path), HasSubstr("--path is")) << path;
  }
  EXPECT_EQ(ErrorOfFlag("path", "/"), "");
  EXPECT_THAT(ErrorOfFlag("host", ""), HasSubstr("--host is empty"));
}

TEST(ConfigurationTest, AnUnknownKeyOfTheTomlFileIsRefused) {
  ConfigurationSources sources;
  sources.config_file = {"g.toml", "[http]\nprot = 1\n"};
  EXPECT_EQ(ErrorOf(sources),
            "`http.prot` in g.toml, line 2 is no setting; docs/configuration.md lists them");
  sources.config_file = {"g.toml", "= 1\n"};
  EXPECT_THAT(ErrorOf(sources), HasSubstr("g.toml: line 1: not TOML"));
}

TEST(ConfigurationTest, VariablesThatDoNothingAreWarnedAbout) {
  ConfigurationSources sources;
  sources.environment = {{"SANDBOX_TIMEOUTS", "1"}, {"OTHER", "1"}};
  EXPECT_THAT(Configure(sources)->warnings,
              ElementsAre("SANDBOX_TIMEOUTS in the environment is no setting and has no effect; "
                          "docs/configuration.md lists them"));
}

TEST(ConfigurationTest, FlagsAreTrueOrFalseInAnyCase) {
  for (const char* text : {"TRUE", "true", "1", "Yes", "on"}) {
    ConfigurationSources sources;
    sources.environment = {{"SANDBOX_ENABLE_DATA_SCIENCE", text}};
    EXPECT_TRUE(Configure(sources)->settings.enable_data_science) << text;
  }
  ConfigurationSources sources;
  sources.environment = {{"SANDBOX_ENABLE_FULL", "False"}};
  EXPECT_FALSE(Configure(sources)->settings.enable_full);
  sources.environment = {{"SANDBOX_ENABLE_FULL", "maybe"}};
  EXPECT_EQ(ErrorOf(sources),
            "SANDBOX_ENABLE_FULL in the environment is 'maybe': must be true or false");
}

TEST(ConfigurationTest, TheDefaultProfileMustBeEnabled) {
  ConfigurationSources sources;
  sources.environment = {{"SANDBOX_DEFAULT_PROFILE", "data_science"}};
  EXPECT_THAT(ErrorOf(sources), HasSubstr("SANDBOX_DEFAULT_PROFILE must be one of basic, full"));
  sources.environment.emplace_back("SANDBOX_ENABLE_DATA_SCIENCE", "true");
  EXPECT_TRUE(Configure(sources).ok());
}

TEST(ConfigurationTest, ASecretInAFileForEverybodyIsWarnedAboutWhenItCounts) {
  ConfigurationSources sources;
  sources.environment_file = {".env", "SANDBOX_API_TOKEN=secret\n", true};
  EXPECT_THAT(Configure(sources)->warnings, IsEmpty());
  sources.flags = {{"transport", "http"}};
  const auto configuration = Configure(sources);
  ASSERT_EQ(configuration->warnings.size(), 1u);
  EXPECT_THAT(configuration->warnings[0], HasSubstr("SANDBOX_API_TOKEN in .env, line 1 can be"));
  EXPECT_THAT(configuration->warnings[0], testing::Not(HasSubstr("secret")));
}

class SourcesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/configuration-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  std::string Write(const std::string& name, const std::string& text, mode_t mode) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string folder_;
};

TEST_F(SourcesTest, FilesThatWereNamedAreRead) {
  const std::string toml = Write("a.toml", "transport = \"http\"\n", 0600);
  const std::string env = Write("a.env", "SANDBOX_PORT=7\n", 0644);
  const auto sources = ReadSources({{"host", "h"}}, toml, env);
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  EXPECT_EQ(sources->config_file->text, "transport = \"http\"\n");
  EXPECT_FALSE(sources->config_file->readable_by_all);
  EXPECT_TRUE(sources->environment_file->readable_by_all);
  EXPECT_EQ(sources->flags.at("host"), "h");
  EXPECT_FALSE(sources->environment.empty());
}

TEST_F(SourcesTest, AMissingFileIsAnErrorOnlyWhenItWasNamed) {
  EXPECT_TRUE(ReadSources({}, "", "").ok());
  EXPECT_FALSE(ReadSources({}, "", "")->config_file.has_value());
  const auto missing = ReadSources({}, folder_ + "/none.toml", "");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message(), folder_ + "/none.toml is not a file that can be read");
  EXPECT_FALSE(ReadSources({}, "", folder_).ok());
  const std::string huge = Write("huge.env", std::string((1 << 20) + 1, '#'), 0600);
  EXPECT_FALSE(ReadSources({}, "", huge).ok());
}

}  // namespace
}  // namespace glovebox
