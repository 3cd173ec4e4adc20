#include "policy/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

using testing::HasSubstr;

constexpr char kSmall[] = R"(
summary = "s"
category = "c"
kernel = "k"
memory = "64m"
memory_why = "w"
language_layer = true
modules = [{ name = "math", why = "w", package = "p" }]
builtins = []
preimports = []
)";

std::string ErrorOf(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  const Result<Profile> profile = ParseProfile("p", text);
  return profile ? "" : profile.error().message();
}

TEST(ProfileTest, ReadsAProfile) {
  const Result<Profile> profile = ParseProfile("p", kSmall);
  ASSERT_TRUE(profile.ok()) << profile.error().message();
  EXPECT_EQ(profile->name, "p");
  EXPECT_EQ(profile->memory_bytes, 64u << 20);
  ASSERT_EQ(profile->modules.size(), 1u);
  EXPECT_EQ(profile->modules[0].package, "p");
}

TEST(ProfileTest, ErrorsNameTheEntryAndTheRule) {
  EXPECT_THAT(ErrorOf(kSmall, R"(, why = "w")", ""),
              HasSubstr("modules, line 8: `why` is missing"));
  EXPECT_THAT(ErrorOf(kSmall, "summary", "sumary"), HasSubstr("profile 'p': unknown key `sumary`"));
  EXPECT_THAT(ErrorOf(kSmall, "builtins = []\n", ""), HasSubstr("`builtins` is missing"));
  EXPECT_THAT(ErrorOf(kSmall, "64m", "much"), HasSubstr("profile 'p'"));
  EXPECT_THAT(ErrorOf(kSmall, "[{", R"([{ name = "math", why = "w" }, {)"), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf(kSmall, "= true", "= false"), HasSubstr("no list has an effect"));
  EXPECT_THAT(ErrorOf(kSmall, "= true", "= 1"), HasSubstr("`language_layer` is missing"));
}

// Names that clients of the servers before this one rely on.
TEST(ProfileTest, TheBuiltInOnesHaveWhatClientsKnow) {
  const auto expect = [](std::string_view profile, std::initializer_list<const char*> modules) {
    const Profile* found = FindProfile(profile);
    ASSERT_NE(found, nullptr) << profile;
    std::vector<std::string> names;
    for (const ProfileEntry& entry : found->modules) names.push_back(entry.name);
    for (const char* module : modules) EXPECT_THAT(names, testing::Contains(module));
  };
  expect("basic", {"math",         "random",
                   "datetime",     "json",
                   "re",           "time",
                   "calendar",     "uuid",
                   "collections",  "itertools",
                   "functools",    "operator",
                   "bisect",       "heapq",
                   "copy",         "dataclasses",
                   "enum",         "typing",
                   "string",       "textwrap",
                   "unicodedata",  "difflib",
                   "decimal",      "fractions",
                   "statistics",   "cmath",
                   "base64",       "binascii",
                   "hashlib",      "hmac",
                   "secrets",      "html",
                   "html.parser",  "xml.etree.ElementTree",
                   "csv",          "configparser",
                   "urllib.parse", "abc",
                   "contextlib",   "types"});
  expect("data_science", {"numpy", "pandas", "scipy", "matplotlib", "seaborn", "sklearn",
                          "statsmodels", "plotly", "sympy"});
  expect("network", {"httpx", "requests", "urllib.request", "aiohttp", "websocket", "ftplib",
                     "smtplib", "email"});
  expect("filesystem", {"pathlib", "os.path", "tempfile", "shutil", "glob", "zipfile", "tarfile"});
  EXPECT_FALSE(FindProfile("full")->language_layer);
  EXPECT_EQ(FindProfile("none"), nullptr);
}

TEST(ProfileTest, NothingThatReachesTheSystemIsInBasic) {
  for (const ProfileEntry& entry : FindProfile("basic")->modules) {
    for (const char* module :
         {"os", "sys", "subprocess", "socket", "ctypes", "importlib", "builtins", "inspect", "gc",
          "signal", "multiprocessing", "pickle"}) {
      EXPECT_NE(entry.name, module);
    }
  }
}

TEST(ProfileTest, AModuleBringsItsSubmodulesAndNotItsParent) {
  EXPECT_TRUE(IsListed({"collections"}, "collections.abc"));
  EXPECT_TRUE(IsListed({"collections"}, "collections"));
  EXPECT_FALSE(IsListed({"urllib.parse"}, "urllib"));
  EXPECT_FALSE(IsListed({"re"}, "reprlib"));
}

}  // namespace
}  // namespace glovebox::policy
