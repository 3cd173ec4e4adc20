#include "container/docker.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;

constexpr char kServerLabel[] = "io.glovebox.server";

// A field of a comma-separated list, as docker reads --mount.
std::string Field(const std::string& name, const std::string& value) {
  std::string field = name + "=" + value;
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Folders that lie in what is bound keep out: they would be writable, whatever is said here.
std::string Bind(const std::string& source, const std::string& target) {
  return "--mount=type=bind," + Field("source", source) + "," + Field("target", target) +
         ",readonly,bind-nonrecursive=true";
}

std::string Tmpfs(const policy::TmpfsItem& item, const std::string& owner) {
  return "--tmpfs=" + item.path + ":rw,nosuid,nodev,noexec,mode=700,uid=" + owner +
         ",gid=" + owner + ",size=" + std::to_string(item.size_bytes) +
         ",nr_inodes=" + std::to_string(item.inodes);
}

// "RLIMIT_CORE" is docker's "core".
std::string Limit(const policy::RlimitItem& item, std::string_view name) {
  name.remove_prefix(std::string_view("RLIMIT_").size());
  std::string words = "--ulimit=";
  for (const char c : name) words += static_cast<char>(std::tolower(c));
  const std::string value = std::to_string(item.value);
  return words + "=" + value + ":" + value;
}

// What a container mounts anew in any case.
bool IsMade(const std::string& name) { return name == "proc" || name == "dev" || name == "sys"; }

}  // namespace

Status CheckDockerDaemon(const std::string& socket_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  CHECK(socket_path.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return Error(Errc::kUnsupported, "no daemon answers at " + socket_path + " (" +
                                         std::string(::strerrordesc_np(errno)) +
                                         "): start it, or name a runtime that needs none");
  }
  ucred daemon = {};
  socklen_t size = sizeof(daemon);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &daemon, &size) == 0 && daemon.pid > 0) {
    return {};
  }
  return Error(Errc::kUnsupported,
               "its daemon is outside of our PID namespace, where no container of its can be held "
               "to our limits: run glovebox beside the daemon, or name another runtime");
}

Result<DockerRoot> MakeDockerRoot(const ContainerRoot& root, bool is_image) {
  for (const BindMount& bind : root.binds) {
    if (!bind.writable) continue;
    return Error(Errc::kUnsupported,
                 "docker cannot keep what is written in " + bind.source +
                     " from being executed: grant folders to be read only, or name another "
                     "runtime by SANDBOX_CONTAINER_RUNTIME (podman, or the runc that docker "
                     "brought along)");
  }
  DockerRoot made{root, {"."}, !is_image};
  if (!is_image) return made;
  made.entries.clear();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root.folder, error)) {
    const std::string name = entry.path().filename().string();
    made.entries.push_back("./" + name);
    if (entry.is_symlink() || !entry.is_directory() || IsMade(name)) continue;
    made.root.binds.insert(made.root.binds.begin(), {entry.path().string(), "/" + name, false});
  }
  if (error) return Error::FromErrno("reading " + root.folder, error.value());
  return made;
}

std::vector<std::vector<std::string>> DockerImport(const std::string& docker,
                                                   const DockerRoot& root,
                                                   const std::string& archive,
                                                   const std::string& name) {
  std::vector<std::string> pack = {"/bin/tar", "--create", "--file=" + archive, "--numeric-owner",
                                   "--directory=" + root.root.folder};
  if (!root.whole) pack.emplace_back("--no-recursion");
  pack.emplace_back("--");
  pack.insert(pack.end(), root.entries.begin(), root.entries.end());
  return {std::move(pack),
          {docker, "import", std::string("--change=LABEL ") + kServerLabel + "=", archive, name}};
}

std::vector<std::string> DockerRun(const BundleSpec& spec, const DockerStart& start) {
  const std::string owner = std::to_string(spec.ids ? spec.ids->box : spec.inner_uid);
  std::vector<std::string> words = {
      start.docker, "run", "--rm", "--name=" + spec.id,
      std::string("--label=") + kServerLabel + "=" + spec.server,
      "--label=io.glovebox.container=" + spec.id, "--pull=never", "--network=none", "--ipc=private",
      "--cgroupns=private", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
      "--security-opt=seccomp=" + start.filter_file, "--log-driver=none",
      "--hostname=" + spec.host_name, "--workdir=" + spec.work_folder,
      "--user=" + owner + ":" + owner,
      // Nothing of the host's devices and groups.
      "--tmpfs=/sys:ro,size=4096,mode=555"};
  if (start.detach) {
    words.emplace_back("--detach");
    words.insert(words.begin(), {start.launcher, "outlive"});
  }
  for (const auto& [name, value] : spec.policy->environment) {
    words.emplace_back("--env=").append(name).append("=").append(value);
  }
  for (const policy::RlimitItem& item : spec.policy->rlimits) {
    if (const char* name = LimitName(item.resource)) words.push_back(Limit(item, name));
  }
  for (const policy::TmpfsItem& item : spec.policy->tmpfs) words.push_back(Tmpfs(item, owner));
  for (const BindMount& bind : spec.root->binds) words.push_back(Bind(bind.source, bind.target));
  if (!start.wire_folder.empty()) words.push_back(Bind(start.wire_folder, kDockerWireFolder));
  words.push_back(start.image);
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  return words;
}

std::vector<std::string> DockerContainers(const std::string& docker) {
  return {docker, "ps", "--all", std::string("--filter=label=") + kServerLabel,
          std::string("--format={{.Label \"") + kServerLabel + "\"}} {{.Names}}"};
}

std::vector<std::string> DockerImages(const std::string& docker) {
  return {docker, "image", "ls", std::string("--filter=label=") + kServerLabel,
          "--format={{.Tag}} {{.Repository}}:{{.Tag}}"};
}

std::string DockerImageName(const std::string& server, std::uint64_t number) {
  return "glovebox:" + server + "." + std::to_string(number);
}

std::vector<std::string> DockerOrphans(const std::string& listed, const std::string& state_parent) {
  std::vector<std::string> orphans;
  for (const std::string_view line : Split(listed, '\n')) {
    const std::vector<std::string_view> words = Split(line, ' ');
    if (words.size() != 2) continue;
    const std::string server(words[0].substr(0, words[0].find('.')));
    if (server.empty() || server.find('/') != std::string::npos) continue;
    std::string folder = state_parent;
    folder.append("/").append(server);
    if (::access(folder.c_str(), F_OK) != 0) orphans.emplace_back(words[1]);
  }
  return orphans;
}

}  // namespace glovebox::container
