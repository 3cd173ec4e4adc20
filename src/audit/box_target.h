#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/target.h"
#include "base/result.h"
#include "executor/box_kind.h"
#include "executor/outcome.h"
#include "python/wire/language.h"
#include "sandbox/plan/walls.h"

namespace glovebox::audit {

struct BoxTargetOptions {
  std::string zygote_program;
  std::string description = "box";
  std::vector<BoxKind> kinds = {{"python"}};  // at least one
  std::string kind = {};                      // as ExecutionRequest::kind
  wire::LanguagePolicy language = {};
  sandbox::Walls walls = sandbox::Walls::All();
  bool allow_degraded = false;
  std::string cgroup_parent = {};
  // Each box in a container, of this runtime (container/runtime.h); empty: in none.
  std::string container_runtime = {};
};

// Boxes of this machine, a fresh one for each program. Fails where none can be made, or none in a
// container where that was asked for.
Result<std::unique_ptr<Target>> MakeBoxTarget(BoxTargetOptions options);

// Everything that came out of an execution, in one text.
std::string EverythingIn(const Outcome& outcome);

}  // namespace glovebox::audit
