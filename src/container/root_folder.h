#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "container/image.h"
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

// Makes `folder` the root that `plan` describes: its files, links and mount points are made in it,
// what it binds is listed. Devices, /proc and tmpfs are the runtime's to make. What nobody may open
// is covered by something beside `folder` that nobody may.
Result<ContainerRoot> MakeHostRoot(const sandbox::RootPlan& plan, const std::string& folder);

// The root that an image brings. Of `layout`, only what lies at `targets` is added: our program and
// what an operator grants. A place for it is made in an image of our cache; any other folder is not
// changed. An image without a place that it needs, or without `stdlib`, the standard library of our
// Python, is kInvalidArgument, with the fix.
Result<ContainerRoot> MakeImageRoot(const sandbox::RootLayout& layout, const Image& image,
                                    const std::vector<std::string>& targets,
                                    const std::string& stdlib);

}  // namespace glovebox::container
