#pragma once

// What of the host a jail shows, and how: grants resolved against this host, composed by depth.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/box_policy.h"
#include "policy/jail_policy.h"

namespace glovebox::jail {

enum class PlaceKind : std::uint8_t {
  kRuntime,  // of the host, read and executed: every jail has it
  kOwn,      // made by us: a file, a link, a device
  kPrivate,  // memory of the jail's own
  kProgram,  // the program's own installation, read and executed
  kRead,     // granted
  kWrite,    // granted; nothing in it can be executed
  kRefused,  // sensitive, inside something that was granted
};

// One rule about a path and everything below it, until a deeper one.
struct Place {
  std::string path;  // absolute, without links
  PlaceKind kind;
  std::string why;  // "--read ~/src", "~/.ssh: keys and known hosts"
};

// Deeper places last, so that the last one that covers a path decides.
class Places {
 public:
  void Add(Place place);
  // The rule for `path`; null when nothing shows it.
  const Place* Find(std::string_view path) const;
  const std::vector<Place>& all() const { return places_; }

  // A name under which something shown was granted, and what it leads to on the host.
  void AddLink(std::string name, std::string target);
  const std::vector<std::pair<std::string, std::string>>& links() const { return links_; }

 private:
  std::vector<Place> places_;
  std::vector<std::pair<std::string, std::string>> links_;
};

bool IsWithin(std::string_view path, std::string_view folder);

struct SensitivePath {
  std::string path;  // may begin with ~/
  std::string why;
};
// policies/jail/sensitive.toml as built into this program.
Result<std::vector<SensitivePath>> SensitivePaths();

// Who starts the jail, and from where.
struct Starter {
  std::string home;                // $HOME
  std::string folder;              // the current one
  std::vector<std::string> homes;  // every home folder of this host
};
Starter ReadStarter();

// `word` as an absolute path in its shortest form: ~ is the starter's home, and a relative path is
// below the current folder. Links are not followed.
std::string ExpandPath(const std::string& word, const Starter& starter);

// The places of `policy`, for `command`, on top of what `box` holds. An error is a sentence that
// names the flag: a path that is not there, is sensitive, contradicts another one, or would hide a
// part of the box.
Result<Places> ComposePlaces(const policy::JailPolicy& policy, const policy::BoxPolicy& box,
                             const std::vector<std::string>& command, const std::string& executable,
                             const Starter& starter);

}  // namespace glovebox::jail
