#include "mcp/random_name.h"

#include "base/base64.h"
#include "base/digest.h"

namespace glovebox::mcp {

std::string RandomName() { return EncodeBase64(RandomBytes(24), Base64::kUrl); }

}  // namespace glovebox::mcp
