#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace glovebox {

using Digest = std::array<std::uint8_t, 32>;  // of SHA-256

// SHA-256 of a text that comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void Update(std::string_view piece);
  Digest Finish();  // once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest Sha256Of(std::string_view text);
Digest HmacSha256(std::string_view key, std::string_view text);

std::string HexOf(const Digest& digest);  // small letters

// Takes as long for texts that differ early as for those that differ late.
bool EqualInConstantTime(std::string_view a, std::string_view b);

// From the kernel. Ends the process where there is no randomness to be had: nothing that is handed
// out without it would be safe.
std::string RandomBytes(std::size_t count);

}  // namespace glovebox
