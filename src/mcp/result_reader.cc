#include "mcp/result_reader.h"

namespace glovebox::mcp {

namespace json = boost::json;

Error ResultReader::Wrong(std::string_view field, std::string_view rule) const {
  return Error(Errc::kInvalidArgument,
               path_ + '.' + std::string(field) + " must be " + std::string(rule));
}

const json::value* ResultReader::Find(std::string_view field) const {
  const json::value* value = object_->if_contains(field);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::optional<std::string>> ResultReader::OptionalText(std::string_view field) const {
  const json::value* value = Find(field);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return Wrong(field, "a string");
  return std::optional(std::string(value->get_string()));
}

Result<std::string> ResultReader::RequiredText(std::string_view field) const {
  auto text = TRY(OptionalText(field));
  if (!text) return Wrong(field, "a string");
  return std::move(*text);
}

Result<std::string> ResultReader::Text(std::string_view field) const {
  return TRY(OptionalText(field)).value_or("");
}

Result<bool> ResultReader::Flag(std::string_view field, bool otherwise) const {
  const json::value* value = Find(field);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) return Wrong(field, "true or false");
  return value->get_bool();
}

Result<std::optional<double>> ResultReader::Number(std::string_view field) const {
  const json::value* value = Find(field);
  if (value == nullptr) return std::optional<double>();
  if (!value->is_number()) return Wrong(field, "a number");
  return std::optional(value->to_number<double>());
}

Result<std::optional<std::uint64_t>> ResultReader::Count(std::string_view field) const {
  const json::value* value = Find(field);
  if (value == nullptr) return std::optional<std::uint64_t>();
  // What has a fraction or an exponent is a double, also when its value is whole.
  constexpr double kEnd = 18446744073709551616.0;  // 2^64
  const bool fits = (value->is_int64() && value->get_int64() >= 0) || value->is_uint64() ||
                    (value->is_double() && value->get_double() >= 0 && value->get_double() < kEnd);
  if (!fits) return Wrong(field, "a number that is not negative");
  if (value->is_double()) return std::optional(static_cast<std::uint64_t>(value->get_double()));
  return std::optional(value->to_number<std::uint64_t>());
}

Result<json::object> ResultReader::Object(std::string_view field) const {
  const json::value* value = Find(field);
  if (value == nullptr) return json::object();
  if (!value->is_object()) return Wrong(field, "an object");
  return value->get_object();
}

Result<std::vector<std::string>> ResultReader::Texts(std::string_view field) const {
  std::vector<std::string> texts;
  const json::array* array = TRY(Array(field));
  if (array == nullptr) return texts;
  for (const json::value& value : *array) {
    if (!value.is_string()) return Wrong(field, "an array of strings");
    texts.emplace_back(value.get_string());
  }
  return texts;
}

Result<std::optional<ResultReader>> ResultReader::Inner(std::string_view field) const {
  const json::value* value = Find(field);
  if (value == nullptr) return std::optional<ResultReader>();
  if (!value->is_object()) return Wrong(field, "an object");
  return std::optional(ResultReader(value->get_object(), path_ + '.' + std::string(field)));
}

Result<ResultReader> ResultReader::RequiredInner(std::string_view field) const {
  auto inner = TRY(Inner(field));
  if (!inner) return Wrong(field, "an object");
  return std::move(*inner);
}

Result<const json::array*> ResultReader::Array(std::string_view field) const {
  const json::value* value = Find(field);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) return Wrong(field, "an array");
  return &value->get_array();
}

Result<ResultReader> ResultReader::Element(std::string_view field, std::size_t index,
                                           const json::value& value) const {
  const std::string name = std::string(field) + '[' + std::to_string(index) + ']';
  if (!value.is_object()) return Wrong(name, "an object");
  return ResultReader(value.get_object(), path_ + '.' + name);
}

}  // namespace glovebox::mcp
