#include "base/file.h"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"

namespace glovebox {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;

}  // namespace

std::optional<std::string> ReadFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kFileBytesMax) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
}

Status WriteExisting(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return Error::FromErrno("opening " + path, errno);
  if (::write(fd.get(), text.data(), text.size()) < 0) {
    return Error::FromErrno("writing '" + std::string(text) + "' to " + path, errno);
  }
  return {};
}

}  // namespace glovebox
