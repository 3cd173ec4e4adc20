#include "app/log.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace glovebox {
namespace {

constexpr std::size_t kLineBytesMax = 2000;
constexpr std::array<std::string_view, 4> kNames = {"error", "warning", "info", "debug"};

}  // namespace

Log::Log(std::string_view level) {
  const auto found = std::find(kNames.begin(), kNames.end(), level);
  if (found != kNames.end()) level_ = static_cast<Level>(found - kNames.begin());
}

void Log::Write(Level level, std::string_view sentence) const {
  if (!writes(level)) return;
  std::string line = level == Level::kWarning ? "glovebox: warning: " : "glovebox: ";
  line += sentence.substr(0, kLineBytesMax);
  for (char& character : line) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7F) character = '?';
  }
  line += '\n';
  // In one piece: others may write to the same stream.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace glovebox
