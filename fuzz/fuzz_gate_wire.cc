// What a box can write through its gate, against the parser that reads it: the one place where the
// server takes bytes from untrusted code and gives them a structure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/result.h"
#include "python/wire/gate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glovebox::wire;  // NOLINT(google-build-using-namespace): one function
  std::string_view input(reinterpret_cast<const char*>(data), size);
  // The first byte decides how the stream is cut into reads.
  const std::size_t step = input.empty() ? 1 : static_cast<std::uint8_t>(input.front()) % 64u + 1;
  if (!input.empty()) input.remove_prefix(1);
  FrameParser parser;
  while (!input.empty()) {
    parser.Append(input.substr(0, step));
    input.remove_prefix(std::min(step, input.size()));
    while (const auto frame = parser.Next()) {
      // Hostile code can know its nonce.
      std::uint64_t nonce = 0;
      std::memcpy(&nonce, frame->payload.data(), std::min(sizeof(nonce), frame->payload.size()));
      const auto result = DecodeRunResult(frame->payload, nonce);
      // Whatever is understood must be said the same way again.
      if (result) CHECK(DecodeRunResult(EncodeRunResult(*result), nonce).has_value());
    }
  }
  return 0;
}
