#include "container/runtime.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "container/podman.h"
#include "container/program.h"

namespace glovebox::container {
namespace {

struct KindName {
  RuntimeKind kind;
  const char* name;
};
constexpr KindName kKinds[] = {
    {RuntimeKind::kRunsc, "runsc"},   {RuntimeKind::kCrun, "crun"},
    {RuntimeKind::kRunc, "runc"},     {RuntimeKind::kPodman, "podman"},
    {RuntimeKind::kDocker, "docker"},
};

// gVisor's own order of preference; kvm last, because where it half works it does not fail but
// hang, and every try then takes its whole time.
constexpr const char* kPlatforms[] = {"systrap", "ptrace", "kvm"};

// Programs say last what ended them.
std::string LastLine(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  const std::size_t line_end = trimmed.rfind('\n');
  return std::string(line_end == std::string_view::npos ? trimmed : trimmed.substr(line_end + 1));
}

std::vector<Runtime> Candidates(const KindName& kind, const std::string& launcher) {
  Runtime runtime;
  runtime.kind = kind.kind;
  runtime.program = FindProgram(kind.name);
  runtime.launcher = launcher;
  if (runtime.program.empty()) return {};
  if (kind.kind != RuntimeKind::kRunsc) return {runtime};
  std::vector<Runtime> candidates;
  for (const char* platform : kPlatforms) {
    runtime.platform = platform;
    candidates.push_back(runtime);
  }
  return candidates;
}

}  // namespace

std::string Runtime::name() const {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "unknown";
}

std::string Runtime::Describe() const {
  if (kind == RuntimeKind::kRunsc) return "gVisor (runsc, platform " + platform + ")";
  if (podman()) return "podman (crun)";
  return name();
}

std::vector<std::string> Runtime::Front(const std::string& state_folder) const {
  switch (kind) {
    case RuntimeKind::kRunsc:
      // Limits are the business of the group that the runtime is started in.
      return {program,          "--root",           state_folder,
              "--network=none", "--ignore-cgroups", "--platform=" + platform};
    case RuntimeKind::kCrun:
      return {launcher, "launch", program, "--root", state_folder, "--cgroup-manager=disabled"};
    case RuntimeKind::kRunc: return {launcher, "launch", program, "--root", state_folder};
    case RuntimeKind::kPodman: {
      std::vector<std::string> arguments = {launcher, "launch"};
      for (std::string& word : PodmanFront(program, state_folder)) {
        arguments.push_back(std::move(word));
      }
      return arguments;
    }
    case RuntimeKind::kDocker: return {program};
  }
  return {};
}

std::vector<std::string> Runtime::RunArguments(const std::string& state_folder,
                                               const std::string& bundle,
                                               const std::string& pid_file,
                                               const std::string& id) const {
  std::vector<std::string> arguments = Front(state_folder);
  if (podman()) {
    for (std::string& word : PodmanRun(state_folder, pid_file, id)) {
      arguments.push_back(std::move(word));
    }
    return arguments;
  }
  arguments.insert(arguments.end(), {"run", "--bundle", bundle});
  if (!pid_file.empty()) arguments.insert(arguments.end(), {"--detach", "--pid-file", pid_file});
  arguments.push_back(id);
  return arguments;
}

std::vector<std::string> Runtime::DeleteArguments(const std::string& state_folder,
                                                  const std::string& id) const {
  std::vector<std::string> arguments = Front(state_folder);
  if (podman()) {
    arguments.insert(arguments.end(), {"rm", "--force", "--time=0", "--ignore", id});
  } else if (docker()) {
    arguments.insert(arguments.end(), {"rm", "--force", id});
  } else {
    arguments.insert(arguments.end(), {"delete", "--force", id});
  }
  return arguments;
}

const std::vector<std::string>& RuntimeNames() {
  static const std::vector<std::string> names = {"auto", "runsc",  "crun",
                                                 "runc", "podman", "docker"};
  return names;
}

Result<Runtime> FindRuntime(const std::string& setting, const std::string& launcher,
                            const RuntimeProof& proof) {
  std::string tried;
  for (const KindName& kind : kKinds) {
    if (setting != "auto" && setting != kind.name) continue;
    const std::vector<Runtime> candidates = Candidates(kind, launcher);
    if (candidates.empty()) tried += std::string("; ") + kind.name + " is not installed";
    for (const Runtime& candidate : candidates) {
      const Status proven = proof(candidate);
      if (proven) return candidate;
      tried += "; " + candidate.Describe() + ": " + LastLine(proven.error().message());
    }
  }
  return Error(Errc::kUnsupported,
               "no container runtime works here" + tried +
                   ". Install gVisor (the Debian package runsc; docs/containers.md), or name "
                   "another one by SANDBOX_CONTAINER_RUNTIME");
}

}  // namespace glovebox::container
