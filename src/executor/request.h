#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "python/wire/language.h"
#include "python/wire/value.h"

namespace glovebox {

// What one execution may use. Enforced from outside the box (cgroup, clocks, pipes); the rlimits
// that mirror some of them inside are a second wall.
struct ExecutionLimits {
  std::uint32_t wall_ms_max = 30'000;
  std::uint32_t cpu_ms_max = 0;  // 0: no bound of its own; wall_ms_max times the CPUs allowed
  std::uint64_t memory_bytes_max = 128ull << 20;
  std::uint32_t processes_max = 64;            // processes and threads together
  std::uint32_t output_chars_max = 1'048'576;  // per stream, counted in code points
};

enum class OutputMode : std::uint8_t {
  kSeparate,  // two pipes; the order between stdout and stderr is not kept
  kMerged,    // stderr is a duplicate of stdout; everything arrives in order in `stdout_text`
};

// One piece of Python to run in one box.
struct ExecutionRequest {
  std::string caller;                  // for whom: a token's name, a peer; for logs only
  std::string kind;                    // the name of a BoxKind; empty: the first
  bool use_container = false;          // in a container; never in anything weaker
  std::string code;                    // bytes as the caller sent them; need not be valid UTF-8
  std::string filename = "<sandbox>";  // how tracebacks call the code
  std::vector<std::string> arguments;  // sys.argv[1:]
  std::string argv0 = "<sandbox>";     // sys.argv[0]
  std::string stdin_text;              // what input() and sys.stdin read
  int stdin_fd =
      -1;  // instead of stdin_text: a pollable descriptor passed on as it is read; borrowed
  wire::Value::Dict globals;                                     // names bound before the code runs
  std::vector<std::pair<std::string, std::string>> environment;  // added to the box's own
  OutputMode output = OutputMode::kSeparate;
  ExecutionLimits limits;
  wire::RunAction action = wire::RunAction::kRun;
  wire::LanguagePolicy language;  // disabled unless the caller's profile says otherwise
};

}  // namespace glovebox
