#include "sandbox/compile/python_box.h"

#include "embedded/box_policies.h"

namespace glovebox::sandbox {

Result<policy::BoxPolicy> PythonBoxPolicy() {
  return policy::ParseBoxPolicy(embedded::kPythonBox, {.python_stdlib = GLOVEBOX_PYTHON_STDLIB,
                                                       .python_version = GLOVEBOX_PYTHON_VERSION,
                                                       .multiarch = GLOVEBOX_MULTIARCH,
                                                       .arch = GLOVEBOX_ARCH});
}

std::string PythonStdlib() { return GLOVEBOX_PYTHON_STDLIB; }

std::string PythonVersion() { return GLOVEBOX_PYTHON_VERSION; }

}  // namespace glovebox::sandbox
