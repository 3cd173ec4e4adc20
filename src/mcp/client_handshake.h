#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "mcp/client_core.h"

namespace glovebox::mcp {

// Finds out what a server speaks and agrees on a revision: asks server/discover, or initialize, or
// the one after the other.
//
// A modern answer, also a modern error, means a modern server. Every other error, an answer of
// another shape, and silence mean a legacy one, whatever the code: such servers refuse a method
// they do not know, or that comes before initialize, in many ways. A server that cannot be reached
// or refuses our token says nothing about its era.
class ClientHandshake : public std::enable_shared_from_this<ClientHandshake> {
 public:
  using Done = std::function<void(Result<ServerDescription>)>;

  // `core` must outlive the handshake's end. `done` runs once, never from inside Start.
  ClientHandshake(ClientCore& core, EraChoice era, Done done);

  void Start();

  // Whether a server that ended while it was asked server/discover may be asked initialize instead,
  // once it was started again.
  bool MayBeginAgain() const;
  void BeginAgain() { Initialize(); }

  void Lose(const Error& reason);

 private:
  enum class Stage : std::uint8_t { kDiscover, kInitialize, kConfirm, kOver };

  void Discover();
  void OnDiscovered(const ClientCore::Answer& answer);
  void FallBack(const Error& reason);  // to initialize, unless the modern era is a must
  void Initialize();
  void OnInitialized(const ClientCore::Answer& answer);
  void Limit(std::chrono::milliseconds time, std::function<void()> expired);
  void Finish(Result<ServerDescription> server);

  ClientCore& core_;
  const EraChoice era_;
  Done done_;
  boost::asio::steady_timer timer_;
  Stage stage_ = Stage::kDiscover;
  std::int64_t id_ = 0;  // of the request under way
};

}  // namespace glovebox::mcp
