#pragma once

#include <string>

namespace glovebox {

// A fresh UUID, version 4, from the kernel's generator.
std::string NewExecutionId();

}  // namespace glovebox
