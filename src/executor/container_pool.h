#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "container/containers.h"
#include "executor/box.h"
#include "executor/box_kind.h"
#include "executor/box_source.h"
#include "executor/host_share.h"
#include "executor/slot_table.h"
#include "python/client/box_factory.h"

namespace glovebox {

// The boxes of one kind that are OCI containers. Each is started by the runtime, inside the cgroup
// of its slot, with one end of a socket as its standard input; over that it gets what a box gets
// from its zygote: its set-up and its descriptors. From there on it is a box like any other, whose
// init is the container's first process (gVisor: the process that is the container).
//
//   runtime `run --detach` ends --> pid file --> the container says it is ready --> a Box waits
//   docker: the container calls --> is moved into the slot's group, gets its set-up --> the same
//   the Box is gone             --> its notes are removed; runc, docker: by a command besides, in
//   the background
//
// Thread rule: as for every BoxSource.
class ContainerPool final : public BoxSource {
 public:
  // What of the executor's a pool uses; all of it must outlive the pool.
  struct Means {
    boost::asio::io_context& context;
    SlotTable& slots;
    const HostShare& host;
    container::Containers& containers;
  };

  // `factory` was made for containers (python::BoxFooting).
  static Result<std::unique_ptr<ContainerPool>> Create(Means means, BoxKind kind,
                                                       python::BoxFactory factory,
                                                       Handlers handlers);
  ~ContainerPool() override;
  ContainerPool(const ContainerPool&) = delete;
  ContainerPool& operator=(const ContainerPool&) = delete;

  const std::string& name() const override { return kind_.name; }
  const std::vector<std::string>& missing() const override { return missing_; }
  Status Open() override { return {}; }
  void Want(std::size_t count, const sandbox::CgroupLimits& limits) override;
  std::shared_ptr<Box> Take() override;
  void Refill(std::size_t boxes, bool hurry) override;
  std::size_t warm_boxes() const override { return kind_.warm_boxes; }
  std::size_t waiting() const override { return waiting_.size(); }

 private:
  struct Birth;
  struct Deletion;

  ContainerPool(Means means, BoxKind kind, python::BoxFactory factory,
                container::ContainerKind container_kind, Handlers handlers);
  void BeginBirths();
  void BeginBirth();
  Result<std::shared_ptr<Birth>> TryBirth();
  Status SendSetup(Birth& birth, int socket_fd) const;
  Status StartWithSocket(Birth& birth) const;
  Status StartListening(Birth& birth) const;
  void AwaitCall(const std::shared_ptr<Birth>& birth);
  void OnCall(const std::shared_ptr<Birth>& birth);
  void AwaitRuntime(const std::shared_ptr<Birth>& birth);
  void OnRuntimeEnd(const std::shared_ptr<Birth>& birth);
  void AwaitGreeting(const std::shared_ptr<Birth>& birth);
  void OnGreeting(const std::shared_ptr<Birth>& birth);
  void FailBirth(const std::shared_ptr<Birth>& birth, const Error& error);
  void OnReady(const std::shared_ptr<Box>& box);
  void OnLost(const std::shared_ptr<Birth>& birth, const Error& error);
  void OnGone(const std::shared_ptr<Birth>& birth);
  void Delete(const std::string& id);
  void DeleteNow(const std::string& id);

  Means means_;
  const BoxKind kind_;
  const python::BoxFactory factory_;
  wire::ZygoteSetup setup_;
  const container::ContainerKind container_kind_;
  Handlers handlers_;
  std::vector<std::string> missing_;
  std::deque<std::shared_ptr<Box>> waiting_;  // the oldest first
  std::size_t wanted_ = 0;                    // births for requests, not begun yet
  std::size_t births_ = 0;                    // begun, not ready
  bool failing_ = false;  // the last birth failed: nothing is tried until somebody asks
  std::set<std::shared_ptr<Birth>> lives_;         // every container that is not gone
  std::set<std::shared_ptr<Deletion>> deletions_;  // those whose traces are being removed
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that outlive us
};

}  // namespace glovebox
