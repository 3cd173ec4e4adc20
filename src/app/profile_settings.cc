#include "app/profile_settings.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace glovebox {
namespace {

namespace fs = std::filesystem;

// What an operator named, as it must be: an absolute path of a folder that is there.
Status CheckFolder(const std::string& path, const std::string& setting) {
  std::error_code ignored;
  if (path.starts_with('/') && fs::is_directory(path, ignored)) return {};
  return Error(Errc::kInvalidArgument, setting + " names '" + path +
                                           "': must be the absolute path of a folder that exists");
}

// Where the packages of a virtual environment are; a plain folder is that itself.
std::string PackagesIn(const std::string& path) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path + "/lib", ignored)) {
    const fs::path packages = entry.path() / "site-packages";
    const bool of_python = entry.path().filename().string().starts_with("python3");
    if (of_python && fs::is_directory(packages, ignored)) return packages.string();
  }
  return path;
}

// Modules that are not installed cost nothing ahead of requests.
std::vector<std::string> InstalledPreimports(const policy::Profile& profile,
                                             const std::vector<std::string>& module_paths) {
  std::vector<std::string> folders = module_paths;
  folders.emplace_back("/usr/lib/python3/dist-packages");
  std::vector<std::string> names;
  for (const policy::ProfileEntry& entry : profile.preimports) {
    for (const std::string& folder : folders) {
      std::error_code ignored;
      const std::string top = entry.name.substr(0, entry.name.find('.'));
      if (!fs::exists(folder + "/" + top, ignored)) continue;
      names.push_back(entry.name);
      break;
    }
  }
  return names;
}

std::vector<std::string> Preimports(const policy::Profile& profile) {
  std::vector<std::string> names;
  for (const policy::ProfileEntry& entry : profile.preimports) names.push_back(entry.name);
  return names;
}

Result<std::vector<FolderGrant>> Folders(const ServeSettings& settings) {
  std::vector<FolderGrant> folders;
  for (const std::string& path : settings.read_paths) {
    TRY(CheckFolder(path, "SANDBOX_READ_PATHS"));
    folders.push_back({path, path, false});
  }
  for (const std::string& path : settings.write_paths) {
    TRY(CheckFolder(path, "SANDBOX_WRITE_PATHS"));
    folders.push_back({path, path, true});
  }
  return folders;
}

Result<policy::EgressPolicy> Egress(const ServeSettings& settings) {
  auto policy = policy::ParseEgressPolicy(settings.allowed_hosts);
  if (!policy) return std::move(policy).error().Within("SANDBOX_ALLOWED_HOSTS");
  policy->remedy = "add {} to SANDBOX_ALLOWED_HOSTS of glovebox serve";
  return policy;
}

// What kinds of boxes differ in.
struct Traits {
  bool data = false;
  bool files = false;
  bool network = false;
};

std::vector<Traits> EnabledTraits(const ServeSettings& settings) {
  std::vector<Traits> all;
  for (const bool network : {false, true}) {
    for (const bool files : {false, true}) {
      for (const bool data : {false, true}) {
        const bool enabled = (!network || settings.enable_network) &&
                             (!files || settings.enable_filesystem) &&
                             (!data || settings.enable_data_science);
        if (enabled) all.push_back({data, files, network});
      }
    }
  }
  return all;
}

}  // namespace

policy::ProfileOffer OfferOf(const Configuration& configuration) {
  const ServeSettings& settings = configuration.settings;
  policy::ProfileOffer offer;
  offer.enabled = {"basic"};
  if (settings.enable_data_science) offer.enabled.emplace_back("data_science");
  if (settings.enable_network) offer.enabled.emplace_back("network");
  if (settings.enable_filesystem) offer.enabled.emplace_back("filesystem");
  if (settings.enable_full) offer.enabled.emplace_back("full");
  offer.default_profile = settings.default_profile;
  offer.allowed_imports = settings.allowed_imports;
  if (configuration.given("memory")) offer.memory_bytes = settings.memory_bytes_default;
  offer.memory_bytes_max = settings.memory_bytes_max;
  return offer;
}

Result<std::vector<BoxKind>> BoxKindsOf(const ServeSettings& settings) {
  BoxKind plain;
  plain.preimports = Preimports(*policy::FindProfile("basic"));
  for (const std::string& path : settings.python_path) {
    TRY(CheckFolder(path, "SANDBOX_PYTHON_PATH"));
    plain.module_paths.push_back(PackagesIn(path));
  }
  const std::vector<FolderGrant> folders = TRY(Folders(settings));
  const policy::EgressPolicy egress = TRY(Egress(settings));
  std::vector<BoxKind> kinds;
  for (const Traits& traits : EnabledTraits(settings)) {
    policy::ProfileChoice choice;
    BoxKind kind = plain;
    if (traits.data) {
      choice.profiles.emplace_back("data_science");
      const policy::Profile& profile = *policy::FindProfile("data_science");
      for (std::string& name : InstalledPreimports(profile, plain.module_paths)) {
        kind.preimports.push_back(std::move(name));
      }
    }
    if (traits.files) {
      choice.profiles.emplace_back("filesystem");
      kind.folders = folders;
    }
    if (traits.network) {
      choice.profiles.emplace_back("network");
      kind.egress = egress;
    }
    kind.name = choice.box_kind();
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace glovebox
