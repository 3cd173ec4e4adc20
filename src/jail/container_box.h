#pragma once

// A program of others in an OCI container instead of a box of ours: `glovebox run --container`.

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "container/containers.h"
#include "executor/host_share.h"
#include "jail/box.h"
#include "jail/layout.h"
#include "jail/places.h"
#include "policy/box_policy.h"
#include "policy/jail_policy.h"

namespace glovebox::jail {

// Whether a container can hold what a policy says. An error names the word that it cannot.
Status CheckForContainer(const policy::JailPolicy& policy);

// One container, from the search for a runtime until nothing of it is left.
class ContainerBox {
 public:
  // Finds a runtime that works here, as container::Containers::Open does. `launcher` is
  // glovebox-python. An error says what is missing and the fix; nothing else is ever used instead.
  static Result<std::unique_ptr<ContainerBox>> Open(const std::string& runtime,
                                                    const std::string& launcher,
                                                    const policy::BoxPolicy& policy);
  ~ContainerBox();  // ends it
  ContainerBox(const ContainerBox&) = delete;
  ContainerBox& operator=(const ContainerBox&) = delete;

  std::string Describe() const { return containers_.runtime().Describe(); }

  // Starts the program of `order`. The user it becomes is never root: the one to whom everything
  // belongs that it may write, or a user of its own. `place` has a cgroup and outlives us.
  Result<RunningBox> Start(const BoxOrder& order, const Places& places, const Layout& layout,
                           const policy::BoxPolicy& policy, const HostShare& host, BoxPlace& place);

 private:
  explicit ContainerBox(container::Containers containers) : containers_(std::move(containers)) {}

  container::Containers containers_;
  std::optional<container::PreparedContainer> prepared_;
  BoxPlace* place_ = nullptr;
};

}  // namespace glovebox::jail
