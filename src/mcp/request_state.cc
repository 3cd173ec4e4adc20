#include "mcp/request_state.h"

#include <cstdint>
#include <optional>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/base64.h"

namespace glovebox::mcp {
namespace {

// Sealed, before base64url: end of life in milliseconds, state, signature of both and the scope.
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kSignatureBytes = 32;

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
std::string Sign(const std::array<unsigned char, 32>& key, std::string_view scope,
                 std::string_view body) {
  std::string text = BigEndian(scope.size());
  text.append(scope).append(body);
  std::string signature(kSignatureBytes, '\0');
  unsigned int length = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(),
             reinterpret_cast<unsigned char*>(signature.data()), &length) != nullptr);
  CHECK(length == kSignatureBytes);
  return signature;
}

}  // namespace

RequestStateSealer::RequestStateSealer(std::chrono::seconds lifetime,
                                       std::function<Clock::time_point()> now)
    : lifetime_(lifetime), now_(std::move(now)) {
  CHECK(RAND_bytes(key_.data(), static_cast<int>(key_.size())) == 1);
}

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
  if (CRYPTO_memcmp(signature.data(), expected.data(), kSignatureBytes) != 0) return refused;
  if (Milliseconds(now_()) > FromBigEndian(body.substr(0, kTimeBytes))) return refused;
  return std::string(body.substr(kTimeBytes));
}

}  // namespace glovebox::mcp
