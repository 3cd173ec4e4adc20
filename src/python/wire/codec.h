#pragma once

// The alphabet of every message between the server, the zygote and a box: little-endian integers
// and length-prefixed bytes. A Writer cannot fail; a Reader never reads past its input and, once it
// has met something wrong, answers zeros and empty texts until the caller asks ok().

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace glovebox::wire {

class Writer {
 public:
  template <typename T>
  void Number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
  }
  void Flag(bool value) { Number(static_cast<std::uint8_t>(value ? 1 : 0)); }
  void Text(std::string_view text) {
    Number(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  template <typename Container, typename Function>
  void List(const Container& items, Function write_item) {
    Number(static_cast<std::uint32_t>(items.size()));
    for (const auto& item : items) write_item(item);
  }
  std::string Take() && { return std::move(out_); }
  std::size_t size() const { return out_.size(); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view input) : rest_(input) {}

  template <typename T>
  T Number() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    if (!ok_ || rest_.size() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  bool Flag() { return Number<std::uint8_t>() != 0; }
  std::string Text() {
    const auto size = Number<std::uint32_t>();
    if (!ok_ || rest_.size() < size) {
      Fail();
      return {};
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  // `read_item` is called once per item; a count beyond `count_max`, or one that cannot fit the
  // rest, fails before any.
  template <typename Function>
  void List(std::uint32_t count_max, Function read_item) {
    const auto count = Number<std::uint32_t>();
    if (count > count_max || count > rest_.size()) Fail();  // an item takes at least one byte
    for (std::uint32_t i = 0; ok_ && i < count; ++i) read_item();
  }
  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  // Everything was understood and nothing is left over.
  bool finished() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// A message that `read_fields` understands to its last byte, or nothing.
template <typename Message, typename ReadFields>
std::optional<Message> DecodeWhole(std::string_view payload, ReadFields read_fields) {
  Reader reader(payload);
  Message message;
  read_fields(reader, message);
  if (!reader.finished()) return std::nullopt;
  return message;
}

}  // namespace glovebox::wire
