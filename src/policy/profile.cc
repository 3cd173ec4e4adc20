#include "policy/profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text.h"
#include "embedded/profiles.h"
#include "policy/toml_reader.h"

namespace glovebox::policy {
namespace {

Result<ProfileEntry> ParseEntry(const toml::table& table) {
  TRY(CheckKeys(table, {"name", "why", "package"}));
  ProfileEntry entry;
  entry.name = TRY(ReadText(table, "name", "say what is granted"));
  entry.why = TRY(ReadText(table, "why", "say who needs it"));
  entry.package = table["package"].value_or(std::string());
  return entry;
}

Result<std::vector<ProfileEntry>> ParseEntries(const toml::table& document, std::string_view kind) {
  const toml::array* list = document[kind].as_array();
  if (list == nullptr) {
    return InvalidPolicy("`" + std::string(kind) + "` is missing: write a list, [] for none");
  }
  std::vector<ProfileEntry> entries;
  for (const toml::node& node : *list) {
    const std::string where =
        std::string(kind) + ", line " + std::to_string(node.source().begin.line);
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return InvalidPolicy(where + R"(: must be written as { name = "...", why = "..." })");
    }
    Result<ProfileEntry> entry = ParseEntry(*table);
    if (!entry) return std::move(entry).error().Within(where);
    const bool twice = std::any_of(entries.begin(), entries.end(), [&](const ProfileEntry& known) {
      return known.name == entry->name;
    });
    if (twice) return InvalidPolicy(where + ": '" + entry->name + "' is there twice");
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<Profile> ParseDocument(std::string_view name, const toml::table& document) {
  TRY(CheckKeys(document, {"summary", "category", "kernel", "memory", "memory_why",
                           "language_layer", "modules", "builtins", "preimports"}));
  Profile profile;
  profile.name = std::string(name);
  profile.summary = TRY(ReadText(document, "summary", "say what it is for"));
  profile.category = TRY(ReadText(document, "category", "name the list of its modules"));
  profile.kernel = TRY(ReadText(document, "kernel", "say what the kernel allows"));
  profile.memory_bytes = TRY(ParseSize(TRY(ReadText(document, "memory", "as in 128m"))));
  TRY(ReadText(document, "memory_why", "say who needs as much"));
  const std::optional<bool> layer = document["language_layer"].value_exact<bool>();
  if (!layer) return InvalidPolicy("`language_layer` is missing: true or false");
  profile.language_layer = *layer;
  profile.modules = TRY(ParseEntries(document, "modules"));
  profile.builtins = TRY(ParseEntries(document, "builtins"));
  profile.preimports = TRY(ParseEntries(document, "preimports"));
  if (!profile.language_layer && !(profile.modules.empty() && profile.builtins.empty())) {
    return InvalidPolicy("without a language layer everything is granted: no list has an effect");
  }
  return profile;
}

std::vector<Profile> BuiltIn() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFiles = {
      {{"basic", embedded::kBasicProfile},
       {"data_science", embedded::kDataScienceProfile},
       {"network", embedded::kNetworkProfile},
       {"filesystem", embedded::kFilesystemProfile},
       {"full", embedded::kFullProfile}}};
  std::vector<Profile> profiles;
  for (const auto& [name, text] : kFiles) {
    Result<Profile> profile = ParseProfile(name, text);
    CHECK(profile.ok());  // part of the program, and tested
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

}  // namespace

Result<Profile> ParseProfile(std::string_view name, std::string_view text) {
  const toml::table document = TRY(ParseToml(text));
  Result<Profile> profile = ParseDocument(name, document);
  if (!profile) return std::move(profile).error().Within("profile '" + std::string(name) + "'");
  return profile;
}

const std::vector<Profile>& Profiles() {
  static const std::vector<Profile> profiles = BuiltIn();
  return profiles;
}

const Profile* FindProfile(std::string_view name) {
  for (const Profile& profile : Profiles()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

std::string EnableVariable(std::string_view profile) {
  std::string variable = "SANDBOX_ENABLE_";
  for (const char letter : profile) {
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return variable;
}

bool IsListed(const std::vector<std::string>& listed, std::string_view name) {
  return std::any_of(listed.begin(), listed.end(), [name](const std::string& prefix) {
    return name == prefix || (name.starts_with(prefix) && name[prefix.size()] == '.');
  });
}

}  // namespace glovebox::policy
