#include "audit/attribution.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "audit/box_target.h"
#include "audit/cage.h"
#include "audit/scene.h"
#include "audit/trial.h"

namespace glovebox::audit {
namespace {

using sandbox::kWallCount;
using sandbox::WallMask;
using sandbox::Walls;
using sandbox::WallSeamForAttribution;

// The columns of the matrix: 0 no wall, then each alone, then each missing.
constexpr unsigned kColumns = 1 + 2 * kWallCount;

Walls WallsOf(unsigned column) {
  if (column == 0) return WallSeamForAttribution::Only(0);
  if (column <= kWallCount) return WallSeamForAttribution::Only(WallMask{1} << (column - 1));
  return WallSeamForAttribution::AllBut(WallMask{1} << (column - 1 - kWallCount));
}

bool OnlyBare(const Probe& probe) { return probe.is(kBesideFirst); }

// Walls that can bound an amount. The others are not asked about amounts: every such trial that is
// not stopped takes its hundreds of megabytes.
constexpr WallMask kBoundAmounts =
    sandbox::Bit(sandbox::Wall::kIdentity) | sandbox::Bit(sandbox::Wall::kRoot) |
    sandbox::Bit(sandbox::Wall::kSeccomp) | sandbox::Bit(sandbox::Wall::kCgroup) |
    sandbox::Bit(sandbox::Wall::kRlimits);

// A line for the parent. False when nobody listens any more, which ends the worker.
bool Report(int fd, const std::string& line) {
  const std::string text = line + "\n";
  return write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool ReportCell(int fd, std::size_t probe, unsigned column, Held held) {
  return Report(fd, std::to_string(probe) + " " + std::to_string(column) + " " +
                        std::to_string(static_cast<int>(held)));
}

struct Share {
  std::size_t index = 0;
  const Probe* probe = nullptr;
  bool vacuous = false;
  WallMask holders = 0;     // walls that stop it alone
  std::string answer = {};  // the host's own, of probes that are judged by it
};

// What is known already: what touches nothing; a probe without an effect; two executions that wait
// for each other, of which only with and without walls is asked; a wall that does not stop a probe
// which another one stops alone makes no difference by its absence.
bool IsKnown(const Share& share, unsigned column) {
  if (share.probe->is(kNoEffect)) return true;
  if (column == 0) return false;
  if (share.vacuous || OnlyBare(*share.probe)) return true;
  const WallMask wall = WallMask{1} << ((column - 1) % kWallCount);
  if (share.probe->family == Family::kLimits && (wall & kBoundAmounts) == 0) return true;
  if (column <= kWallCount || share.holders == 0) return false;
  return (share.holders & wall) == 0;
}

// An answer that is not the host's is no effect.
bool Happened(const Share& share, const Trial& trial) {
  if (!trial.effect) return false;
  return share.probe->witness != Witness::kAnswer || *trial.effect == share.answer;
}

bool RunColumn(const AttributionOptions& options, unsigned column, std::vector<Share>& shares,
               Scene& scene, int fd) {
  BoxTargetOptions box;
  box.zygote_program = options.zygote_program;
  box.kinds = {{.name = "python", .preimports = {"ctypes", "mmap", "socket"}}};
  box.walls = WallsOf(column);
  Result<std::unique_ptr<Target>> target = MakeBoxTarget(std::move(box));
  for (Share& share : shares) {
    Held held = IsKnown(share, column) ? Held::kUnknown : Held::kNoBox;
    if (held == Held::kNoBox && target) {
      const Trial trial = Try(*share.probe, scene, **target);
      if (column == 0 && trial.answer) share.answer = *trial.answer;
      if (trial.ran()) held = Happened(share, trial) ? Held::kNo : Held::kYes;
    }
    if (column == 0) share.vacuous = held != Held::kNo;
    const bool single = column > 0 && column < kWallCount;  // the last is the interpreter
    if (single && held == Held::kYes) {
      share.holders |= WallMask{1} << (column - 1);
    }
    if (!ReportCell(fd, share.index, column, held)) return false;
  }
  return true;
}

// In the cage.
void RunWorker(const AttributionOptions& options, std::vector<Share> shares, int fd) {
  Result<std::unique_ptr<Scene>> scene = Scene::Create(Stage::kCage);
  if (!scene) {
    Report(fd, "! " + scene.error().message());
    return;
  }
  for (unsigned column = 0; column < kColumns; ++column) {
    if (!RunColumn(options, column, shares, **scene, fd)) return;
  }
}

[[noreturn]] void BeWorker(const AttributionOptions& options, std::vector<Share> shares, int fd) {
  // A signal of the terminal is for the parent; its end is ours, by the next report.
  setpgid(0, 0);
  std::signal(SIGPIPE, SIG_IGN);
  const CageEntry cage = EnterCage();
  if (!cage.inside) _exit(cage.exit_code);
  if (CageProblem().empty()) {
    RunWorker(options, std::move(shares), fd);
  } else {
    Report(fd, "! no cage: " + CageProblem());
  }
  _exit(0);
}

}  // namespace

WallMask WallTrials::holders() const {
  WallMask mask = 0;
  for (unsigned i = 0; i < kWallCount; ++i) {
    if (bare == Held::kNo && alone.at(i) == Held::kYes) mask |= WallMask{1} << i;
  }
  return mask & ~sandbox::Bit(sandbox::Wall::kInterpreter);
}

Result<AttributionRun> AttributionRun::Start(AttributionOptions options) {
  if (geteuid() != 0) {
    return Error(Errc::kUnsupported,
                 "walls are taken down in a cage only, and making one needs "
                 "root");
  }
  AttributionRun run;
  run.options_ = std::move(options);
  run.total_ = kColumns * run.options_.probes.size();
  for (std::uint32_t number = 0; number < run.options_.cages; ++number) {
    std::vector<Share> shares;
    for (std::size_t i = number; i < run.options_.probes.size(); i += run.options_.cages) {
      shares.push_back({i, run.options_.probes[i], false});
    }
    std::array<int, 2> ends = {-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return Error::FromErrno("pipe", errno);
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const pid_t pid = fork();
    if (pid < 0) return Error::FromErrno("fork", errno);
    if (pid == 0) {
      read_end.reset();
      run.workers_.clear();  // the others' pipes
      BeWorker(run.options_, std::move(shares), write_end.get());
    }
    run.workers_.push_back({pid, std::move(read_end), {}});
  }
  return run;
}

AttributionRun::~AttributionRun() {
  for (Worker& worker : workers_) {
    worker.reports.reset();  // the next report fails, and the worker ends with its cage
    if (worker.pid > 0) waitpid(worker.pid, nullptr, 0);
  }
}

bool AttributionRun::Poll(int milliseconds) {
  std::vector<pollfd> polled;
  for (const Worker& worker : workers_) {
    if (worker.reports) polled.push_back({worker.reports.get(), POLLIN, 0});
  }
  if (polled.empty()) return true;
  if (poll(polled.data(), polled.size(), milliseconds) <= 0) return false;
  for (const pollfd& entry : polled) {
    if (entry.revents == 0) continue;
    for (Worker& worker : workers_) {
      if (worker.reports.get() != entry.fd) continue;
      std::array<char, 4096> buffer;
      const ssize_t size = read(entry.fd, buffer.data(), buffer.size());
      if (size <= 0) {
        worker.reports.reset();
        int status = 0;
        waitpid(std::exchange(worker.pid, -1), &status, 0);
        if (status != 0 && problem_.empty()) {
          problem_ = "a cage ended early, with status " + std::to_string(status);
        }
        break;
      }
      worker.text.append(buffer.data(), static_cast<std::size_t>(size));
      for (std::size_t end; (end = worker.text.find('\n')) != std::string::npos;) {
        Take(worker.text.substr(0, end));
        worker.text.erase(0, end + 1);
      }
      break;
    }
  }
  return false;
}

void AttributionRun::Take(const std::string& line) {
  if (line.starts_with("! ")) {
    problem_ = line.substr(2);
    return;
  }
  std::size_t index = 0;
  unsigned column = 0;
  unsigned held = 0;
  if (std::sscanf(line.c_str(), "%zu %u %u", &index, &column, &held) != 3) return;
  if (index >= options_.probes.size() || column >= kColumns) return;
  ++done_;
  WallTrials& trials = trials_[options_.probes[index]->name];
  const auto value = static_cast<Held>(held);
  if (column == 0) {
    trials.bare = value;
  } else if (column <= kWallCount) {
    trials.alone.at(column - 1) = value;
  } else {
    trials.without.at(column - 1 - kWallCount) = value;
  }
}

}  // namespace glovebox::audit
