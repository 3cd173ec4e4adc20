#include "doctor/report_text.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "doctor/report_fixture.h"

namespace glovebox::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t Columns(std::string_view line) {
  std::size_t columns = 0;
  for (const char byte : line) columns += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  return columns;
}

TEST(ReportTextTest, PlainIsOneLinePerWallWithoutEscapes) {
  const std::string text = ReportText(Healthy(), {});
  EXPECT_THAT(text, HasSubstr("\n ok identity       a user nobody else has\n"));
  EXPECT_THAT(text, HasSubstr("printed 4 in 2.0 ms; 125 ms before that"));
  EXPECT_THAT(text, HasSubstr("tier A"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_TRUE(text.ends_with("\nglovebox serve runs here at full strength\n"));
}

TEST(ReportTextTest, AMissingWallSaysWhatWasTriedWhyAndTheFix) {
  const std::string text = ReportText(Sick(), {});
  EXPECT_THAT(text, HasSubstr(" NO identity"));
  EXPECT_THAT(text, HasSubstr("tried  making namespaces: No space left on device (ENOSPC)"));
  EXPECT_THAT(text, HasSubstr("why  user.max_user_namespaces is 0"));
  EXPECT_THAT(text, HasSubstr(std::string("fix  ") + kFix + "\n"));
}

TEST(ReportTextTest, OneCauseIsToldOnce) {
  const std::string text = ReportText(Sick(), {});
  EXPECT_EQ(text.find(kFix), text.rfind(kFix));
  EXPECT_THAT(text, HasSubstr("fix  as for identity\n"));
}

TEST(ReportTextTest, PackagesComeWithTheCommandThatInstallsThem) {
  const std::string text = ReportText(Sick(), {});
  EXPECT_THAT(text, HasSubstr("numpy 1.24.2\n"));
  EXPECT_THAT(text, HasSubstr("fix  apt-get install python3-sklearn\n"));
}

TEST(ReportTextTest, LinesAreBrokenAtTheWidthAndCommandsAreNot) {
  const std::string text = ReportText(Sick(), {.colour = false, .symbols = true, .width = 50});
  for (const std::string_view line : Split(text, '\n')) {
    if (line.find("  fix  ") != std::string_view::npos) continue;
    EXPECT_LE(Columns(line), 50u) << line;
  }
  EXPECT_THAT(text, HasSubstr(kFix));
}

TEST(ReportTextTest, ColoursEndOnTheirLine) {
  const std::string text = ReportText(Sick(), {.colour = true, .symbols = true, .width = 80});
  EXPECT_THAT(text, HasSubstr("  \x1b[31m\u2718\x1b[0m identity"));
  EXPECT_THAT(text, HasSubstr("  \x1b[32m\u2714\x1b[0m seccomp"));
  for (const std::string_view line : Split(text, '\n')) {
    const std::size_t last = line.rfind('\x1b');
    if (last == std::string_view::npos) continue;
    EXPECT_EQ(line.substr(last, 4), "\x1b[0m") << line;
  }
}

TEST(ReportTextTest, ColumnsAreAlignedWithWordsAndWithSymbols) {
  for (const bool symbols : {false, true}) {
    const std::string text = ReportText(Healthy(), {.symbols = symbols});
    for (const char* what : {"a user nobody", "own processes", "an allow-list", "ABI 3"}) {
      for (const std::string_view line : Split(text, '\n')) {
        const std::size_t at = line.find(what);
        if (at == std::string_view::npos) continue;
        EXPECT_EQ(Columns(line.substr(0, at)), 19u) << line;
      }
    }
  }
}

TEST(ReportTextTest, ContainersAreToldWithTheirRuntimeOrTheReason) {
  HostReport report = Healthy();
  report.container = {true, "gVisor (runsc, platform ptrace)", 0.5, 0.125, ""};
  EXPECT_THAT(ReportText(report, {}),
              HasSubstr("gVisor (runsc, platform ptrace): print(2+2) in 125 ms"));
  report.container = {false, "", 0, 0, "runsc is not installed"};
  EXPECT_THAT(ReportText(report, {}), HasSubstr("not available: runsc is not installed"));
}

TEST(ReportTextTest, APipeGetsThePlainStyle) {
  const TextStyle style = StyleFor(-1);
  EXPECT_FALSE(style.colour || style.symbols);
  EXPECT_EQ(style.width, 0u);
}

}  // namespace
}  // namespace glovebox::doctor
