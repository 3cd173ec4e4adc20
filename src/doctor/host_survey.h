#pragma once

#include <string>

#include "base/result.h"
#include "doctor/host_report.h"

namespace glovebox::doctor {

// Asks this host by doing: every wall alone, in throw-away children, then a
// whole box. Container runtimes and Python are asked for their versions.
// Nothing is left behind; takes about a second.
//
// `zygote_program` is glovebox-python, or why it was not found. Thread rule:
// the main thread; the program ignores SIGPIPE.
HostReport SurveyHost(const Result<std::string>& zygote_program);

// How strong boxes are, and the sentence about it, from the rest of the report.
void Judge(HostReport& report);

}  // namespace glovebox::doctor
