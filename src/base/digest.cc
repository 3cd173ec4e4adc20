#include "base/digest.h"

#include <sys/random.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

#include "base/result.h"

namespace glovebox {
namespace {

const std::uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

struct Sha256::State {
  sha256_ctx context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }

Sha256::~Sha256() = default;

void Sha256::Update(std::string_view piece) {
  sha256_update(&state_->context, piece.size(), Bytes(piece));
}

Digest Sha256::Finish() {
  Digest digest;
  sha256_digest(&state_->context, digest.size(), digest.data());
  return digest;
}

Digest Sha256Of(std::string_view text) {
  Sha256 hash;
  hash.Update(text);
  return hash.Finish();
}

Digest HmacSha256(std::string_view key, std::string_view text) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), Bytes(key));
  hmac_sha256_update(&context, text.size(), Bytes(text));
  Digest digest;
  hmac_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

std::string HexOf(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && memeql_sec(a.data(), b.data(), a.size()) != 0;
}

std::string RandomBytes(std::size_t count) {
  CHECK(count <= 256);  // as many as come at once, whatever signals do
  std::string bytes(count, '\0');
  CHECK(::getrandom(bytes.data(), count, 0) == static_cast<ssize_t>(count));
  return bytes;
}

}  // namespace glovebox
