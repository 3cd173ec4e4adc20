#pragma once

#include <memory>
#include <optional>
#include <string>

#include "box_runner.h"

namespace glovebox::isolation {

// Another live box of the same executor. It beats, and says when its files change or a signal
// arrives.
class Bystander {
 public:
  explicit Bystander(BoxRunner& runner);

  // Starts it and waits for its first beat; whether that came.
  bool Start(Executor& executor);
  // Whether it still beats, was told of nothing strange and ends when cancelled. Says why not.
  std::string Finish();

 private:
  class Beats : public ExecutionObserver {
   public:
    void OnStdout(std::string_view bytes) override { text += bytes; }
    std::string text;
  };

  BoxRunner& runner_;
  Beats beats_;
  std::shared_ptr<Execution> execution_;
  std::shared_ptr<std::optional<Outcome>> outcome_ = std::make_shared<std::optional<Outcome>>();
};

// What an untouched box looks like from inside: code for it, and what it prints. Its init is not
// shown to it.
inline constexpr char kCleanBoxCode[] = R"(
import os
print(sorted(os.listdir("/tmp")), sorted(os.listdir("/work")), sorted(os.listdir("/dev/shm")))
print(sorted(int(n) for n in os.listdir("/proc") if n.isdigit()), os.getpid(), os.getcwd())
2 + 2
)";
inline constexpr char kCleanBoxText[] = "[] [] []\n[2] 2 /work\n";

}  // namespace glovebox::isolation
