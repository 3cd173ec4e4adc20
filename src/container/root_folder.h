#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/compile/root_layout.h"

namespace glovebox::container {

// Something of the host that a container sees.
struct BindMount {
  std::string source;
  std::string target;  // absolute
  bool writable = false;
};

// The root of a container: a folder, and what is mounted into it.
struct ContainerRoot {
  std::string folder;
  std::vector<BindMount> binds;
};

// Makes `folder` the root that `layout` describes: its files, links and mount points are made in
// it, what it binds is listed. Devices and /proc are the runtime's to make.
Result<ContainerRoot> MakeHostRoot(const sandbox::RootLayout& layout, const std::string& folder);

// The root that an image brings, a folder with an unpacked root file system of which nothing is
// changed. Of `layout`, only what lies at `targets` is added: our program and what an operator
// grants. An image without a folder it needs, or with a Python that is not `python_version`, is
// kInvalidArgument, with the fix.
Result<ContainerRoot> MakeImageRoot(const sandbox::RootLayout& layout, const std::string& image,
                                    const std::vector<std::string>& targets,
                                    const std::string& stdlib);

}  // namespace glovebox::container
