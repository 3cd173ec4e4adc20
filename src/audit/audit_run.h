#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/report.h"
#include "audit/target.h"
#include "base/result.h"

namespace glovebox::audit {

struct AuditOptions {
  std::vector<const Probe*> probes;
  bool direct = true;  // attempt everything on the host
  // Makes what is audited, once the host's side is there. Empty: the host alone.
  std::function<Result<std::unique_ptr<Target>>()> make_target = {};
  bool trusted_target = false;  // one of ours, which also gets what would hurt a host
  // Names of probes or families that the target's policy grants; '*' at the end matches the rest.
  std::vector<std::string> allowed = {};
  // Not empty: walls are told apart, with boxes of this program.
  std::string attribution_zygote = {};
  // Told often: what is going on, how far it is, out of how much. May be empty.
  std::function<void(std::string_view stage, std::size_t done, std::size_t total)> on_progress = {};
  // Asked between probes; a true ends the audit. May be empty.
  std::function<bool()> interrupted = {};
};

// Runs the probes. Forks, so: one thread, and nothing else started. Leaves nothing behind. An error
// means that there is no result: no host's side, no target, interrupted.
Result<Report> RunAudit(const AuditOptions& options);

// Judges findings whose trials are there.
void JudgeAll(std::vector<Finding>& findings, const std::vector<std::string>& allowed);

// Fills version, time, host and user.
void DescribeHost(Report& report);

// Whether one of `patterns` is a probe's name, its family's, or a beginning of either with '*'.
bool Matches(const std::vector<std::string>& patterns, const Probe& probe);

}  // namespace glovebox::audit
