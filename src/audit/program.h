#pragma once

#include <string>
#include <string_view>

#include "audit/probe.h"
#include "audit/scene.h"

namespace glovebox::audit {

// The text of programs/<name>.py, built in; empty when there is none.
std::string_view ProgramSource(std::string_view name);

// Python that can be run as it is: the names it uses bound, its prelude, the program. No value that
// counts as evidence stands in it in one piece, so a target that quotes code proves nothing.
std::string ProgramText(const Probe& probe, const Bindings& bindings);
// The program that runs before it, or beside it. Only for probes with such a trait.
std::string FirstProgramText(const Probe& probe, const Bindings& bindings);

// What stands before a program that makes raw calls.
std::string_view RawPrelude();

}  // namespace glovebox::audit
