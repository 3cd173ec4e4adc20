#include "mcp/version.h"

#include <array>
#include <utility>

#include "base/result.h"

namespace glovebox::mcp {
namespace {

constexpr std::array<std::pair<ProtocolVersion, std::string_view>, 5> kVersions = {{
    {ProtocolVersion::k2026_07_28, "2026-07-28"},
    {ProtocolVersion::k2025_11_25, "2025-11-25"},
    {ProtocolVersion::k2025_06_18, "2025-06-18"},
    {ProtocolVersion::k2025_03_26, "2025-03-26"},
    {ProtocolVersion::k2024_11_05, "2024-11-05"},
}};

}  // namespace

std::string_view VersionName(ProtocolVersion version) {
  for (const auto& [value, name] : kVersions) {
    if (value == version) return name;
  }
  CHECK(false);
}

std::optional<ProtocolVersion> VersionFromName(std::string_view name) {
  for (const auto& [value, known_name] : kVersions) {
    if (known_name == name) return value;
  }
  return std::nullopt;
}

const std::vector<ProtocolVersion>& ServedVersions() {
  static const std::vector<ProtocolVersion> served = [] {
    std::vector<ProtocolVersion> versions;
    versions.reserve(kVersions.size());
    for (const auto& entry : kVersions) versions.push_back(entry.first);
    return versions;
  }();
  return served;
}

}  // namespace glovebox::mcp
