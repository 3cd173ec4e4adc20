#include "policy/toml_settings.h"

#include <map>

#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

std::map<std::string, std::string> Read(std::string_view text) {
  std::map<std::string, std::string> found;
  const auto settings = ReadTomlSettings(text);
  if (!settings) return {{"error", settings.error().message()}};
  for (const TomlSetting& setting : *settings) {
    found[setting.key] = setting.text + "@" + std::to_string(setting.line);
  }
  return found;
}

std::string ErrorOf(std::string_view text) { return Read(text)["error"]; }

TEST(TomlSettingsTest, FlattensTablesAndKeepsLines) {
  const auto found = Read(
      "transport = \"http\"\n[http]\nport = 9015\nallowed_hosts = [\"a\", \"b:1\"]\n"
      "[http.deeper]\non = true\n");
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"transport", "http@1"},
                                                       {"http.port", "9015@3"},
                                                       {"http.allowed_hosts", "a,b:1@4"},
                                                       {"http.deeper.on", "true@6"}}));
}

TEST(TomlSettingsTest, NothingIsFine) { EXPECT_TRUE(Read("# nothing\n").empty()); }

TEST(TomlSettingsTest, NamesTheLineOfWhatItRefuses) {
  EXPECT_EQ(ErrorOf("a = 1\nb = \n").substr(0, 16), "line 2: not TOML");
  for (const char* value : {"1.5", "1979-05-27", "[1, 2]", "[\"a,b\"]", "[[\"a\"]]", "inf"}) {
    const std::string error = ErrorOf("x = 1\n[t]\nkey = " + std::string(value) + "\n");
    EXPECT_EQ(error.substr(0, 16), "line 3: `t.key` ") << value << ": " << error;
  }
}

}  // namespace
}  // namespace glovebox::policy
