#include "sandbox/parent/host_decision.h"

#include <linux/sched.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sandbox/parent/host_facts.h"
#include "sandbox/parent/probe_run.h"
#include "sandbox/parent/refusal_cause.h"

namespace glovebox::sandbox {
namespace {

constexpr std::uint64_t kNamespaces =
    CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

RefusalCause WhyNotForRoot(const HostFacts& facts) {
  return {facts.filtered
              ? "root without CAP_SYS_ADMIN, or a system-call filter above this process: "
                "a container's root"
              : "root without CAP_SYS_ADMIN",
          "run as a normal user where user namespaces work, or give the container CAP_SYS_ADMIN"};
}

ProbePlan MappedPlan() {
  ProbePlan plan;
  plan.act = ProbeAct::kIdentity;
  return plan;
}

ProbePlan HostUidPlan(uid_t uid, std::uint64_t kept) {
  ProbePlan plan;
  plan.act = ProbeAct::kHostUid;
  plan.host_uid = uid;
  plan.kept_capabilities = kept;
  return plan;
}

void Note(HostDecision& decision, std::string act, Status status, RefusalCause reason) {
  if (reason.cause.empty()) reason.cause = "this kernel or a security module refuses them";
  decision.obstacles.push_back(
      {std::move(act), std::move(status), std::move(reason.cause), std::move(reason.fix)});
}

// Root's ways, once the first has failed.
void DecideForRoot(uid_t uid, const HostFacts& facts, HostDecision& decision) {
  decision.mode.identity = IdentitySource::kHostRange;
  Status full = ProbeWithoutUserNamespace(kNamespaces, HostUidPlan(uid, kZygoteCapabilities));
  if (full) return;
  Note(decision, "namespaces", std::move(full), WhyNotForRoot(facts));
  decision.mode.namespaces = false;
  Status uids = ProbeWithoutUserNamespace(0, HostUidPlan(uid, kZygoteUidCapabilities));
  if (uids) return;
  Note(decision, "a uid of its own for each box", std::move(uids),
       {"root without CAP_SETUID, CAP_SETGID and CAP_SETPCAP, or a uid that is not mapped here",
        "run as a normal user"});
  decision.mode.identity = IdentitySource::kSelf;
}

}  // namespace

HostDecision DecideHostMode(const UidRange* range) {
  HostDecision decision;
  decision.mode.identity =
      range != nullptr ? IdentitySource::kMappedRange : IdentitySource::kMappedSelf;
  const ProbeIds ids = range != nullptr ? ProbeIds{range->base(), range->base(), kUidsPerRange}
                                        : ProbeIds{::geteuid(), ::getegid(), 1};
  Status mapped = ProbeInUserNamespace(kNamespaces, ids, MappedPlan());
  if (mapped) return decision;
  const HostFacts facts = ReadHostFacts();
  RefusalCause reason = WhyNoNamespaces(mapped.error().sys_errno(), facts);
  Note(decision, "user namespaces", std::move(mapped), std::move(reason));
  if (range != nullptr) {
    DecideForRoot(range->base(), facts, decision);
  } else {
    decision.mode = {IdentitySource::kSelf, false};
  }
  return decision;
}

std::vector<MissingWall> MissingWalls(const HostMode& mode) {
  std::vector<MissingWall> missing;
  if (!mode.namespaces) {
    missing.assign(kMissingWithoutNamespaces.begin(), kMissingWithoutNamespaces.end());
  }
  if (mode.identity == IdentitySource::kSelf) missing.push_back(kMissingOwnUid);
  return missing;
}

Status RequireStrength(const HostDecision& decision, bool allow_degraded) {
  const bool as_root = decision.mode.identity == IdentitySource::kSelf && ::geteuid() == 0;
  if (!decision.mode.degraded() || (allow_degraded && !as_root)) return {};
  std::string text = "this host cannot hold a box at full strength.";
  for (const Obstacle& obstacle : decision.obstacles) {
    text += " No " + obstacle.act + " (" + obstacle.status.error().message() +
            "): " + obstacle.cause + "; fix: " + obstacle.fix + ".";
  }
  text += " Missing walls:";
  for (const MissingWall& missing : MissingWalls(decision.mode)) {
    text += std::string(text.back() == ':' ? " " : "; ") + missing.what;
  }
  text += as_root ? ". Code is not run with the uid of root: start Glovebox as a normal user."
                  : ". To run without these walls: --allow-degraded.";
  return Error(Errc::kUnsupported, text);
}

}  // namespace glovebox::sandbox
