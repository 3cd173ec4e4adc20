#pragma once

// The language layer as the runtime of a box uses it. Early, readable feedback and friction, never
// the boundary: it lives in the process that runs the program, and the kernel's walls hold without
// it (docs/language-layer.md).

#include "base/result.h"
#include "python/wire/gate.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// Everything that does not depend on a request. Once, in the zygote, before any fork.
Status PrepareLanguageLayer();

// Puts the policy of `request`, which must outlive the run, into force for this process. The answer
// is what prelude/runtime.py's run() and validate() take as `language`: None without a layer, else
// (check, builtins, is_refusal). Null with an exception on failure.
PyRef StartLanguageLayer(const wire::RunRequest& request);

// Adds what was found to the result and ends the layer's part in this process.
void FinishLanguageLayer(wire::RunResult& result);

}  // namespace glovebox::zygote
