#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glovebox::egress {

inline constexpr std::size_t kResponseHeadBytesMax = 64 * 1024;

// The head of a response, as far as a proxy must know it: the client is told that the connection
// ends here, whatever the server said about keeping it.
struct ResponseHead {
  enum class Step : std::uint8_t { kNeedMore, kRefused, kComplete };
  Step step = Step::kNeedMore;
  std::size_t bytes = 0;                    // of the input
  bool interim = false;                     // 1xx: another head follows
  std::string text;                         // to be sent to the client
  std::optional<std::uint64_t> body_bytes;  // none: until the server closes
};

// `without_body`: it answers a HEAD.
ResponseHead ReadResponseHead(std::string_view input, bool without_body);

}  // namespace glovebox::egress
