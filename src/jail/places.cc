#include "jail/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "embedded/jail_policies.h"
#include "jail/program.h"
#include "policy/toml_reader.h"

namespace glovebox::jail {
namespace {

namespace fs = std::filesystem;
using policy::ArgumentGrant;
using policy::InvalidPolicy;

std::size_t Depth(std::string_view path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

std::optional<std::string> RealPath(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return std::nullopt;
  return real.string();
}

// What is refused on this host, with every home folder put in, links followed where there are any.
struct HostSensitive {
  std::string path;
  std::string why;
  bool exists;
  bool folder;
};

std::vector<HostSensitive> OnThisHost(const std::vector<SensitivePath>& list,
                                      const Starter& starter) {
  std::vector<HostSensitive> out;
  const auto add = [&](const std::string& path, const SensitivePath& item) {
    const std::optional<std::string> real = RealPath(path);
    struct stat info = {};
    const bool exists = real && ::stat(real->c_str(), &info) == 0;
    out.push_back({real.value_or(path), item.path + ": " + item.why, exists,
                   exists && S_ISDIR(info.st_mode)});
  };
  for (const SensitivePath& item : list) {
    if (!item.path.starts_with("~/")) {
      add(item.path, item);
      continue;
    }
    for (const std::string& home : starter.homes) add(home + item.path.substr(1), item);
  }
  return out;
}

class Composer {
 public:
  Composer(const policy::BoxPolicy& box, const Starter& starter, std::vector<HostSensitive> refused)
      : box_(box), starter_(starter), sensitive_(std::move(refused)) {}

  Status AllowSensitive(const std::string& word) {
    const std::string path = ExpandPath(word, starter_);
    allowed_.emplace_back(RealPath(path).value_or(path), word);
    return {};
  }

  Status Grant(const std::string& word, PlaceKind kind, const std::string& said) {
    const std::string given = ExpandPath(word, starter_);
    const std::optional<std::string> real = RealPath(given);
    if (!real) return InvalidPolicy(said + ": " + given + " does not exist on this host");
    TRY(CheckKind(*real, said));
    TRY(CheckPlace(*real, kind, said));
    TRY(CheckSensitive(*real, said));
    for (const Place& other : grants_) {
      if (other.path != *real) continue;
      if (other.kind == kind || kind == PlaceKind::kProgram) return {};
      if (other.kind == PlaceKind::kProgram) continue;
      return InvalidPolicy(said + " contradicts " + other.why + ": the same path is to be " +
                           "read-only and writable; say one of them");
    }
    std::erase_if(grants_, [&](const Place& other) { return other.path == *real; });
    grants_.push_back({*real, kind, said});
    if (given != *real) links_.emplace_back(given, *real);
    return {};
  }

  Result<Places> Finish() && {
    Places places;
    for (const policy::RootItem& item : box_.root) {
      if (item.kind != policy::RootItemKind::kBind) {
        places.Add({item.path, PlaceKind::kOwn, "made for the jail"});
      } else if (struct stat info; ::lstat(item.path.c_str(), &info) == 0) {
        const bool link = S_ISLNK(info.st_mode);
        places.Add({item.path, link ? PlaceKind::kOwn : PlaceKind::kRuntime, "every jail has it"});
      }
    }
    for (const policy::TmpfsItem& item : box_.tmpfs) {
      places.Add({item.path, PlaceKind::kPrivate, "the jail's own memory"});
    }
    for (const Place& grant : grants_) places.Add(grant);
    for (const HostSensitive& item : sensitive_) {
      if (item.exists && Reached(item.path) && !Allowed(item.path)) {
        places.Add({item.path, PlaceKind::kRefused, item.why});
      }
    }
    TRY(CheckAllowedAreReached());
    for (auto& [name, target] : links_) places.AddLink(std::move(name), std::move(target));
    return places;
  }

 private:
  static Status CheckKind(const std::string& path, const std::string& said) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) return Error::FromErrno(said, errno);
    if (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)) return {};
    return InvalidPolicy(said + ": " + path +
                         " is neither a folder nor a file; sockets, devices and pipes of the host "
                         "are not granted");
  }

  Status CheckPlace(const std::string& path, PlaceKind kind, const std::string& said) const {
    if (path == "/") {
      return InvalidPolicy(said + ": the whole host is not granted; name the folders");
    }
    for (const char* folder : {"/proc", "/sys", "/dev"}) {
      if (IsWithin(path, folder)) {
        return InvalidPolicy(said + ": " + std::string(folder) + " of the host is not granted");
      }
    }
    const auto hides = [&](const std::string& own) { return own != path && IsWithin(own, path); };
    const std::string rest = " holds a part of the jail itself; grant what is in it one by one";
    for (const policy::RootItem& item : box_.root) {
      const bool runtime = item.kind == policy::RootItemKind::kBind;
      if (hides(item.path) || (item.path == path && (!runtime || kind == PlaceKind::kWrite))) {
        return InvalidPolicy(said + ": " + path + rest);
      }
    }
    for (const policy::TmpfsItem& item : box_.tmpfs) {
      if (item.path != path && !hides(item.path)) continue;
      return InvalidPolicy(said + ": every jail has " + item.path +
                           " to itself; grant a folder in it");
    }
    return {};
  }

  Status CheckSensitive(const std::string& path, const std::string& said) const {
    for (const HostSensitive& item : sensitive_) {
      if (!IsWithin(path, item.path) || Allowed(path)) continue;
      return InvalidPolicy(said + " is refused (" + item.why +
                           "); if the program really needs it: " + "--allow-sensitive " + path);
    }
    return {};
  }

  bool Allowed(const std::string& path) const {
    return std::any_of(allowed_.begin(), allowed_.end(),
                       [&](const auto& word) { return IsWithin(path, word.first); });
  }

  bool Reached(const std::string& path) const {
    return std::any_of(grants_.begin(), grants_.end(),
                       [&](const Place& grant) { return IsWithin(path, grant.path); });
  }

  Status CheckAllowedAreReached() const {
    for (const auto& [path, word] : allowed_) {
      const auto inside = [&](const Place& grant) { return IsWithin(grant.path, path); };
      if (Reached(path) || std::any_of(grants_.begin(), grants_.end(), inside)) continue;
      return InvalidPolicy("--allow-sensitive " + word +
                           " allows nothing: no --read or --write reaches it");
    }
    return {};
  }

  const policy::BoxPolicy& box_;
  const Starter& starter_;
  std::vector<HostSensitive> sensitive_;
  std::vector<std::pair<std::string, std::string>> allowed_;  // path, as it was said
  std::vector<Place> grants_;
  std::vector<std::pair<std::string, std::string>> links_;
};

}  // namespace

bool IsWithin(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

void Places::Add(Place place) {
  const auto deeper = [](const Place& a, const Place& b) { return Depth(a.path) < Depth(b.path); };
  places_.insert(std::upper_bound(places_.begin(), places_.end(), place, deeper), std::move(place));
}

// Only where the name would be ours to make: not in a folder of the host's.
void Places::AddLink(std::string name, std::string target) {
  const Place* place = Find(name);
  if (place == nullptr || place->kind == PlaceKind::kPrivate) {
    links_.emplace_back(std::move(name), std::move(target));
  }
}

const Place* Places::Find(std::string_view path) const {
  const auto found = std::find_if(places_.rbegin(), places_.rend(),
                                  [&](const Place& place) { return IsWithin(path, place.path); });
  return found == places_.rend() ? nullptr : &*found;
}

Result<std::vector<SensitivePath>> SensitivePaths() {
  std::vector<SensitivePath> out;
  const toml::table document = TRY(policy::ParseToml(embedded::kSensitivePaths));
  for (const toml::table* entry : TRY(policy::ReadEntries(document, "sensitive"))) {
    TRY(policy::CheckKeys(*entry, {"path", "why"}));
    out.push_back({TRY(policy::ReadText(*entry, "path", "say which")),
                   TRY(policy::ReadText(*entry, "why", "say what is there"))});
  }
  return out;
}

Starter ReadStarter() {
  Starter starter;
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  starter.home = home != nullptr && home[0] == '/' ? home : "/";
  std::error_code error;
  starter.folder = fs::current_path(error).string();
  if (error) starter.folder = "/";
  starter.homes = {"/root"};
  for (const fs::directory_entry& entry : fs::directory_iterator("/home", error)) {
    starter.homes.push_back(entry.path().string());
  }
  if (starter.home != "/" &&
      std::find(starter.homes.begin(), starter.homes.end(), starter.home) == starter.homes.end()) {
    starter.homes.push_back(starter.home);
  }
  return starter;
}

std::string ExpandPath(const std::string& word, const Starter& starter) {
  std::string path = word;
  if (word == "~" || word.starts_with("~/")) path = starter.home + word.substr(1);
  fs::path full = fs::path(path).is_absolute() ? fs::path(path) : fs::path(starter.folder) / path;
  std::string text = full.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Result<Places> ComposePlaces(const policy::JailPolicy& policy, const policy::BoxPolicy& box,
                             const std::vector<std::string>& command, const std::string& executable,
                             const Starter& starter) {
  Composer composer(box, starter, OnThisHost(TRY(SensitivePaths()), starter));
  for (const std::string& word : policy.allow_sensitive) TRY(composer.AllowSensitive(word));
  const ProgramFiles program = FindProgramFiles(command, executable, starter);
  const auto runtime = [&](const std::string& path) {
    return std::any_of(box.root.begin(), box.root.end(), [&](const policy::RootItem& item) {
      return item.kind == policy::RootItemKind::kBind && IsWithin(path, item.path);
    });
  };
  for (const std::string& path : program.installation) {
    if (!runtime(path)) TRY(composer.Grant(path, PlaceKind::kProgram, "the program in " + path));
  }
  for (const std::string& word : policy.read) {
    TRY(composer.Grant(word, PlaceKind::kRead, "--read " + word));
  }
  for (const std::string& word : policy.write) {
    TRY(composer.Grant(word, PlaceKind::kWrite, "--write " + word));
  }
  const ArgumentGrant arguments = policy.arguments.value_or(ArgumentGrant::kNone);
  if (arguments != ArgumentGrant::kNone) {
    const PlaceKind kind =
        arguments == ArgumentGrant::kWrite ? PlaceKind::kWrite : PlaceKind::kRead;
    for (const std::string& path : program.argument_paths) {
      if (!runtime(path)) TRY(composer.Grant(path, kind, "the argument " + path));
    }
  }
  return std::move(composer).Finish();
}

}  // namespace glovebox::jail
