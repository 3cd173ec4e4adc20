// A server to be killed: keeps boxes running that would like to stay, and says when they run.
//   isolation_server PATH-OF-GLOVEBOX-PYTHON
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>

#include <boost/asio/io_context.hpp>

#include "executor/local_executor.h"

namespace {

constexpr char kCode[] = R"(
import os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
if os.fork() == 0:
    os.setsid()
    os.fork()
open("/dev/shm/left", "w").write("left")
open("/tmp/left", "w").write("left")
os.write(1, b"up")
time.sleep(1000)
)";

class SayWhenUp : public glovebox::ExecutionObserver {
 public:
  void OnStdout(std::string_view) override {
    if (write(STDOUT_FILENO, "running\n", 8) != 8) _exit(3);
  }
};

int Serve(const char* zygote_program) {
  std::signal(SIGPIPE, SIG_IGN);
  boost::asio::io_context context;
  glovebox::LocalExecutorOptions options;
  options.zygote_program = zygote_program;
  options.kinds = {{.name = "python", .warm_boxes = 4}};  // some wait, some run, some are born
  options.fill_at_start = true;
  auto executor = glovebox::CreateLocalExecutor(context, options);
  if (!executor.ok()) {
    std::fprintf(stderr, "isolation_server: %s\n", executor.error().message().c_str());
    return 1;
  }
  SayWhenUp observer;
  std::function<void()> start = [&] {
    glovebox::ExecutionRequest request;
    request.code = kCode;
    (*executor)->Start(std::move(request), &observer, [&](const glovebox::Outcome& outcome) {
      std::fprintf(stderr, "isolation_server: a box ended: %s\n", outcome.message.c_str());
      _exit(4);
    });
  };
  for (int i = 0; i < 3; ++i) start();
  context.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    return Serve(argv[1]);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "isolation_server: %s\n", exception.what());
    return 1;
  }
}
