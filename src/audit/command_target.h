#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audit/target.h"
#include "base/result.h"

namespace glovebox::audit {

// The machine's Python, started by us as the same user: with nothing before it (the host itself) or
// behind the command line of somebody's jail, as in {"bwrap", "--ro-bind", "/", "/", "--"}. The
// code comes by standard input. What a careless launcher leaks goes along: our environment and
// every descriptor that is not closed on exec. When the program ends, its process group is killed.
std::unique_ptr<Target> MakeCommandTarget(std::vector<std::string> prefix);

// A command line in a shell's words: blanks separate, '...' "..." and \ quote. No expansions.
Result<std::vector<std::string>> SplitCommand(const std::string& text);

}  // namespace glovebox::audit
