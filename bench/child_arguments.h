#pragma once

#include <string>
#include <vector>

namespace glovebox::bench {

// `arguments` as exec wants them; borrows from it.
inline std::vector<char*> ChildArguments(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace glovebox::bench
