#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/probe.h"
#include "audit/wall_seam.h"
#include "box_runner.h"
#include "executor/outcome.h"

namespace glovebox::isolation {

// The claims of docs/threat-model.md that rows prove: "the box cannot ...".
enum class Claim : std::uint8_t {
  kReadHostFile,
  kWriteHostFile,
  kRunProgram,
  kConnectTcp,
  kOtherSockets,
  kHostUnixSocket,
  kKernelSurface,
  kHostProcess,
  kForkWithoutBound,
  kExceedMemory,
  kOutlive,
  kTouchOthers,
  kGainPrivilege,
};
std::string_view ClaimText(Claim claim);

// One hostile program: what it is aimed at and what stops it.
struct Payload {
  std::string name;  // of the audit's probe
  Claim claim;
  // Each stops it alone. A holder of more than one wall is one mechanism made of them, such as
  // RLIMIT_NPROC, which binds only a user without capabilities.
  std::vector<sandbox::WallMask> holders;
  ExecutionStatus status;  // with all walls up

  const Probe& probe() const { return *FindProbe(name); }
};

const std::vector<Payload>& PayloadTable();

}  // namespace glovebox::isolation
