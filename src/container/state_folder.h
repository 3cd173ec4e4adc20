#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::container {

// Where the servers of this host keep what belongs to containers. Not below the folder of their
// locks, which nobody else may enter: roots of containers are other users.
inline constexpr char kStateParent[] = "/run/glovebox-containers";

// Files by their names, which may name a folder that they are in.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// The folder in which one server keeps everything about its containers: bundles, what the runtime
// notes, and for every container the command that ends it, written down before it is started. Held
// by a lock that the kernel gives up when we die, however; what is found unlocked is a dead
// server's, and is swept by the next one.
//
//   PARENT/SERVER/lock        SERVER/runtime/      SERVER/root-KIND/     SERVER/c-ID/{config.json,
//   SERVER/image-NAME/        SERVER/eNUMBER/                            delete, pid, log}
class StateFolder {
 public:
  // Sweeps what dead servers left below `parent`, then makes a folder of our own.
  static Result<StateFolder> Open(const std::string& parent);
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  ~StateFolder();  // removes it. Precondition: every container is ended.

  const std::string& path() const { return path_; }
  const std::string& server() const { return server_; }  // a name that no other server has
  std::string runtime_folder() const { return path_ + "/runtime"; }
  // Where an engine keeps what it keeps of container `id`. Short: podman takes 50 characters.
  std::string engine_folder(const std::string& id) const;

  // Makes the folder of container `id`: its configuration, and the command that ends it.
  Result<std::string> AddContainer(const std::string& id, const NamedTexts& configuration,
                                   const std::vector<std::string>& delete_arguments) const;
  // Makes the folder of what an engine is to hold for several containers, and the command that has
  // it removed. That is given when the server ends, after its containers.
  Result<std::string> AddImage(const std::string& name,
                               const std::vector<std::string>& delete_arguments) const;
  // Makes the folder of an engine for container `id`.
  Status AddEngine(const std::string& id, const NamedTexts& files) const;
  // Once nothing of it lives: its folders go, and what the runtime noted of it.
  void RemoveContainer(const std::string& id) const;
  // Ends what an engine has left running for container `id`, and waits for that.
  void EndEngine(const std::string& id) const;

 private:
  StateFolder() = default;
  std::string path_;
  std::string server_;
  UniqueFd lock_;
};

// Ends every container noted below `folder`, a dead server's, and removes the folder.
void SweepStateFolder(const std::string& folder);

}  // namespace glovebox::container
