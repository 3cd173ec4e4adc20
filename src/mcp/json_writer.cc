#include "mcp/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/utf8.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void Write(const json::value& value) {
    switch (value.kind()) {
      case json::kind::null: out_ += "null"; break;
      case json::kind::bool_: out_ += value.get_bool() ? "true" : "false"; break;
      case json::kind::int64: WriteInteger(value.get_int64()); break;
      case json::kind::uint64: WriteInteger(value.get_uint64()); break;
      case json::kind::double_: WriteDouble(value.get_double()); break;
      case json::kind::string: WriteString(value.get_string()); break;
      case json::kind::array: WriteArray(value.get_array()); break;
      case json::kind::object: WriteObject(value.get_object()); break;
    }
  }

  void WriteObject(const json::object& object) {
    char separator = '{';
    if (object.empty()) out_ += separator;
    for (const auto& member : object) {
      out_ += separator;
      separator = ',';
      WriteString(member.key());
      out_ += ':';
      Write(member.value());
    }
    out_ += '}';
  }

 private:
  void WriteArray(const json::array& array) {
    char separator = '[';
    if (array.empty()) out_ += separator;
    for (const json::value& element : array) {
      out_ += separator;
      separator = ',';
      Write(element);
    }
    out_ += ']';
  }

  template <typename Integer>
  void WriteInteger(Integer number) {
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    out_.append(text.data(), end);
  }

  void WriteDouble(double number) {
    if (!std::isfinite(number)) {
      out_ += "null";
      return;
    }
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    out_ += text;
    if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  }

  void WriteString(std::string_view text) {
    out_ += '"';
    std::size_t plain = 0;  // start of the run that needs no change
    std::size_t at = 0;
    while (at < text.size()) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\') {
        ++at;
        continue;
      }
      std::size_t length = 1;
      if (byte >= 0x80) {
        const Utf8Step step = NextUtf8(text.substr(at));
        length = step.length;
        if (step.kind == Utf8Kind::kValid) {
          at += length;
          continue;
        }
      }
      out_ += text.substr(plain, at - plain);
      if (byte >= 0x80) {
        out_ += "\xEF\xBF\xBD";
      } else {
        WriteEscape(byte);
      }
      at += length;
      plain = at;
    }
    out_ += text.substr(plain);
    out_ += '"';
  }

  void WriteEscape(unsigned char byte) {
    constexpr std::string_view kHex = "0123456789abcdef";
    switch (byte) {
      case '"': out_ += "\\\""; break;
      case '\\': out_ += "\\\\"; break;
      case '\n': out_ += "\\n"; break;
      case '\r': out_ += "\\r"; break;
      case '\t': out_ += "\\t"; break;
      case '\b': out_ += "\\b"; break;
      case '\f': out_ += "\\f"; break;
      default:
        out_ += "\\u00";
        out_ += kHex[byte >> 4];
        out_ += kHex[byte & 15];
    }
  }

  std::string& out_;
};

}  // namespace

std::string WriteJson(const json::value& value) {
  std::string out;
  Writer(out).Write(value);
  return out;
}

std::string WriteJson(const json::object& object) {
  std::string out;
  Writer(out).WriteObject(object);
  return out;
}

}  // namespace glovebox::mcp
