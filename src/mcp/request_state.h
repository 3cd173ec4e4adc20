#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"

namespace glovebox::mcp {

// Seals what a handler wants to remember while the client carries it (`requestState`): readable by
// the client, but neither changed, nor used for another request, nor by somebody else, nor later
// than `lifetime` (HMAC-SHA-256 with a key that lives as long as this object).
class RequestStateSealer {
 public:
  using Clock = std::chrono::steady_clock;

  // Of what Open looks at. A state that is longer than about three quarters of it is sealed, but
  // comes back as an error.
  static constexpr std::size_t kSealedBytesMax = 64u << 10;

  explicit RequestStateSealer(std::chrono::seconds lifetime = std::chrono::minutes(30),
                              std::function<Clock::time_point()> now = Clock::now);

  // `scope` says what the state belongs to: principal, method and name of the request.
  std::string Seal(std::string_view state, std::string_view scope) const;
  // kInvalidArgument, without telling which check failed.
  Result<std::string> Open(std::string_view sealed, std::string_view scope) const;

 private:
  const std::string key_ = RandomBytes(32);
  const std::chrono::seconds lifetime_;
  const std::function<Clock::time_point()> now_;
};

}  // namespace glovebox::mcp
