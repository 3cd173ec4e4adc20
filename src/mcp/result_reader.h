#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"

namespace glovebox::mcp {

// Reads one JSON object that a server sent, field by field, and knows where it stands. Every error
// is kInvalidArgument and reads "result.tools[3].name must be a string". An optional field that is
// null counts as absent: servers write it so. Borrows the object.
class ResultReader {
 public:
  ResultReader(const boost::json::object& object, std::string path)
      : object_(&object), path_(std::move(path)) {}

  Error Wrong(std::string_view field, std::string_view rule) const;

  Result<std::string> RequiredText(std::string_view field) const;
  Result<std::string> Text(std::string_view field) const;  // empty when absent
  Result<std::optional<std::string>> OptionalText(std::string_view field) const;
  Result<bool> Flag(std::string_view field, bool otherwise) const;
  Result<std::optional<double>> Number(std::string_view field) const;
  Result<std::optional<std::uint64_t>> Count(std::string_view field) const;  // not negative
  Result<boost::json::object> Object(std::string_view field) const;  // a copy; empty when absent
  Result<std::vector<std::string>> Texts(std::string_view field) const;
  Result<ResultReader> RequiredInner(std::string_view field) const;
  Result<std::optional<ResultReader>> Inner(std::string_view field) const;
  // Null when absent.
  const boost::json::value* Find(std::string_view field) const;

  // Objects, each read by `read(ResultReader)`; none when absent.
  template <typename Item, typename Read>
  Result<std::vector<Item>> List(std::string_view field, Read read) const {
    std::vector<Item> items;
    const boost::json::array* array = TRY(Array(field));
    if (array == nullptr) return items;
    items.reserve(array->size());
    for (const boost::json::value& value : *array) {
      items.push_back(TRY(read(TRY(Element(field, items.size(), value)))));
    }
    return items;
  }
  template <typename Item, typename Read>
  Result<std::vector<Item>> RequiredList(std::string_view field, Read read) const {
    if (Find(field) == nullptr) return Wrong(field, "an array");
    return List<Item>(field, read);
  }

 private:
  Result<const boost::json::array*> Array(std::string_view field) const;
  Result<ResultReader> Element(std::string_view field, std::size_t index,
                               const boost::json::value& value) const;

  const boost::json::object* object_;
  std::string path_;
};

}  // namespace glovebox::mcp
