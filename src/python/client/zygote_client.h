#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/result.h"
#include "base/unique_fd.h"
#include "python/wire/descriptor_passing.h"
#include "python/wire/zygote.h"
#include "sandbox/parent/spawn.h"

namespace glovebox::python {

// The server's end of a zygote: starts it, asks it for boxes, notices its death. Its destructor
// kills the zygote and with it every box.
//
// Thread rule: everything on the thread that runs the io_context; handlers are never called from
// inside the call that takes them.
class ZygoteClient {
 public:
  using ReadyHandler = std::function<void(Status)>;
  using BornHandler = std::function<void(Result<UniqueFd>)>;  // the pidfd of the box's init

  // Starts `spawn` (whose descriptors are filled in here) and sends it `setup`. `on_ready` hears
  // once whether the interpreter is warm; when the zygote dies, every pending handler gets an error
  // and `on_death` is called.
  static Result<std::unique_ptr<ZygoteClient>> Start(boost::asio::io_context& context,
                                                     sandbox::SpawnRequest spawn,
                                                     const std::string& init_program,
                                                     const wire::ZygoteSetup& setup,
                                                     ReadyHandler on_ready,
                                                     std::function<void()> on_death);
  ~ZygoteClient();
  ZygoteClient(const ZygoteClient&) = delete;
  ZygoteClient& operator=(const ZygoteClient&) = delete;

  // Lets a zygote whose last box is gone end by itself, without waiting for that here. Null is
  // fine.
  static void Retire(std::unique_ptr<ZygoteClient> client);

  // One box. `fds`, `rehearsal`: see wire::SpawnBox. The descriptors stay the caller's.
  struct BoxOrder {
    std::uint32_t uid = 0;
    std::vector<int> fds;
    int birth_fd = -1;  // the v2 cgroup the box is born into, -1 for none
    wire::Rehearsal rehearsal = wire::Rehearsal::kNone;
    std::int32_t cpu = -1;  // the one it may use; -1: all
    std::string folder;     // what it may write where it has no mounts
    bool network = false;   // see wire::SpawnBox
  };
  void SpawnBox(BoxOrder order, BornHandler on_born);

 private:
  ZygoteClient(boost::asio::io_context& context, sandbox::Process process, UniqueFd socket,
               UniqueFd error_output, ReadyHandler on_ready, std::function<void()> on_death);
  void AwaitMessage();
  void ReadMessages();
  void HandleMessage(const wire::ReceivedMessage& message);
  void Die(const std::string& reason);
  std::string LastWords() const;

  boost::asio::io_context& context_;
  sandbox::Process process_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::posix::stream_descriptor death_;  // open once retired
  UniqueFd error_output_;
  ReadyHandler on_ready_;
  std::function<void()> on_death_;
  std::map<std::uint64_t, BornHandler> pending_;
  std::uint64_t next_box_id_ = 1;
  bool dead_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that outlive us
};

}  // namespace glovebox::python
