#pragma once

#include <string>

#include "base/result.h"

namespace glovebox {

// The absolute path of glovebox-python, the program that belongs to this one: in the folder of this
// executable (a build tree), else in ../libexec/glovebox beside it (an installation). Nothing else
// is looked at, no PATH and no environment: whoever chooses that program chooses what runs in the
// box. The error names both places.
Result<std::string> FindZygoteProgram();

// The same of glovebox-egress, the way out of boxes that are granted hosts.
Result<std::string> FindEgressProgram();

}  // namespace glovebox
