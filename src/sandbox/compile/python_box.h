#pragma once

#include <string>

#include "base/result.h"
#include "policy/box_policy.h"

namespace glovebox::sandbox {

// policies/box/python.toml as built into this program, for this machine's interpreter.
Result<policy::BoxPolicy> PythonBoxPolicy();

// Where the standard library of that interpreter lies.
std::string PythonStdlib();

// Its minor version, as in "3.11": glovebox-python contains this one.
std::string PythonVersion();

}  // namespace glovebox::sandbox
