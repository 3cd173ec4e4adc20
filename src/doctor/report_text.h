#pragma once

#include <cstddef>
#include <string>

#include "doctor/host_report.h"

namespace glovebox::doctor {

// How a report may look where it is shown. The default is for pipes and files:
// plain words, and one line for each thing, however long.
struct TextStyle {
  bool colour = false;
  bool symbols = false;   // a check mark and a cross instead of words
  std::size_t width = 0;  // columns to break lines at; 0 breaks none. Commands are never broken.
};

// The style for descriptor `fd`: everything on a terminal, less where NO_COLOR,
// TERM=dumb or a locale without UTF-8 ask for less.
TextStyle StyleFor(int fd);

// The report for people, sections in the order of interest, the verdict last.
std::string ReportText(const HostReport& report, const TextStyle& style);

}  // namespace glovebox::doctor
