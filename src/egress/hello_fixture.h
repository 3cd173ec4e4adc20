#pragma once

// For tests: ClientHellos as clients send them, and worse.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace glovebox::egress {

inline std::string Big(std::size_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = bytes; i > 0; --i) out += static_cast<char>(value >> (8 * (i - 1)) & 0xFF);
  return out;
}

inline std::string Prefixed(const std::string& bytes, std::size_t prefix) {
  return Big(bytes.size(), prefix) + bytes;
}

inline std::string ServerNameData(const std::string& name) {
  return Prefixed(std::string(1, '\0') + Prefixed(name, 2), 2);
}

using Extensions = std::vector<std::pair<std::uint16_t, std::string>>;

// The handshake message, without records around it.
inline std::string HelloMessage(const Extensions& extensions) {
  std::string list;
  for (const auto& [type, data] : extensions) list += Big(type, 2) + Prefixed(data, 2);
  const std::string body = "\x03\x03" + std::string(32, 'r') + Prefixed(std::string(32, 's'), 1) +
                           Prefixed("\x13\x01\x13\x02", 2) + Prefixed(std::string(1, '\0'), 1) +
                           Prefixed(list, 2);
  return "\x01" + Prefixed(body, 3);
}

// In records of at most `record_bytes`.
inline std::string InRecords(const std::string& message, std::size_t record_bytes = 16'000) {
  std::string out;
  for (std::size_t at = 0; at < message.size(); at += record_bytes) {
    out += "\x16\x03\x01" + Prefixed(message.substr(at, record_bytes), 2);
  }
  return out;
}

inline std::string HelloFor(const std::string& name) {
  return InRecords(HelloMessage({{0x000a, "\x00\x02\x00\x1d"}, {0, ServerNameData(name)}}));
}

}  // namespace glovebox::egress
