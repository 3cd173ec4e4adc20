#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::bench {

// A program that runs until its standard input is closed, and the two pipes to it. Destroying it
// closes its input and waits for its end. Its standard error goes nowhere. Blocks; one thread.
class PipedProgram {
 public:
  // `program` is looked for on PATH.
  static Result<PipedProgram> Start(const std::vector<std::string>& arguments);

  PipedProgram(PipedProgram&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        in_(std::move(other.in_)),
        out_(std::move(other.out_)),
        buffer_(std::move(other.buffer_)) {}
  PipedProgram& operator=(PipedProgram&&) = delete;
  ~PipedProgram();

  Status Send(std::string_view bytes);

  // Waits until at least one line is there; hands every complete one to `take`.
  template <typename Take>
  Status ReceiveLines(Take take) {
    for (bool any = false; !any;) {
      TRY(ReadMore());
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos;
           begin = end + 1) {
        take(std::string_view(buffer_).substr(begin, end - begin));
        any = true;
      }
      buffer_.erase(0, begin);
    }
    return {};
  }

  pid_t pid() const { return pid_; }

 private:
  PipedProgram(pid_t pid, UniqueFd in, UniqueFd out)
      : pid_(pid), in_(std::move(in)), out_(std::move(out)) {}
  Status ReadMore();

  pid_t pid_;
  UniqueFd in_;
  UniqueFd out_;
  std::string buffer_;
};

}  // namespace glovebox::bench
