#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "app/log.h"

namespace glovebox {

// One line per answered request, for those who ask for them (log-level debug).
inline void LogRequest(const Log& log, std::string_view method, int error_code, double seconds) {
  if (!log.writes(Log::Level::kDebug)) return;
  std::array<char, 64> end{};
  std::snprintf(end.data(), end.size(), " %s%d in %.1f ms", error_code == 0 ? "ok " : "error ",
                error_code, seconds * 1000);
  log.Write(Log::Level::kDebug, std::string(method.substr(0, 64)) + end.data());
}

}  // namespace glovebox
