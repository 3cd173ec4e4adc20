#include "warm_python.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "policy/profile.h"

namespace glovebox::bench {
namespace {

constexpr std::chrono::seconds kStartPatience{20};

Result<UniqueFd> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error(Errc::kInvalidArgument, path + " is too long for a socket");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return Error::FromErrno("socket", errno);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0) {
    return Error::FromErrno("connecting to " + path, errno);
  }
  return socket;
}

}  // namespace

std::vector<std::string> ModulesOf(const Workload& workload) {
  std::vector<std::string> modules;
  std::vector<std::string_view> profiles = {"basic"};  // which comes with every other
  if (workload.profile != profiles.front()) profiles.emplace_back(workload.profile);
  for (const std::string_view name : profiles) {
    for (const policy::ProfileEntry& entry : policy::FindProfile(name)->preimports) {
      modules.push_back(entry.name);
    }
  }
  return modules;
}

Result<std::unique_ptr<PythonServer>> PythonServer::Start(const std::string& program,
                                                          const std::string& folder,
                                                          const std::string& mode,
                                                          const Workload& workload) {
  const std::string socket = folder + "/" + mode + "_" + workload.name;
  std::vector<std::string> arguments = {program, mode, socket};
  const std::vector<std::string> modules = ModulesOf(workload);
  arguments.insert(arguments.end(), modules.begin(), modules.end());
  std::unique_ptr<PythonServer> server(
      new PythonServer(TRY(PipedProgram::Start(arguments)), socket));
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  while (!Connect(socket)) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Error(Errc::kSystem, program + " does not listen on " + socket);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return server;
}

Status PythonServer::Run(const Workload& workload) const {
  const UniqueFd socket = TRY(Connect(socket_));
  const std::size_t size = std::strlen(workload.code);
  if (::send(socket.get(), workload.code, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    return Error::FromErrno("asking python_server", errno);
  }
  ::shutdown(socket.get(), SHUT_WR);
  std::string printed;
  std::array<char, 256> buffer{};
  for (ssize_t got = 0; (got = ::read(socket.get(), buffer.data(), buffer.size())) > 0;) {
    printed.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (printed != workload.output) {
    return Error(Errc::kSystem, "python_server answered '" + printed + "'");
  }
  return {};
}

}  // namespace glovebox::bench
