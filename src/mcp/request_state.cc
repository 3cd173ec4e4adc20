#include "mcp/request_state.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/digest.h"

namespace glovebox::mcp {
namespace {

// Sealed, before base64url: end of life in milliseconds, state, signature of both and the scope.
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kSignatureBytes = std::tuple_size_v<Digest>;

std::string BigEndian(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255);
  return bytes;
}

std::uint64_t FromBigEndian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

std::uint64_t Milliseconds(RequestStateSealer::Clock::time_point time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

// The length of the scope is signed with it: no byte can move from one part to the other.
std::string Sign(const std::string& key, std::string_view scope, std::string_view body) {
  std::string text = BigEndian(scope.size());
  text.append(scope).append(body);
  const Digest signature = HmacSha256(key, text);
  return {signature.begin(), signature.end()};
}

}  // namespace

RequestStateSealer::RequestStateSealer(std::chrono::seconds lifetime,
                                       std::function<Clock::time_point()> now)
    : lifetime_(lifetime), now_(std::move(now)) {}

std::string RequestStateSealer::Seal(std::string_view state, std::string_view scope) const {
  std::string body = BigEndian(Milliseconds(now_() + lifetime_));
  body.append(state);
  return EncodeBase64(body + Sign(key_, scope, body), Base64::kUrl);
}

Result<std::string> RequestStateSealer::Open(std::string_view sealed,
                                             std::string_view scope) const {
  // The same words for every reason: which check failed helps nobody but a forger.
  const Error refused(
      Errc::kInvalidArgument,
      "params.requestState must be what this server gave for this request, unchanged "
      "and not too long ago: start again without it");
  if (sealed.size() > kSealedBytesMax) return refused;
  const std::optional<std::string> bytes = DecodeBase64(sealed, Base64::kUrl);
  if (!bytes || bytes->size() < kTimeBytes + kSignatureBytes) return refused;
  const std::string_view body = std::string_view(*bytes).substr(0, bytes->size() - kSignatureBytes);
  const std::string_view signature = std::string_view(*bytes).substr(body.size());
  const std::string expected = Sign(key_, scope, body);
  if (!EqualInConstantTime(signature, expected)) return refused;
  if (Milliseconds(now_()) > FromBigEndian(body.substr(0, kTimeBytes))) return refused;
  return std::string(body.substr(kTimeBytes));
}

}  // namespace glovebox::mcp
