#include "doctor/host_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::doctor {
namespace {

using testing::HasSubstr;

HostReport Healthy() {
  HostReport report;
  report.walls = {{"root", "", std::nullopt}};
  report.box.ran = true;
  return report;
}

TEST(JudgeTest, FullStrengthIsEveryWallAndABox) {
  HostReport report = Healthy();
  Judge(report);
  EXPECT_EQ(report.strength, Strength::kFull);
}

TEST(JudgeTest, AMissingWallOrAWeakerResultIsDegraded) {
  HostReport wall = Healthy();
  wall.walls[0].trouble = Trouble{"r", "c", "f"};
  Judge(wall);
  EXPECT_EQ(wall.strength, Strength::kDegraded);
  HostReport result = Healthy();
  result.box.missing_walls = {"Landlock ABI 1 does not cover TCP"};
  Judge(result);
  EXPECT_EQ(result.strength, Strength::kDegraded);
}

TEST(JudgeTest, ABoxThatNeedsThePermissionSaysSoAndWhatIsMissing) {
  HostReport report = Healthy();
  report.walls[0].trouble = Trouble{"r", "c", "f"};
  report.box.degraded = true;
  Judge(report);
  EXPECT_EQ(report.strength, Strength::kDegraded);
  EXPECT_THAT(report.verdict, HasSubstr("only with --allow-degraded, without: root"));
}

TEST(JudgeTest, WithoutABoxThereIsNoServer) {
  HostReport report = Healthy();
  report.box = {};
  report.box.reason = "making namespaces: Operation not permitted";
  Judge(report);
  EXPECT_EQ(report.strength, Strength::kNone);
  EXPECT_THAT(report.verdict, HasSubstr("cannot run here: making namespaces"));
}

TEST(HostSurveyTest, AMissingProgramIsToldAndTheRestIsSurveyed) {
  const HostReport report =
      SurveyHost(Error(Errc::kUnsupported, "glovebox-python is missing: reinstall"));
  EXPECT_EQ(report.strength, Strength::kNone);
  EXPECT_THAT(report.verdict, HasSubstr("glovebox-python is missing"));
  EXPECT_GE(report.walls.size(), 9u);
  EXPECT_EQ(report.runtimes.size(), 5u);
  EXPECT_GE(report.packages.size(), 10u);
  EXPECT_THAT(report.python.version, HasSubstr(report.python.built_for));
}

}  // namespace
}  // namespace glovebox::doctor
