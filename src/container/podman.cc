#include "container/podman.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace glovebox::container {
namespace {

namespace json = boost::json;

// podman's own idea of the container: an empty root, a program that is not there.
constexpr char kNoProgram[] = "/the-hook-of-glovebox-was-not-asked";

std::string Hook(const std::string& bundle) {
  return json::serialize(json::object{
      {"version", "1.0.0"},
      {"hook", {{"path", "/bin/cat"}, {"args", json::array{"cat", bundle + "/config.json"}}}},
      {"when", {{"always", true}}},
      {"stages", json::array{"precreate"}}});
}

// Without it podman takes its locks from a table that all of this host's podman share, and that a
// container which is simply forgotten would fill.
constexpr char kEngine[] = "[engine]\nlock_type = \"file\"\n";

std::string Storage(const std::string& home) {
  return "[storage]\ndriver = \"vfs\"\nrunroot = \"" + home + "/r\"\ngraphroot = \"" + home +
         "/root\"\n";
}

}  // namespace

NamedTexts PodmanFiles(const std::string& home, const std::string& bundle) {
  return {{"hooks/precreate.json", Hook(bundle)},
          {"containers.conf", kEngine},
          {"storage.conf", Storage(home)},
          {"empty/etc/mtab", ""}};  // podman would make it
}

std::vector<std::string> PodmanFront(const std::string& podman, const std::string& home) {
  return {"/usr/bin/env",
          "CONTAINERS_CONF=" + home + "/containers.conf",
          "CONTAINERS_STORAGE_CONF=" + home + "/storage.conf",
          podman,
          "--root=" + home + "/root",
          "--runroot=" + home + "/r",
          "--tmpdir=" + home + "/tmp",
          "--hooks-dir=" + home + "/hooks",
          "--storage-driver=vfs",
          "--cgroup-manager=cgroupfs",
          "--events-backend=none",
          "--runtime=crun",
          "--runtime-flag=root=" + home + "/crun"};
}

std::vector<std::string> PodmanRun(const std::string& home, const std::string& pid_file,
                                   const std::string& id) {
  std::vector<std::string> words = {"run",
                                    "--name=" + id,
                                    "--cgroups=disabled",
                                    "--network=none",
                                    "--ipc=none",
                                    "--read-only",
                                    "--cap-drop=all",
                                    "--security-opt=no-new-privileges",
                                    "--log-driver=none",
                                    "--no-hosts"};
  if (pid_file.empty()) {
    words.insert(words.end(), {"--interactive", "--rm"});
  } else {
    words.insert(words.end(), {"--detach", "--preserve-fds=1", "--pidfile=" + pid_file});
  }
  words.insert(words.end(), {"--rootfs", home + "/empty", kNoProgram});
  return words;
}

}  // namespace glovebox::container
