#include "jailed_program.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "sandbox/parent/host_decision.h"
#include "sandbox/parent/listeners.h"

using namespace glovebox;

namespace {

template <typename T>
T Must(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::abort();
}

std::string ReadAll(int fd) {
  std::string out;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

std::string WriteHosts(const std::string& text) {
  std::string name = "/tmp/egress-hosts-XXXXXX";
  const UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  std::ofstream(name) << text;
  return name;
}

}  // namespace

std::string EgressProgram() {
  const char* program = std::getenv("GLOVEBOX_EGRESS");
  return program != nullptr ? program : "";
}

JailedProgram::JailedProgram() {
  if (::geteuid() == 0) uids_ = Must(sandbox::UidRange::Take(sandbox::kLockFolder));
  mode_ = sandbox::DecideHostMode(uids_ ? &*uids_ : nullptr).mode;
}

JailedProgram::Ran JailedProgram::Python(const std::string& code,
                                         const std::vector<std::string>& rules,
                                         const std::string& hosts) {
  const policy::EgressPolicy policy = Must(policy::ParseEgressPolicy(rules));
  const policy::BoxNetwork network = policy::PlanBoxNetwork(policy);
  SocketPair listeners = Must(sandbox::MakeListenerSocket());
  std::array<int, 2> pipe;
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) std::abort();
  const UniqueFd output(pipe[0]);
  UniqueFd output_write(pipe[1]);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));

  sandbox::SpawnRequest spawn;
  spawn.namespaces = CLONE_NEWNET | (mode_.user_namespaces() ? CLONE_NEWUSER : 0);
  spawn.uid_base = uids_ ? uids_->base() : ::geteuid();
  spawn.gid_base = uids_ ? uids_->base() : ::getegid();
  spawn.uid_count = uids_ ? 2 : 1;
  if (!mode_.user_namespaces()) spawn.host_uid = uids_->base();
  spawn.listener_ports = network.ports;
  spawn.listener_report_fd = listeners.theirs.get();
  spawn.descriptors = {{null.get(), 0}, {output_write.get(), 1}, {output_write.get(), 2}};
  spawn.executable = "/usr/bin/python3";
  spawn.arguments = {"python3", "-I", "-c", code};
  for (const auto& [name, value] : network.environment) {
    spawn.environment.push_back(name + "=" + value);
  }
  const sandbox::Process program = Must(sandbox::Spawn(spawn));
  output_write.reset();

  egress::ProxyOptions options;
  options.program = EgressProgram();
  options.policy = policy;
  options.listeners = Must(sandbox::ReceiveListeners(listeners.ours.get(), network.ports.size()));
  options.mode = mode_;
  if (uids_) options.uid = uids_->base() + 100;
  options.hosts_file = WriteHosts(hosts);
  const auto proxy = Must(egress::Proxy::Start(std::move(options)));
  ::unlink(options.hosts_file.c_str());
  Ran ran;
  ran.output = ReadAll(output.get());
  egress::Proxy::Taken taken = proxy->Finish();
  if (!taken.ready) ran.output += "[the proxy was never ready]";
  ran.reports = std::move(taken.connections);
  return ran;
}
