#include "audit/markup.h"

#include "base/utf8.h"

namespace glovebox::audit {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : ToUtf8(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace glovebox::audit
