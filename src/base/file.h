#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace glovebox {

// The whole of a small file (procfs, cgroupfs, source text); nothing, and errno, when it cannot be
// read or has more than 256 MiB, as /dev/zero has.
std::optional<std::string> ReadFile(const std::string& path);

// Writes `text` with one write(2) into an existing file, as kernel interfaces want it. The error
// names the file.
Status WriteExisting(const std::string& path, std::string_view text);

}  // namespace glovebox
