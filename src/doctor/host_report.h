#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace glovebox::doctor {

// How strong boxes are on this host. The numbers are the exit codes of
// `glovebox doctor`.
enum class Strength : std::uint8_t {
  kFull = 0,      // `serve` runs, and every wall stands
  kDegraded = 1,  // `serve` runs without some wall, mostly only if it is told to
  kNone = 3,      // `serve` cannot run
};

// Why something is missing, in the order in which a person asks.
struct Trouble {
  std::string reason;  // what was tried and how it failed: "making namespaces: ..."
  std::string cause;   // what is behind it on this host; empty when unknown
  std::string fix;     // a command, or the one change that helps
};

// One wall of a box, tried alone.
struct WallReport {
  std::string name;  // as in docs/threat-model.md
  std::string what;  // what it does
  std::optional<Trouble> trouble;

  bool stands() const { return !trouble; }
};

struct LandlockReport {
  int abi = 0;                     // 0: none
  std::vector<std::string> lacks;  // what this ABI leaves to the other walls
};

struct ControllerReport {
  std::string name;  // "memory"
  int version = 0;   // of its hierarchy: 1 or 2
  std::string directory;
};

struct CgroupReport {
  std::string layout;  // "v1", "v2", "hybrid" or "none"
  std::vector<ControllerReport> controllers;
};

struct ProgramReport {
  std::string name;     // "runsc"
  std::string path;     // empty when it is not there
  std::string version;  // its own words, one line; empty when it does not say
};

struct PythonReport {
  std::string path;       // the interpreter whose library boxes use
  std::string version;    // "3.11.2"; empty when it does not run
  std::string built_for;  // "3.11": what glovebox-python contains
  std::string reason;     // why the two do not belong together; empty when they do
};

struct PackageReport {
  std::string module;   // "sklearn"
  std::string debian;   // "python3-sklearn"
  std::string version;  // empty when it is not installed
};

// One box, built and used as `serve` would.
struct BoxReport {
  bool ran = false;       // and answered rightly
  bool degraded = false;  // it was built only because it may be weaker
  std::string code;
  std::string output;
  double start_seconds = 0;  // the server's start: the warm interpreter, the first box
  double run_seconds = 0;    // the code in its box
  std::string limits_tier;   // "cgroup" or "supervisor"; empty when it did not run
  std::vector<std::string> missing_walls;  // as every result of this host would name them
  std::string reason;                      // why it did not run
};

// One container, built and used as `serve` would with its container tier on.
struct ContainerReport {
  bool ran = false;
  std::string runtime;       // "gVisor (runsc, platform ptrace)"
  double start_seconds = 0;  // finding the runtime, starting it and Python in it
  double run_seconds = 0;
  std::string reason;  // why it did not run, and the fix
};

// Everything `glovebox doctor` found, ready to be shown.
struct HostReport {
  std::string glovebox_version;
  std::string kernel;   // "Linux 6.1.0-13-amd64 x86_64"
  std::string user;     // "root" or "uid 1000"
  std::string setting;  // where we run, when that matters: "inside docker";
                        // empty otherwise
  std::vector<WallReport> walls;
  LandlockReport landlock;
  CgroupReport cgroups;
  std::vector<ProgramReport> runtimes;
  PythonReport python;
  std::vector<PackageReport> packages;
  BoxReport box;
  ContainerReport container;
  std::optional<Trouble> no_cgroups;  // why limits are of tier B, where they are
  Strength strength = Strength::kNone;
  std::string verdict;  // one sentence
};

}  // namespace glovebox::doctor
