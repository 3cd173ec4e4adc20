#include "mcp/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value_stack.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using boost::json::error_code;

// Builds the value as Boost's own parser does, and looks at what that one lets pass: duplicate keys
// and the number of values.
class Builder {
 public:
  // Boost's parser asks for these by name. NOLINTBEGIN(readability-identifier-naming)
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  // NOLINTEND(readability-identifier-naming)

  explicit Builder(std::size_t values_max) : values_left_(values_max) {}

  const std::string& refusal() const { return refusal_; }
  json::value Release() { return stack_.release(); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_object_begin(error_code&) {
    keys_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t count, error_code& error) {
    // Sorted rather than hashed: a sender who knows the hash cannot make it quadratic.
    std::vector<std::string>& keys = keys_.back();
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) return Refuse("duplicate key \"" + twice->substr(0, 64) + '"', error);
    keys_.pop_back();
    stack_.push_object(count);
    return Count(error);
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t count, error_code& error) {
    stack_.push_array(count);
    return Count(error);
  }

  bool on_key_part(json::string_view part, std::size_t, error_code&) {
    key_.append(part);
    stack_.push_chars(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, error_code& error) {
    key_.append(part);
    keys_.back().push_back(std::exchange(key_, {}));
    stack_.push_key(part);
    return Count(error);
  }
  bool on_string_part(json::string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view part, std::size_t, error_code& error) {
    stack_.push_string(part);
    return Count(error);
  }

  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, error_code& error) {
    stack_.push_int64(number);
    return Count(error);
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code& error) {
    stack_.push_uint64(number);
    return Count(error);
  }
  bool on_double(double number, json::string_view text, error_code& error) {
    // Boost rounds twice and may miss the nearest double; this one does not. The text is all there,
    // because the document is given in one piece.
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (!std::isfinite(number)) {
      return Refuse("number out of range: " + std::string(text.substr(0, 64)), error);
    }
    stack_.push_double(number);
    return Count(error);
  }
  bool on_bool(bool value, error_code& error) {
    stack_.push_bool(value);
    return Count(error);
  }
  bool on_null(error_code& error) {
    stack_.push_null();
    return Count(error);
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  bool Count(error_code& error) {
    if (values_left_-- > 0) return true;
    return Refuse("too many values", error);
  }
  bool Refuse(std::string why, error_code& error) {
    refusal_ = std::move(why);
    error = make_error_code(boost::system::errc::operation_canceled);
    return false;
  }

  json::value_stack stack_;
  std::vector<std::vector<std::string>> keys_;  // of every object that is open
  std::string key_;                             // the part of the current key seen so far
  std::size_t values_left_;
  std::string refusal_;
};

}  // namespace

Result<json::value> ReadJson(std::string_view text, const JsonLimits& limits) {
  json::parse_options options;
  options.max_depth = limits.depth_max;
  json::basic_parser<Builder> parser(options, limits.values_max);
  error_code error;
  try {
    const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
    if (!error && used < text.size()) error = json::error::extra_data;
  } catch (const std::exception& exception) {  // out of memory, and nothing else by design
    return Error(Errc::kInternal, std::string("reading JSON: ") + exception.what());
  }
  if (!parser.handler().refusal().empty()) return Error(Errc::kLimit, parser.handler().refusal());
  if (error == json::error::too_deep) {
    return Error(Errc::kLimit,
                 "nested deeper than " + std::to_string(limits.depth_max) + " levels");
  }
  if (error) return Error(Errc::kInvalidArgument, error.message());
  return parser.handler().Release();
}

}  // namespace glovebox::mcp
