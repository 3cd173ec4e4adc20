#include "container/oci_layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/unique_fd.h"

namespace glovebox::container {
namespace {

namespace json = boost::json;

constexpr std::string_view kDigestPrefix = "sha256:";
constexpr std::size_t kDigestDigits = 64;
constexpr std::uint64_t kDocumentBytesMax = 4u << 20;  // what registries take for a manifest
constexpr int kIndexDepthMax = 2;                      // an index whose entry is one of platforms
constexpr char kReferenceName[] = "org.opencontainers.image.ref.name";

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#endif

constexpr std::string_view kIndexTypes[] = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::string_view kManifestTypes[] = {
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&texts)[N], std::string_view text) {
  return std::find(std::begin(texts), std::end(texts), text) != std::end(texts);
}

Error Broken(const std::string& where, const std::string& what) {
  return {Errc::kInvalidArgument, where + ": " + what};
}

Result<json::object> ParseObject(const std::string& where, const std::string& text) {
  json::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return Broken(where, "must be a JSON object");
  return std::move(value.as_object());
}

std::string TextOf(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

const json::object* ObjectIn(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

bool IsDigest(std::string_view text) {
  return text.starts_with(kDigestPrefix) && text.size() == kDigestPrefix.size() + kDigestDigits &&
         text.find_first_not_of("0123456789abcdef", kDigestPrefix.size()) == std::string_view::npos;
}

// The entries of `key`, each of which describes a blob of `folder`. A digest names a path: only one
// of our form does.
Result<std::vector<Blob>> BlobsIn(const json::array& descriptors, const std::string& folder,
                                  const std::string& where) {
  std::vector<Blob> blobs;
  for (const json::value& value : descriptors) {
    const json::object* descriptor = value.if_object();
    if (descriptor == nullptr) return Broken(where, "describes a blob by something not an object");
    Blob blob;
    blob.media_type = TextOf(*descriptor, "mediaType");
    blob.digest = TextOf(*descriptor, "digest");
    const json::value* size = descriptor->if_contains("size");
    if (!IsDigest(blob.digest) || size == nullptr || !size->is_int64() || size->get_int64() < 0) {
      return Broken(where, "describes a blob by '" + blob.digest +
                               "': a digest must be sha256: and 64 hex digits, with a size");
    }
    blob.size = static_cast<std::uint64_t>(size->get_int64());
    blob.path = folder + "/blobs/sha256/" + blob.digest.substr(kDigestPrefix.size());
    blobs.push_back(std::move(blob));
  }
  return blobs;
}

Result<json::array> ArrayIn(const json::object& object, std::string_view key,
                            const std::string& where) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_array()) {
    return Broken(where, "must have an array '" + std::string(key) + "'");
  }
  return value->get_array();
}

bool IsForThisMachine(const json::object& descriptor) {
  const json::object* platform = ObjectIn(descriptor, "platform");
  if (platform == nullptr) return true;
  return TextOf(*platform, "os") == "linux" && TextOf(*platform, "architecture") == kArchitecture;
}

std::string ReferenceOf(const json::object& descriptor) {
  const json::object* annotations = ObjectIn(descriptor, "annotations");
  return annotations != nullptr ? TextOf(*annotations, kReferenceName) : std::string();
}

// The one descriptor of an index that is meant.
Result<json::object> Choose(const json::object& index, const std::string& reference,
                            const std::string& where) {
  const json::array descriptors = TRY(ArrayIn(index, "manifests", where));
  std::vector<const json::object*> chosen;
  std::string names;
  for (const json::value& value : descriptors) {
    const json::object* descriptor = value.if_object();
    if (descriptor == nullptr || !IsForThisMachine(*descriptor)) continue;
    const std::string name = ReferenceOf(*descriptor);
    names += (names.empty() ? "" : ", ") + (name.empty() ? "one without a name" : "'" + name + "'");
    if (reference.empty() || name == reference) chosen.push_back(descriptor);
  }
  if (chosen.size() == 1) return *chosen.front();
  const std::string wanted = reference.empty() ? "" : " called '" + reference + "'";
  return Broken(where, "must have exactly one image for linux/" + std::string(kArchitecture) +
                           wanted + ", and has " + std::to_string(chosen.size()) + "; it holds " +
                           (names.empty() ? "none for this machine" : names) +
                           ". Name one of several by FOLDER:NAME");
}

Result<std::string> ReadVerified(const Blob& blob) {
  if (blob.size > kDocumentBytesMax) {
    return Broken(blob.path, "must have at most 4 MiB, as a manifest or an index");
  }
  TRY(VerifyBlob(blob));
  std::optional<std::string> text = ReadFile(blob.path);
  if (!text) return Error::FromErrno("reading " + blob.path, errno);
  return std::move(*text);
}

// The manifest that the index in `text` leads to.
Result<Blob> FindManifest(std::string text, std::string where, const std::string& folder,
                          std::string reference) {
  for (int depth = 0; depth < kIndexDepthMax; ++depth) {
    const json::object index = TRY(ParseObject(where, text));
    const json::object descriptor = TRY(Choose(index, reference, where));
    Blob blob = std::move(TRY(BlobsIn({descriptor}, folder, where)).front());
    if (IsOneOf(kManifestTypes, blob.media_type)) return blob;
    if (!IsOneOf(kIndexTypes, blob.media_type)) {
      return Broken(where, "refers to something of type '" + blob.media_type +
                               "', which is neither an image manifest nor an index");
    }
    text = TRY(ReadVerified(blob));
    where = blob.path;
    reference.clear();
  }
  return Broken(where, "has an index within an index within an index");
}

// The digest of what is left to be read.
Result<std::string> DigestOf(int fd, const std::string& path) {
  Sha256 hash;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::FromErrno("reading " + path, errno);
    if (got == 0) break;
    hash.Update({buffer.data(), static_cast<std::size_t>(got)});
  }
  return std::string(kDigestPrefix) + HexOf(hash.Finish());
}

}  // namespace

bool IsLayout(const std::string& folder) {
  return ::access((folder + "/oci-layout").c_str(), F_OK) == 0 ||
         ::access((folder + "/index.json").c_str(), F_OK) == 0;
}

Result<LayoutImage> ReadLayout(const std::string& folder, const std::string& reference) {
  const std::string mark_path = folder + "/oci-layout";
  const std::optional<std::string> mark = ReadFile(mark_path);
  if (!mark) return Broken(mark_path, "cannot be read; an OCI image layout has that file");
  const std::string version = TextOf(TRY(ParseObject(mark_path, *mark)), "imageLayoutVersion");
  if (version != "1.0.0") {
    return Broken(mark_path, "says imageLayoutVersion '" + version + "'; known is 1.0.0");
  }
  const std::string index_path = folder + "/index.json";
  std::optional<std::string> index = ReadFile(index_path);
  if (!index) return Broken(index_path, "cannot be read; an OCI image layout has that file");
  const Blob manifest = TRY(FindManifest(std::move(*index), index_path, folder, reference));
  const json::object parsed = TRY(ParseObject(manifest.path, TRY(ReadVerified(manifest))));
  LayoutImage image;
  image.digest = manifest.digest;
  image.layers = TRY(BlobsIn(TRY(ArrayIn(parsed, "layers", manifest.path)), folder, manifest.path));
  if (image.layers.empty()) return Broken(manifest.path, "must have at least one layer");
  return image;
}

Status VerifyBlob(const Blob& blob) {
  const UniqueFd file(::open(blob.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return Broken(blob.path, "is named by the image and cannot be opened");
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) return Error::FromErrno(blob.path, errno);
  if (!S_ISREG(facts.st_mode)) return Broken(blob.path, "must be a regular file");
  if (static_cast<std::uint64_t>(facts.st_size) != blob.size) {
    return Broken(blob.path, "must have " + std::to_string(blob.size) + " bytes and has " +
                                 std::to_string(facts.st_size) + "; copy the image anew");
  }
  const std::string digest = TRY(DigestOf(file.get(), blob.path));
  if (digest == blob.digest) return {};
  return Broken(blob.path, "must have the digest " + blob.digest + " and has " + digest +
                               "; copy the image anew");
}

}  // namespace glovebox::container
