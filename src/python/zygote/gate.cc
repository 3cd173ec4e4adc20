#include "python/zygote/gate.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "python/wire/descriptor_passing.h"
#include "python/wire/gate.h"
#include "python/zygote/run_cell.h"

namespace glovebox::zygote {
namespace {

bool ReadExactly(int fd, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(fd, data, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// For who has just answered: a plain read would also wake us when the answer is taken from the
// socket, on the server's CPU and before it goes on. What a program may have put in the socket's
// place is left to the read, which fails.
void AwaitNext(int gate_fd) {
  struct stat gate_info;
  if (::fstat(gate_fd, &gate_info) != 0 || !S_ISSOCK(gate_info.st_mode)) return;
  pollfd gate = {gate_fd, POLLIN, 0};
  while (::poll(&gate, 1, -1) < 0 && errno == EINTR) {
  }
}

std::optional<wire::RunRequest> ReadRequest(int gate_fd) {
  wire::FrameHeader header;
  if (!ReadExactly(gate_fd, reinterpret_cast<char*>(&header), sizeof(header))) return std::nullopt;
  if (header.kind != wire::FrameKind::kRun || header.length > wire::kRunBytesMax) {
    return std::nullopt;
  }
  std::string payload(header.length, '\0');
  if (!ReadExactly(gate_fd, payload.data(), payload.size())) return std::nullopt;
  return wire::DecodeRunRequest(payload);
}

}  // namespace

void ServeGate(int gate_fd, sandbox::Walls walls, UniqueFd listener) {
  std::vector<int> passed;
  if (listener) passed.push_back(listener.get());
  const std::string ready = wire::Frame(wire::FrameKind::kReady, {});
  if (wire::SendWithDescriptors(gate_fd, ready, passed) != 0) ::_exit(0);
  listener.reset();  // untrusted code must never hold it
  while (std::optional<wire::RunRequest> request = ReadRequest(gate_fd)) {
    const wire::RunResult result = RunCell(*request, walls);
    request.reset();
    const std::string frame = wire::Frame(wire::FrameKind::kResult, wire::EncodeRunResult(result));
    if (!WriteAll(gate_fd, frame)) ::_exit(result.exit_code);
    AwaitNext(gate_fd);
  }
  ::_exit(0);
}

}  // namespace glovebox::zygote
