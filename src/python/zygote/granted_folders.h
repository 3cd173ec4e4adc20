#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "python/wire/zygote.h"

namespace glovebox::zygote {

// What of the file system is a box's to use, by names alone: nothing is looked up. For evidence,
// never for a decision; the root and Landlock decide.
class GrantedFolders {
 public:
  GrantedFolders() = default;
  // Files count as folders that hold themselves. Without readable ones nothing is known, and
  // everything counts as granted.
  GrantedFolders(std::vector<std::string> readable, std::vector<std::string> writable);

  // One more, to read and to write.
  void Add(const std::string& folder) {
    readable_.push_back(folder);
    writable_.push_back(folder);
  }

  // Whether `path`, seen from the current folder `here`, lies in a granted folder. ".." is
  // followed as text.
  bool Allows(std::string_view path, std::string_view here, bool writes) const;

  bool InWritable(std::string_view path) const;

 private:
  std::vector<std::string> readable_;
  std::vector<std::string> writable_;
};

// As the set-up's Landlock rules have them, whether or not Landlock stands; the writable ones are
// those with the right to make files, and the nodes of /dev.
GrantedFolders GrantedBy(const wire::ZygoteSetup& setup);

}  // namespace glovebox::zygote
