#include "policy/package_list.h"

#include <algorithm>
#include <utility>

#include "policy/toml_reader.h"

namespace glovebox::policy {
namespace {

Result<PythonPackage> ReadPackage(const toml::table& entry) {
  TRY(CheckKeys(entry, {"module", "distribution", "debian", "why"}));
  PythonPackage package;
  package.module = TRY(ReadText(entry, "module", "name what code imports"));
  package.distribution =
      TRY(ReadText(entry, "distribution", "name it as importlib.metadata knows it"));
  package.debian = TRY(ReadText(entry, "debian", "name the Debian package"));
  TRY(ReadText(entry, "why", "say who asks for it"));
  return package;
}

}  // namespace

Result<std::vector<PythonPackage>> ParsePackageList(std::string_view text) {
  const toml::table table = TRY(ParseToml(text));
  TRY(CheckKeys(table, {"package"}));
  std::vector<PythonPackage> packages;
  for (const toml::table* entry : TRY(ReadEntries(table, "package"))) {
    Result<PythonPackage> package = ReadPackage(*entry);
    if (!package) {
      return std::move(package).error().Within("package entry " +
                                               std::to_string(packages.size() + 1) + " (line " +
                                               std::to_string(entry->source().begin.line) + ")");
    }
    const bool twice = std::any_of(packages.begin(), packages.end(), [&](const auto& other) {
      return other.module == package->module;
    });
    if (twice) return InvalidPolicy("module `" + package->module + "` is named twice");
    packages.push_back(std::move(*package));
  }
  return packages;
}

}  // namespace glovebox::policy
