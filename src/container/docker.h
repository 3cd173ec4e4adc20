#pragma once

// Theory of operation. docker's daemon starts the container, out of our cgroup and without a
// descriptor of ours: what other runtimes take from config.json it is told by flags, its root is an
// image made of ours, and the wire is a socket in a folder that is mounted into it. What it cannot
// be told (a user namespace) is missing, and is said; what it would do worse than a box promises
// (folders to be written, from which nothing may be executed) is refused.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/bundle.h"
#include "container/root_folder.h"

namespace glovebox::container {

// Where a container finds the folder of its wire, and the socket in it.
inline constexpr char kDockerWireFolder[] = "/wire";
inline constexpr char kWireSocket[] = "socket";

// Whether docker's daemon answers, and where we see the processes of its containers: those are to
// be moved into groups of ours. kUnsupported with the fix.
Status CheckDockerDaemon(const std::string& socket_path = "/var/run/docker.sock");

// `root` as an image can hold it: what is written into it by a bind mount is refused, and a root
// that is large because it is somebody's image is bound folder by folder. `entries` are what a tar
// archive of the root has to contain, relative to its folder.
struct DockerRoot {
  ContainerRoot root;
  std::vector<std::string> entries;
  bool whole = true;  // entries are archived with what is in them
};
Result<DockerRoot> MakeDockerRoot(const ContainerRoot& root, bool is_image);

// The commands that make an image called `name` of it, by way of the file `archive`.
std::vector<std::vector<std::string>> DockerImport(const std::string& docker,
                                                   const DockerRoot& root,
                                                   const std::string& archive,
                                                   const std::string& name);

struct DockerStart {
  std::string docker;       // the program
  std::string launcher;     // glovebox-python
  std::string image;        // made by DockerImport
  std::string filter_file;  // the text of FilterConfiguration()
  std::string wire_folder;  // of the host; empty: the container has none
  bool detach = false;      // the program ends when the container runs, not with it
};

// The command that starts the container of `spec`. A detached one is not to be killed before it has
// ended, and does not die with us: the daemon would cancel the start, and forget half of it.
std::vector<std::string> DockerRun(const BundleSpec& spec, const DockerStart& start);

// The image number `number` of a server.
std::string DockerImageName(const std::string& server, std::uint64_t number);

// The commands that list the containers, and the images, of every server.
std::vector<std::string> DockerContainers(const std::string& docker);
std::vector<std::string> DockerImages(const std::string& docker);
// Those in their output whose server has nothing in `state_parent` any more, by name.
std::vector<std::string> DockerOrphans(const std::string& listed, const std::string& state_parent);

}  // namespace glovebox::container
