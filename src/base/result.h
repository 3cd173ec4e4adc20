#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace glovebox {

// Who has to act on an error. Few on purpose; the sentence says the rest.
enum class Errc {
  kInvalidArgument,  // the caller, or the client behind it, sent something wrong
  kUnsupported,      // this kernel or host lacks something
  kLimit,            // a configured bound was reached
  kSystem,           // a system call failed; `sys_errno` says how
  kInternal,         // our bug
};

// Why *we* could not do our job. What happened to the program in the box is never an Error: it is
// an Outcome (executor/outcome.h).
class Error {
 public:
  Error(Errc code, std::string message) : code_(code), message_(std::move(message)) {}

  // "act: Permission denied". The only place where an errno value becomes text.
  static Error FromErrno(std::string act, int sys_errno);

  // Prepends where it happened, so that a message reads from the outside in.
  Error Within(const std::string& context) && {
    message_ = context + ": " + message_;
    return std::move(*this);
  }

  Errc code() const { return code_; }
  int sys_errno() const { return sys_errno_; }
  const std::string& message() const { return message_; }

 private:
  Errc code_;
  int sys_errno_ = 0;
  std::string message_;
};

// A value or the reason there is none. Must be looked at: the class is [[nodiscard]].
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose, so that a function can return either.
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  // Preconditions: ok() for value(), !ok() for error().
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  const Error& error() const& { return std::get<Error>(state_); }
  Error&& error() && { return std::get<Error>(std::move(state_)); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {}
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

// Evaluates a Result; leaves the function with the error, or yields the value. Not for coroutines:
// GCC 12 crashes on co_return inside a statement expression.
#define TRY(expression)                                           \
  __extension__({                                                 \
    _Pragma("GCC diagnostic push")                                \
    _Pragma("GCC diagnostic ignored \"-Wshadow\"")                \
    auto try_result_ = (expression);                              \
    _Pragma("GCC diagnostic pop")                                 \
    if (!try_result_.ok()) return std::move(try_result_).error(); \
    std::move(try_result_).value();                               \
  })

// A broken invariant of ours: says where and aborts, also in release builds. Never reachable from
// what a client or a box sends.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::glovebox::CheckFailed(#condition, __FILE__, __LINE__))

}  // namespace glovebox
