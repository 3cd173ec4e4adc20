#pragma once

#include <memory>
#include <string>

#include "row.h"
#include "served_python.h"
#include "warm_executor.h"
#include "warm_python.h"

namespace glovebox::bench {

// Slow rows are timed in one of so many rounds.
inline constexpr int kSeldom = 10;

// Where things are.
struct Places {
  std::string glovebox;       // the product; glovebox-python beside it
  std::string python_server;  // the yardstick (python_server.cc)
  std::string folder;         // an empty one of ours: sockets, bundles, the state of others
};

// What stays warm between calls, by flavour of preimports: lean, and numpy with pandas.
struct WarmServices {
  std::unique_ptr<PythonServer> forks, forks_science;
  std::unique_ptr<PythonServer> reuse, reuse_science;
  std::unique_ptr<WarmExecutor> executor, executor_science;
  std::unique_ptr<WarmExecutor> containers;  // null where no runtime works
  std::string no_containers;                 // why
  std::unique_ptr<ServedPython> stdio, http;

  static Result<WarmServices> Start(const Places& places);
};

// Bare Python, the baseline of every ratio, first; then other programs that start a program.
void AddProgramRows(Rows& rows, const Places& places);
// Container runtimes.
void AddContainerRows(Rows& rows, const Places& places);
// Python that is warm already: without walls, and ours.
void AddWarmRows(Rows& rows, const WarmServices& services);

}  // namespace glovebox::bench
