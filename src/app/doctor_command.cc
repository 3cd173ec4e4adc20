#include "app/doctor_command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "app/zygote_path.h"
#include "doctor/host_survey.h"
#include "doctor/report_json.h"
#include "doctor/report_text.h"
#include "mcp/json_writer.h"

#ifndef GLOVEBOX_VERSION
#error "GLOVEBOX_VERSION is the project's version, defined by src/app/CMakeLists.txt"
#endif

namespace glovebox {
namespace {

int RunDoctor(bool json) {
  doctor::HostReport report = doctor::SurveyHost(FindZygoteProgram());
  report.glovebox_version = GLOVEBOX_VERSION;
  const std::string text = json ? mcp::WriteJson(doctor::ReportJson(report)) + "\n"
                                : doctor::ReportText(report, doctor::StyleFor(STDOUT_FILENO));
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(report.strength);
}

}  // namespace

void AddDoctorCommand(CLI::App& root, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      root.add_subcommand("doctor", "Which walls stand on this host, and how to raise the rest");
  command->add_flag("--json", *json, "Print one JSON document instead of text");
  command->footer(
      "Every wall is tried by building it; nothing is left behind. Exit codes: 0 serve runs at "
      "full\n"
      "strength; 1 weaker; 3 not at all; 2 usage; 125 Glovebox failed.");
  command->callback([json, &exit_code] { exit_code = RunDoctor(*json); });
}

}  // namespace glovebox
