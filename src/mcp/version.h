#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace glovebox::mcp {

// The protocol's revisions, oldest first, so that they compare by age.
//
// Two eras. The legacy ones open with `initialize` and have sessions; the server may send requests.
// The modern one has no handshake: each request describes itself in `_meta`, and a server that
// needs something from the client answers `input_required`.
enum class ProtocolVersion : std::uint8_t {
  k2024_11_05,  // over stdio only: its HTTP transport is another one
  k2025_03_26,  // the only one that requires batches; annotations, progress messages
  k2025_06_18,  // titles, output schemas, structured content, elicitation; a version header
  k2025_11_25,  // icons, priming events on streams
  k2026_07_28,  // the modern era
};
inline constexpr ProtocolVersion kNewestLegacyVersion = ProtocolVersion::k2025_11_25;
inline constexpr ProtocolVersion kModernVersion = ProtocolVersion::k2026_07_28;

constexpr bool IsModern(ProtocolVersion version) { return version >= kModernVersion; }

std::string_view VersionName(ProtocolVersion version);
std::optional<ProtocolVersion> VersionFromName(std::string_view name);
// Every revision we serve, newest first.
const std::vector<ProtocolVersion>& ServedVersions();

}  // namespace glovebox::mcp
