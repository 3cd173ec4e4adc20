#include "mcp/random_name.h"

#include <openssl/rand.h>

#include "base/base64.h"
#include "base/result.h"

namespace glovebox::mcp {

std::string RandomName() {
  std::string bytes(24, '\0');
  // Fails only without any source of randomness, and then nothing we hand out would be safe.
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                   static_cast<int>(bytes.size())) == 1);
  return EncodeBase64(bytes, Base64::kUrl);
}

}  // namespace glovebox::mcp
