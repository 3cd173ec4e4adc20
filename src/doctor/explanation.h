#pragma once

#include "base/result.h"
#include "doctor/host_report.h"
#include "sandbox/parent/host_facts.h"
#include "sandbox/parent/host_probes.h"
#include "sandbox/parent/refusal_cause.h"

namespace glovebox::doctor {

// Why a wall that was tried did not stand, and the command that raises it on
// such a host. The error is the proof; `facts` only choose among its usual
// causes.
Trouble Explain(sandbox::HostProbe probe, const Error& error, const sandbox::HostFacts& facts);

}  // namespace glovebox::doctor
