#include "loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

LoopbackServer::LoopbackServer(std::string answer)
    : answer_(std::move(answer)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), any, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), any, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

LoopbackServer::~LoopbackServer() {
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof(one)) != sizeof(one)) std::abort();
  thread_.join();
}

std::vector<std::string> LoopbackServer::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

void LoopbackServer::Run() {
  while (true) {
    std::array<pollfd, 2> waiting = {{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    const glovebox::UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer) Serve(peer.get());
  }
}

void LoopbackServer::Serve(int fd) {
  constexpr int kQuietMs = 150;
  std::string got;
  std::array<char, 4096> buffer;
  pollfd waiting = {fd, POLLIN, 0};
  while (::poll(&waiting, 1, kQuietMs) == 1) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size <= 0) break;
    got.append(buffer.data(), static_cast<std::size_t>(size));
  }
  {
    const std::lock_guard lock(mutex_);
    received_.push_back(got);
  }
  [[maybe_unused]] const ssize_t sent = ::send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
  ::shutdown(fd, SHUT_WR);
}

std::string HttpAnswer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
