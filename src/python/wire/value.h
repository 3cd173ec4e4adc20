#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace glovebox::wire {

// A value that crossed from Python: plain data, no behaviour. What does not fit one of these kinds
// was turned into text on the other side.
struct Value {
  struct Item;
  using List = std::vector<Value>;
  using Dict = std::vector<Item>;  // in insertion order

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Dict>
      data;

  bool is_null() const { return std::holds_alternative<std::monostate>(data); }
};

struct Value::Item {
  std::string name;
  Value value;
};

// Bounds of a value on the wire; a frame beyond them is refused whole.
inline constexpr int kValueDepthMax = 100;
inline constexpr std::uint32_t kValueNodesMax = 100'000;

class Reader;
class Writer;

void WriteValue(Writer& writer, const Value& value);

// Fails the reader on an unknown kind or beyond the bounds above.
Value ReadValue(Reader& reader);

}  // namespace glovebox::wire
