#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {

struct ChildProcessOptions {
  // The program and its arguments. A program without a slash is looked for in our own PATH.
  std::vector<std::string> argv;
  // All of it, as NAME=value. MinimalEnvironment() is what servers are usually given.
  std::vector<std::string> environment = {};
  std::string working_directory = {};  // empty: ours
  // The last bytes of the program's stderr are kept for error messages; 0 lets it write to ours.
  std::size_t stderr_tail_bytes = 4096;
};

// HOME, LOGNAME, PATH, SHELL, TERM and USER of this process, as far as it has them: enough to run a
// program, and no secret of ours.
std::vector<std::string> MinimalEnvironment();

// How a program ended.
struct ChildExit {
  bool by_signal = false;
  int code = 0;  // its exit code, or the signal's number
};
std::string ToText(const ChildExit& end);  // "ended with exit code 3"

// A program that talks with us through its stdin and stdout. It starts with nothing else of ours:
// no other descriptor, no blocked or ignored signal, a session of its own (no signal of our
// terminal reaches it). No shell is involved.
//
// Nothing is left behind: when the program ends, what remains of its process group is killed, and
// the program is reaped. Only a descendant that left the group on purpose escapes.
//
// Thread rule: the thread of the io_context. SIGCHLD must not be ignored in this process.
class ChildProcess {
 public:
  using ExitHandler = std::function<void(const ChildExit&)>;

  // kSystem names the program and why it did not start; kInvalidArgument an argv or environment
  // that cannot be passed on.
  static Result<std::unique_ptr<ChildProcess>> Start(boost::asio::io_context& context,
                                                     const ChildProcessOptions& options);
  // Kills the program if it still runs, and reaps it: blocks for that long, a second at most.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Our ends of its stdin and stdout; each can be taken once. Its input ends when what became of
  // the first is closed.
  UniqueFd TakeInput();
  UniqueFd TakeOutput();

  // Runs once, when the program has ended and was reaped: by itself or because of Stop. Never from
  // inside a call. The handler may destroy this object.
  void OnExit(ExitHandler handler);

  // Ends the program the way clients do. The caller has closed its input; it then gets `patience`
  // to end by itself, SIGTERM and as long again, then SIGKILL. The signals go to its whole group.
  // OnExit tells when it is over. A second call does nothing.
  void Stop(std::chrono::milliseconds patience = std::chrono::seconds(2));

  bool running() const;
  int pid() const;
  // What it wrote to stderr last: valid UTF-8, in full once OnExit has run. Empty when inherited.
  std::string stderr_tail() const;

 private:
  class Impl;
  explicit ChildProcess(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;  // handlers in flight hold it too
};

}  // namespace glovebox
