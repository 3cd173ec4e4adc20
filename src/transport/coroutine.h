#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace glovebox {

// A coroutine that belongs to an object: the object starts it, wakes it, and takes its frame along
// when it is destroyed, wherever the coroutine stands. So the frame may use `this` freely, and what
// is in flight keeps the object alive, never the frame.
//
// The body must stop its exceptions itself; one that gets away ends the process.
//
// Thread rule: one thread. Wake never from inside the coroutine.
class Coroutine {
 public:
  struct promise_type;  // NOLINT(readability-identifier-naming): the language's name
  using Handle = std::coroutine_handle<promise_type>;

  Coroutine() = default;
  ~Coroutine() {
    if (handle_) handle_.destroy();
  }
  Coroutine(Coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Coroutine& operator=(Coroutine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  // Runs it to its next suspension: from the beginning, or from where it stands. After its end this
  // does nothing.
  void Wake() {
    if (handle_ && !handle_.done()) handle_.resume();
  }

 private:
  explicit Coroutine(Handle handle) : handle_(handle) {}

  Handle handle_;
};

struct Coroutine::promise_type {
  Coroutine get_return_object() { return Coroutine(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  void return_void() noexcept {}
  void unhandled_exception() noexcept { std::terminate(); }
};

}  // namespace glovebox
