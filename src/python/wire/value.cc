#include "python/wire/value.h"

#include "python/wire/codec.h"

namespace glovebox::wire {
namespace {

enum class Tag : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kText, kList, kDict };

struct Encode {
  Writer& writer;
  void operator()(std::monostate) const { writer.Number(Tag::kNull); }
  void operator()(bool value) const {
    writer.Number(Tag::kBool);
    writer.Number(static_cast<std::uint8_t>(value ? 1 : 0));
  }
  void operator()(std::int64_t value) const {
    writer.Number(Tag::kInt);
    writer.Number(value);
  }
  void operator()(std::uint64_t value) const {
    writer.Number(Tag::kUint);
    writer.Number(value);
  }
  void operator()(double value) const {
    writer.Number(Tag::kDouble);
    writer.Number(value);
  }
  void operator()(const std::string& value) const {
    writer.Number(Tag::kText);
    writer.Text(value);
  }
  void operator()(const Value::List& items) const {
    writer.Number(Tag::kList);
    writer.List(items, [this](const Value& item) { WriteValue(writer, item); });
  }
  void operator()(const Value::Dict& items) const {
    writer.Number(Tag::kDict);
    writer.List(items, [this](const Value::Item& item) {
      writer.Text(item.name);
      WriteValue(writer, item.value);
    });
  }
};

class Decoder {
 public:
  explicit Decoder(Reader& reader) : reader_(reader) {}

  Value Read(int depth) {
    if (depth > kValueDepthMax || ++nodes_ > kValueNodesMax) {
      reader_.Fail();
      return {};
    }
    switch (reader_.Number<Tag>()) {
      case Tag::kNull: return {};
      case Tag::kBool: return {reader_.Number<std::uint8_t>() != 0};
      case Tag::kInt: return {reader_.Number<std::int64_t>()};
      case Tag::kUint: return {reader_.Number<std::uint64_t>()};
      case Tag::kDouble: return {reader_.Number<double>()};
      case Tag::kText: return {reader_.Text()};
      case Tag::kList: {
        Value::List items;
        reader_.List(kValueNodesMax, [&] { items.push_back(Read(depth + 1)); });
        return {std::move(items)};
      }
      case Tag::kDict: {
        Value::Dict items;
        reader_.List(kValueNodesMax, [&] {
          std::string key = reader_.Text();
          items.push_back({std::move(key), Read(depth + 1)});
        });
        return {std::move(items)};
      }
    }
    reader_.Fail();
    return {};
  }

 private:
  Reader& reader_;
  std::uint32_t nodes_ = 0;
};

}  // namespace

void WriteValue(Writer& writer, const Value& value) { std::visit(Encode{writer}, value.data); }

Value ReadValue(Reader& reader) { return Decoder(reader).Read(0); }

}  // namespace glovebox::wire
