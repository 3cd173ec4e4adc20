#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace glovebox {

// Words for whoever runs the server, on standard error, one line each: "glovebox: <sentence>".
class Log {
 public:
  enum class Level : std::uint8_t { kError, kWarning, kInfo, kDebug };

  // `level` is a value of the setting log-level: what is less important is left out.
  explicit Log(std::string_view level);

  bool writes(Level level) const { return level <= level_; }
  // Control characters leave as '?', and long lines are cut: parts of a sentence may be a client's.
  void Write(Level level, std::string_view sentence) const;

  void Error(std::string_view sentence) const { Write(Level::kError, sentence); }
  void Warn(std::string_view sentence) const { Write(Level::kWarning, sentence); }
  void Inform(std::string_view sentence) const { Write(Level::kInfo, sentence); }

 private:
  Level level_ = Level::kInfo;
};

}  // namespace glovebox
