#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

// A TCP server at 127.0.0.1 of the host, for one test: every connection is read until its peer is
// quiet or closes, answered with `answer` and closed.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::string answer);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  std::uint16_t port() const { return port_; }
  // "127.0.0.1:PORT"
  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  // What each connection sent, so far.
  std::vector<std::string> received() const;

 private:
  void Run();
  void Serve(int fd);

  const std::string answer_;
  glovebox::UniqueFd listener_;
  glovebox::UniqueFd stop_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> received_;
  std::thread thread_;
};

// An HTTP response with this body.
std::string HttpAnswer(const std::string& body);
