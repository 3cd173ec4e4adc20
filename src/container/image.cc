#include "container/image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/unique_fd.h"
#include "container/layer_tree.h"
#include "container/oci_layout.h"
#include "container/program.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;

constexpr auto kUnpackPatience = std::chrono::minutes(10);
constexpr auto kAskPatience = std::chrono::seconds(30);
constexpr char kSetting[] = "SANDBOX_CONTAINER_IMAGE";
constexpr char kExportName[] = "glovebox-image-export";
constexpr std::size_t kDigestDigits = 64;

std::string FirstLine(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  return std::string(trimmed.substr(0, trimmed.find('\n')));
}

std::string LastLine(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  const std::size_t line_end = trimmed.rfind('\n');
  return std::string(line_end == std::string_view::npos ? trimmed : trimmed.substr(line_end + 1));
}

// Runs it to success, or says with its own words why not.
Result<std::string> RunToSuccess(const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds patience) {
  const ProgramEnd end = TRY(RunProgram(arguments, patience));
  if (!end.in_time) {
    return Error(Errc::kUnsupported, arguments.front() + " did not end in " +
                                         std::to_string(patience.count() / 1000) + " s");
  }
  if (end.exit_code == 0) return end.output;
  return Error(Errc::kInvalidArgument, FirstLine(end.output) + " (exit code " +
                                           std::to_string(end.exit_code) + " of " +
                                           arguments.front() + ")");
}

Result<std::string> Needed(const std::string& program) {
  std::string path = FindProgram(program);
  if (path.empty()) {
    return Error(Errc::kUnsupported, std::string(kSetting) + ": to unpack an image, the program " +
                                         program + " must be installed");
  }
  return path;
}

// How a layer of this type is packed, in tar's words; the type's name says it.
Result<std::vector<std::string>> TarOptions(const Blob& layer) {
  const std::string_view type = layer.media_type;
  const bool known = type.starts_with("application/vnd.oci.image.layer.v1.tar") ||
                     type.starts_with("application/vnd.docker.image.rootfs.diff.tar");
  if (known && (type.ends_with("+gzip") || type.ends_with(".gzip"))) {
    return std::vector<std::string>{"--use-compress-program=" + TRY(Needed("gzip"))};
  }
  if (known && (type.ends_with("+zstd") || type.ends_with(".zstd"))) {
    return std::vector<std::string>{"--use-compress-program=" + TRY(Needed("zstd"))};
  }
  if (known && type.ends_with(".tar")) return std::vector<std::string>{};
  return Error(Errc::kInvalidArgument, layer.path +
                                           ": a layer must be a tar archive, plain, gzip "
                                           "or zstd, and not '" +
                                           layer.media_type + "'");
}

// Into an empty folder: within one archive, tar sees to it that no link leads out. What is in /dev
// is the runtime's to make.
Status Untar(const std::string& archive, const std::string& folder,
             const std::vector<std::string>& options) {
  // Folders that an archive implies and does not have are made as the umask says.
  std::vector<std::string> arguments = {TRY(Needed("sh")),
                                        "-c",
                                        "umask 022 && exec \"$@\"",
                                        "sh",
                                        TRY(Needed("tar")),
                                        "--extract",
                                        "--file=" + archive,
                                        "--directory=" + folder,
                                        "--no-same-owner",
                                        "--same-permissions",
                                        "--force-local",
                                        "--anchored",
                                        "--exclude=dev/*",
                                        "--exclude=./dev/*"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  Result<std::string> done = RunToSuccess(arguments, kUnpackPatience);
  if (done) return {};
  return std::move(done).error().Within("unpacking " + archive);
}

Status MakeFolder(const std::string& path, mode_t mode) {
  // Not as the umask has it: the roots of containers are other users.
  if (::mkdir(path.c_str(), mode) == 0 && ::chmod(path.c_str(), mode) == 0) return {};
  return Error::FromErrno("making " + path, errno);
}

Status UnpackLayers(const LayoutImage& image, const std::string& folder, const std::string& root) {
  for (const Blob& layer : image.layers) {
    const std::vector<std::string> options = TRY(TarOptions(layer));
    TRY(VerifyBlob(layer));
    const std::string unpacked = folder + "/layer";
    TRY(MakeFolder(unpacked, 0755));
    TRY(Untar(layer.path, unpacked, options));
    TRY(ApplyLayer(unpacked, root));
    std::error_code error;
    if (!fs::remove(unpacked, error)) return Error::FromErrno(unpacked, error.value());
  }
  return {};
}

// An image that an engine has.
struct EngineImage {
  std::string engine;  // absolute path
  std::string name;
  std::string id;  // 64 hex digits
};

Status ExportImage(const EngineImage& image, const std::string& folder, const std::string& root) {
  const std::string archive = folder + "/rootfs.tar";
  const std::vector<std::string> remove = {image.engine, "rm", "--force", kExportName};
  // One by us at a time: what has this name was left by a server that died here.
  TRY(RunProgram(remove, kAskPatience));
  // It is never started, and an image without a command is none to create one of.
  Result<std::string> done = RunToSuccess({image.engine, "create", "--pull=never", "--network=none",
                                           "--name", kExportName, image.name, "/none"},
                                          kAskPatience);
  if (done) {
    done =
        RunToSuccess({image.engine, "export", "--output", archive, kExportName}, kUnpackPatience);
    TRY(RunProgram(remove, kAskPatience));
  }
  if (!done) return std::move(done).error().Within("exporting '" + image.name + "'");
  TRY(Untar(archive, root, {}));
  if (::unlink(archive.c_str()) != 0) return Error::FromErrno(archive, errno);
  return {};
}

// The cache's folder, locked: one server at a time unpacks.
Result<UniqueFd> LockCache(const std::string& cache) {
  std::error_code error;
  const std::string parent = fs::path(cache).parent_path().string();
  fs::create_directories(parent, error);
  if (error) return Error::FromErrno("making " + parent, error.value());
  if (::mkdir(cache.c_str(), 0755) == 0) {
    for (const std::string& made : {parent, cache}) ::chmod(made.c_str(), 0755);
  }
  UniqueFd lock(::open(cache.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  struct stat facts = {};
  if (!lock || ::fstat(lock.get(), &facts) != 0) return Error::FromErrno("opening " + cache, errno);
  if (facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error(Errc::kUnsupported, cache +
                                         ": must belong to the user that glovebox runs as, and "
                                         "nobody else may write there; remove it");
  }
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return Error::FromErrno("locking " + cache, errno);
  }
  return lock;
}

using Unpack = std::function<Status(const std::string& folder, const std::string& root)>;

// The root of the image with this digest; `unpack` fills it if it is not in the cache.
Result<Image> Cached(const std::string& cache, const std::string& digits, const Unpack& unpack) {
  const UniqueFd lock = TRY(LockCache(cache));
  const std::string home = cache + "/sha256-" + digits;
  std::error_code ignored;
  if (fs::is_directory(home + "/rootfs", ignored)) return Image{home + "/rootfs", true};
  const std::string begun = cache + "/new";
  fs::remove_all(begun, ignored);  // of a server that died here
  TRY(MakeFolder(begun, 0700));
  TRY(MakeFolder(begun + "/rootfs", 0755));
  Status done = unpack(begun, begun + "/rootfs");
  if (done) done = MakeHarmless(begun + "/rootfs");
  // An archive may say something of the folder it is unpacked into, too.
  if (done && (::chmod((begun + "/rootfs").c_str(), 0755) != 0 ||
               ::chmod(begun.c_str(), 0755) != 0 || ::rename(begun.c_str(), home.c_str()) != 0)) {
    done = Error::FromErrno("keeping " + home, errno);
  }
  if (done) return Image{home + "/rootfs", true};
  fs::remove_all(begun, ignored);
  return std::move(done).error();
}

Result<Image> OpenLayout(const std::string& folder, const std::string& reference,
                         const std::string& cache) {
  const LayoutImage image = TRY(ReadLayout(folder, reference));
  return Cached(cache, image.digest.substr(image.digest.find(':') + 1),
                [&](const std::string& begun, const std::string& root) {
                  return UnpackLayers(image, begun, root);
                });
}

// Also keeps a name from being an option.
bool IsImageName(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return !name.empty() && kLetters.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(std::string(kLetters) + "._-/:@") == std::string_view::npos;
}

Result<EngineImage> FindInEngine(const std::string& engine, const std::string& name) {
  EngineImage image{FindProgram(engine), name, {}};
  if (image.engine.empty()) return Error(Errc::kUnsupported, engine + " is not installed");
  std::string id = LastLine(TRY(
      RunToSuccess({image.engine, "image", "inspect", "--format", "{{.Id}}", name}, kAskPatience)));
  if (id.starts_with("sha256:")) id.erase(0, 7);
  if (id.size() != kDigestDigits || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Error(Errc::kUnsupported, engine + " told no id of it: " + id);
  }
  image.id = std::move(id);
  return image;
}

Result<Image> OpenEngineImage(const std::string& setting, const std::string& cache) {
  std::string name = setting;
  std::vector<std::string> engines = {"podman", "docker"};
  for (const std::string& engine : {std::string("podman"), std::string("docker")}) {
    if (!setting.starts_with(engine + ":")) continue;
    name = setting.substr(engine.size() + 1);
    engines = {engine};
  }
  std::string tried;
  for (const std::string& engine : engines) {
    if (!IsImageName(name)) break;
    const Result<EngineImage> image = FindInEngine(engine, name);
    if (image) {
      return Cached(cache, image->id, [&](const std::string& begun, const std::string& root) {
        return ExportImage(*image, begun, root);
      });
    }
    tried += "; " + engine + ": " + image.error().message();
  }
  return Error(Errc::kInvalidArgument,
               std::string(kSetting) + " names '" + setting +
                   "': must be the absolute path of a folder with an unpacked root file system or "
                   "an OCI image layout, or an image that podman or docker has here" +
                   tried + ". `make build-sandbox` makes a folder; `podman pull` gets an image");
}

}  // namespace

Result<Image> OpenImage(const std::string& setting, const std::string& cache) {
  if (setting.empty()) return Image{};
  if (!setting.starts_with('/')) return OpenEngineImage(setting, cache);
  std::error_code ignored;
  if (fs::is_directory(setting, ignored)) {
    if (IsLayout(setting)) return OpenLayout(setting, "", cache);
    return Image{setting, false};
  }
  const std::size_t colon = setting.rfind(':');
  const std::string folder = setting.substr(0, colon);
  if (colon != std::string::npos && fs::is_directory(folder, ignored) && IsLayout(folder)) {
    return OpenLayout(folder, setting.substr(colon + 1), cache);
  }
  return Error(Errc::kInvalidArgument,
               std::string(kSetting) + " names '" + setting +
                   "', which is no folder: must be one with an unpacked root file system, or an "
                   "OCI image layout, with :NAME for one of several images; `make build-sandbox` "
                   "makes one");
}

}  // namespace glovebox::container
