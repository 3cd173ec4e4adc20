#include "app/zygote_path.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace glovebox {
namespace {

namespace fs = std::filesystem;

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

Result<std::string> FindPart(const std::string& name) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error::FromErrno("/proc/self/exe", error.value());
  const fs::path folder = self.parent_path();
  const fs::path beside = folder / name;
  const fs::path installed = (folder / "../libexec/glovebox" / name).lexically_normal();
  if (IsProgram(beside)) return beside.string();
  if (IsProgram(installed)) return installed.string();
  return Error(Errc::kUnsupported, name + " is missing: it is neither " + beside.string() +
                                       " nor " + installed.string());
}

}  // namespace

Result<std::string> FindZygoteProgram() { return FindPart("glovebox-python"); }

Result<std::string> FindEgressProgram() { return FindPart("glovebox-egress"); }

}  // namespace glovebox
