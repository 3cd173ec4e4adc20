#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "executor/executor.h"

namespace glovebox {

// What code finds in a box: Python's version, modules, packages. Read in a box when somebody asks
// first, then remembered: it is the same in every box of one server.
//
// Thread rule: the executor's thread.
class BoxInventory {
 public:
  // `executor` must outlive every execution it was given.
  explicit BoxInventory(Executor& executor) : executor_(executor) {}

  // Keys: python_version, python_implementation, installed (by profile, those of its modules that
  // are there), importable_count (top-level modules of Python and of packages), builtins, packages
  // (name, version), missing_walls.
  //
  // `done` may run inside the call. An error means that a box failed us; the next Get tries again.
  using Done = std::function<void(const Result<boost::json::object>&)>;
  void Get(Done done);

 private:
  void Finish(const Outcome& outcome);

  Executor& executor_;
  std::optional<boost::json::object> known_;
  std::vector<Done> waiting_;  // not empty while a box is being asked
};

}  // namespace glovebox
