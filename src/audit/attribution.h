#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/probe.h"
#include "audit/wall_seam.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::audit {

// Whether a box with some set of walls stopped a probe.
enum class Held : std::uint8_t {
  kUnknown,  // not measured, or known from what was
  kYes,
  kNo,
  kNoBox,  // such a box cannot be made
};

// One probe against boxes with walls missing.
struct WallTrials {
  Held bare = Held::kUnknown;                          // no wall at all
  std::array<Held, sandbox::kWallCount> alone = {};    // only this wall
  std::array<Held, sandbox::kWallCount> without = {};  // every wall but this one

  // Walls that stop it alone; the interpreter, which is friction and no boundary, is none of them.
  // Where `bare` held, none says anything.
  sandbox::WallMask holders() const;
};

struct AttributionOptions {
  std::string zygote_program;
  std::vector<const Probe*> probes;
  std::uint32_t cages = 3;  // at once; a probe mostly waits
};

// Measures which wall stops what: every probe against boxes with no wall, with each wall alone and
// with each one missing. Walls are down in cages only (cage.h), each in a process of its own, while
// the caller does something else. Needs root.
class AttributionRun {
 public:
  // Forks: call with one thread, before anything else is started.
  static Result<AttributionRun> Start(AttributionOptions options);
  // Ends what still runs.
  ~AttributionRun();
  AttributionRun(AttributionRun&&) = default;
  AttributionRun& operator=(AttributionRun&&) = delete;

  // Takes what the cages have reported, waiting for up to `milliseconds`. Whether all are done.
  bool Poll(int milliseconds);
  // Trials reported and in all, for a display of progress.
  std::size_t done() const { return done_; }
  std::size_t total() const { return total_; }

  // By the probe's name. Only those whose bare trial was made.
  const std::map<std::string_view, WallTrials>& trials() const { return trials_; }
  // Why something is missing; empty when nothing is.
  const std::string& problem() const { return problem_; }

 private:
  struct Worker {
    pid_t pid = -1;
    UniqueFd reports;
    std::string text;
  };

  AttributionRun() = default;
  void Take(const std::string& line);

  AttributionOptions options_;
  std::vector<Worker> workers_;
  std::map<std::string_view, WallTrials> trials_;
  std::string problem_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace glovebox::audit
