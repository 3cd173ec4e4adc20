#pragma once

// For tests: a small bundle with one of everything.

#include <sys/resource.h>

#include "container/bundle.h"

namespace glovebox::container {

class WithSampleBundle {
 protected:
  WithSampleBundle() {
    root_ = {"/r", {{"/usr/lib/x", "/usr/lib/x", false}}};
    policy_.tmpfs = {{"/tmp", 1 << 20, 16}};
    policy_.environment = {{"HOME", "/work"}};
    policy_.rlimits = {{RLIMIT_NOFILE, 1024}};
    spec_.id = "c1";
    spec_.server = "s1";
    spec_.root = &root_;
    spec_.policy = &policy_;
    spec_.arguments = {"/p", "container"};
    spec_.work_folder = "/work";
    spec_.host_name = "box";
    spec_.ids = HostIds{100, 101};
  }
  WithSampleBundle(const WithSampleBundle&) = delete;
  WithSampleBundle& operator=(const WithSampleBundle&) = delete;

  ContainerRoot root_;
  policy::BoxPolicy policy_;
  BundleSpec spec_;
};

}  // namespace glovebox::container
