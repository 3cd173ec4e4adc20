#include "app/run_command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/run_keeper.h"
#include "app/zygote_path.h"
#include "base/result.h"
#include "base/text.h"
#include "container/runtime.h"
#include "jail/policy_files.h"
#include "jail/run.h"
#include "policy/jail_policy.h"

namespace glovebox {
namespace {

constexpr int kExitUsage = 2;

struct RunOptions {
  std::string policy;
  std::string profile;
  std::vector<std::string> read;
  std::vector<std::string> write;
  std::vector<std::string> allow_sensitive;
  std::vector<std::string> net;
  std::vector<std::string> env;
  std::string arguments;
  std::string memory;
  std::optional<std::uint32_t> pids;
  std::optional<double> cpu;
  std::optional<std::uint32_t> files;
  std::string io;
  std::string timeout;
  std::string idle;
  bool no_reasons = false;
  bool quiet = false;
  std::string cgroup_parent;
  std::string container;  // its runtime; empty: none
  std::vector<std::string> command;
};

int Complain(int exit_code, const std::string& sentence) {
  std::fprintf(stderr, "glovebox: %s\n", sentence.c_str());
  return exit_code;
}

// What the flags say, in the words of a policy.
Result<policy::JailPolicy> FlagPolicy(const RunOptions& options) {
  policy::JailPolicy policy;
  const auto within = [](const char* flag, Error error) { return std::move(error).Within(flag); };
  if (!options.profile.empty()) {
    if (Status known = policy::CheckJailProfile(options.profile); !known) {
      return within("--profile", std::move(known).error());
    }
    policy.profile = options.profile;
  }
  policy.read = options.read;
  policy.write = options.write;
  policy.allow_sensitive = options.allow_sensitive;
  policy.net = options.net;
  policy.env = options.env;
  for (const std::string& word : options.env) {
    if (Status named = policy::CheckEnvironmentWord(word); !named) {
      return within("--env", std::move(named).error());
    }
  }
  if (!options.arguments.empty()) {
    auto grant = policy::ParseArgumentGrant(options.arguments);
    if (!grant) return within("--arguments", std::move(grant).error());
    policy.arguments = *grant;
  }
  const auto size = [&](const std::string& text, const char* flag,
                        std::optional<std::uint64_t>& value) -> Status {
    if (text.empty()) return {};
    auto bytes = ParseSize(text);
    if (!bytes) return within(flag, std::move(bytes).error());
    value = *bytes;
    return {};
  };
  TRY(size(options.memory, "--memory takes", policy.memory_bytes));
  TRY(size(options.io, "--io takes", policy.io_bytes_per_second));
  policy.pids = options.pids;
  policy.cpus = options.cpu;
  policy.files = options.files;
  const auto duration = [&](const std::string& text, const char* flag,
                            std::optional<double>& value) -> Status {
    if (text.empty()) return {};
    auto seconds = policy::ParseDuration(text);
    if (!seconds) return within(flag, std::move(seconds).error());
    value = *seconds;
    return {};
  };
  TRY(duration(options.timeout, "--timeout", policy.timeout_seconds));
  TRY(duration(options.idle, "--idle", policy.idle_seconds));
  if (options.no_reasons) policy.reasons = false;
  TRY(policy::CheckJailLimits(policy));
  return policy;
}

// `auto` leaves the choice to whom the server leaves it, too.
Result<std::string> ContainerRuntimeOf(const std::string& word) {
  const char* setting = std::getenv("SANDBOX_CONTAINER_RUNTIME");  // NOLINT(concurrency-mt-unsafe)
  if (word != "auto" || setting == nullptr || *setting == '\0') return word;
  const std::vector<std::string>& names = container::RuntimeNames();
  if (std::find(names.begin(), names.end(), setting) != names.end()) return std::string(setting);
  return Error(Errc::kInvalidArgument, std::string("SANDBOX_CONTAINER_RUNTIME is '") + setting +
                                           "': must be auto, runsc, crun, runc, podman or docker");
}

Result<jail::RunRequest> MakeRequest(const RunOptions& options) {
  jail::RunRequest request;
  if (!options.policy.empty()) {
    request.policy = TRY(jail::LoadPolicy(options.policy));
  }
  request.policy = policy::Merge(std::move(request.policy), TRY(FlagPolicy(options)));
  request.command = options.command;
  if (!request.policy.net.empty()) request.egress_program = TRY(FindEgressProgram());
  request.cgroup_parent = options.cgroup_parent;
  if (!options.container.empty()) {
    request.container_runtime = TRY(ContainerRuntimeOf(options.container));
    request.launcher = TRY(FindZygoteProgram());
  }
  request.quiet = options.quiet;
  return request;
}

int RunCommand(const RunOptions& options) {
  Result<jail::RunRequest> request = MakeRequest(options);
  if (!request) return Complain(kExitUsage, request.error().message());
  return RunKept([&](pid_t client) {
    request->client = client;
    Result<int> code = jail::RunJail(*request);
    if (code) return *code;
    const bool usage = code.error().code() == Errc::kInvalidArgument;
    return Complain(usage ? kExitUsage : jail::kExitOurFailure, code.error().message());
  });
}

}  // namespace

void AddRunCommand(CLI::App& root, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      root.add_subcommand("run", "Run an MCP server of others, or any command, in a jail");
  const auto list = [&](const char* flag, std::vector<std::string>& values, const char* help) {
    command->add_option(flag, values, help)->allow_extra_args(false);
  };
  command->add_option("--policy", options->policy,
                      "A policy file, or the name of a shipped one (filesystem, memory, "
                      "everything, fetch); flags add to it");
  list("--read", options->read, "A folder or file it may read");
  list("--write", options->write, "A folder or file it may read and change");
  list("--allow-sensitive", options->allow_sensitive,
       "A sensitive path (keys, tokens, clients' settings) that a grant may reach");
  list("--net", options->net,
       "A host it may reach: example.org, *.example.org, example.org:8443, 10.1.2.3");
  list("--env", options->env, "A variable it gets: NAME passes ours on, NAME=VALUE sets one");
  command->add_option("--arguments", options->arguments,
                      "What paths among its arguments are granted for: none, read or write");
  command->add_option("--profile", options->profile,
                      "node, python or generic; the command's name decides otherwise");
  command->add_option("--memory", options->memory, "Memory limit, as in 512m or 2g");
  command->add_option("--pids", options->pids, "Processes and threads at once");
  command->add_option("--cpu", options->cpu, "CPUs, as in 0.5");
  command->add_option("--files", options->files, "Open files of one process");
  command->add_option("--io", options->io,
                      "Bytes a second, each way, from and to a disk, as in 10m");
  command->add_option("--timeout", options->timeout, "Wall time until it is ended, as in 10m");
  command->add_option("--idle", options->idle, "Time without a message until it is ended");
  command->add_flag("--no-reasons", options->no_reasons,
                    "Do not tell failed tool calls what was refused meanwhile");
  command->add_flag("--quiet", options->quiet, "Do not say refusals on standard error");
  command
      ->add_option("--cgroup-parent", options->cgroup_parent,
                   "The cgroup in which the jail gets its own, such as /sys/fs/cgroup/glovebox")
      ->envname("SANDBOX_CGROUP_PARENT");
  command
      ->add_flag("--container{auto}", options->container,
                 "In an OCI container, under gVisor where it is installed, instead of a box; "
                 "--container=runsc, crun, runc or podman names the runtime")
      ->check(CLI::IsMember(container::RuntimeNames()))
      ->option_text("[=auto|runsc|crun|runc|podman]");
  command->add_option("command", options->command, "The program and its arguments (after --)")
      ->required();
  command->footer(
      "Exit codes: the program's own; 128+s its signal; 124 --timeout or --idle; 137 memory "
      "limit;\n"
      "125 Glovebox failed; 2 usage, or a grant that cannot be given.");
  command->callback([options, &exit_code] { exit_code = RunCommand(*options); });
}

}  // namespace glovebox
