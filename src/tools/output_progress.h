#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "mcp/tool_registry.h"

namespace glovebox {

// Turns what a program prints into progress reports while it runs: the text as `message`, the bytes
// printed so far as `progress`. Bounded twice: at most one report per kInterval, with at most
// kMessageBytesMax of text. What is printed faster is skipped, oldest first; the result has it all.
//
// Thread rule: the thread of the server's io_context. Held by a shared_ptr, because its timer
// refers to it.
class OutputProgress : public std::enable_shared_from_this<OutputProgress> {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::size_t kMessageBytesMax = 4096;

  OutputProgress(const boost::asio::any_io_executor& executor, mcp::ToolResponder responder);

  void Add(std::string_view bytes);

  // Reports go there from now on.
  void ContinueOn(mcp::ToolResponder responder) { responder_ = std::move(responder); }

  // Reports what is still waiting and stops the clock. Call before the result is sent.
  void Finish();

 private:
  void Report();

  mcp::ToolResponder responder_;
  boost::asio::steady_timer timer_;
  bool waiting_ = false;  // the timer runs
  std::string pending_;   // not reported yet; may end inside a code point
  std::uint64_t bytes_seen_ = 0;
};

}  // namespace glovebox
