#pragma once

// Words in one piece of memory, each with its length in front. A policy has hundreds of them, which
// a box has to read while somebody waits for it: one copy, instead of one for every word.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace glovebox::wire {

class WordList {
 public:
  class Iterator {
   public:
    // NOLINTBEGIN(readability-identifier-naming): the standard library asks for these names
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;
    // NOLINTEND(readability-identifier-naming)

    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    std::string_view operator*() const { return rest_.substr(sizeof(Length), LengthOf(rest_)); }
    Iterator& operator++() {
      rest_.remove_prefix(sizeof(Length) + LengthOf(rest_));
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    std::string_view rest_;
  };

  WordList() = default;
  WordList(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) Add(word);
  }
  template <typename Range>
  static WordList Of(const Range& words) {
    WordList list;
    for (const auto& word : words) list.Add(word);
    return list;
  }
  // The list that `bytes()` of another was; nothing if it is none.
  static std::optional<WordList> FromBytes(std::string bytes) {
    for (std::string_view rest = bytes; !rest.empty();) {
      if (rest.size() < sizeof(Length) || rest.size() - sizeof(Length) < LengthOf(rest)) {
        return std::nullopt;
      }
      rest.remove_prefix(sizeof(Length) + LengthOf(rest));
    }
    WordList list;
    list.bytes_ = std::move(bytes);
    return list;
  }

  void Add(std::string_view word) {
    const auto length = static_cast<Length>(word.size());
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes_.append(word);
  }
  Iterator begin() const { return Iterator(bytes_); }
  Iterator end() const { return Iterator(); }
  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }
  const std::string& bytes() const { return bytes_; }
  bool operator==(const WordList&) const = default;

 private:
  using Length = std::uint32_t;
  static Length LengthOf(std::string_view rest) {
    Length length = 0;
    std::memcpy(&length, rest.data(), sizeof(length));
    return length;
  }

  std::string bytes_;
};

}  // namespace glovebox::wire
