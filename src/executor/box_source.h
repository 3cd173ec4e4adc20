#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "executor/box.h"
#include "executor/request.h"
#include "sandbox/parent/cgroup.h"

namespace glovebox {

// What of a request's limits its cgroup holds.
inline sandbox::CgroupLimits GroupLimits(const ExecutionLimits& limits) {
  return {limits.memory_bytes_max, limits.processes_max, 1.0};
}

// Where the boxes of one kind come from: those that are being born, those that wait.
//
// Thread rule: the thread of the io_context. Handlers may be called from inside Want and Refill.
class BoxSource {
 public:
  struct Handlers {
    std::function<void()> waiting;  // another box waits
    // `requests` of those that want a box cannot have one, and why.
    std::function<void(const Error&, std::size_t requests)> failed;
    std::function<void()> changed;  // there may be something for Refill to do
  };

  virtual ~BoxSource() = default;  // kills every box

  virtual const std::string& name() const = 0;                  // of the kind
  virtual const std::vector<std::string>& missing() const = 0;  // what its boxes lack, for people

  // Makes ready for the first birth.
  virtual Status Open() = 0;
  // There are to be `count` boxes waiting or being born, for requests that are here. Boxes born
  // from now on have `limits` in force.
  virtual void Want(std::size_t count, const sandbox::CgroupLimits& limits) = 0;
  // A box that waits, or null.
  virtual std::shared_ptr<Box> Take() = 0;
  // `boxes` are to wait, at most the kind's own number. Begins a few births towards that, or lets
  // boxes go. In a `hurry` a box is made for a request that comes any moment.
  virtual void Refill(std::size_t boxes, bool hurry) = 0;
  virtual std::size_t warm_boxes() const = 0;  // the kind's own number
  virtual std::size_t waiting() const = 0;
};

}  // namespace glovebox
