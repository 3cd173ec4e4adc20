#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/box_run.h"

namespace glovebox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int Signalled(int signal) { return signal; }
constexpr int Exited(int code) { return code << 8; }

BoxReport Running() { return {}; }

BoxReport WithResult(wire::Ending ending, int exit_code) {
  BoxReport report = Running();
  report.result.emplace();
  report.result->ending = ending;
  report.result->exit_code = exit_code;
  return report;
}

TEST(JudgeTest, AnEndOfTheCodeIsCompleted) {
  const Outcome outcome = Judge(WithResult(wire::Ending::kReturned, 0), {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.message, "");
}

TEST(JudgeTest, SysExitZeroIsCompletedAndOthersFailed) {
  EXPECT_EQ(Judge(WithResult(wire::Ending::kExited, 0), {}).status, ExecutionStatus::kCompleted);
  const Outcome outcome = Judge(WithResult(wire::Ending::kExited, 7), {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kFailed);
  EXPECT_EQ(outcome.exit_code, 7);
}

TEST(JudgeTest, AnExceptionIsFailedWithTypeAndMessage) {
  BoxReport report = WithResult(wire::Ending::kRaised, 1);
  report.result->error = {"ZeroDivisionError", "division by zero", "...", 4, 0, ""};
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kFailed);
  EXPECT_EQ(outcome.message, "ZeroDivisionError: division by zero");
  EXPECT_EQ(outcome.error->line, 4);
}

TEST(JudgeTest, ARefusalOfTheLanguageLayerIsViolatedWithItsFindings) {
  BoxReport report = WithResult(wire::Ending::kRefused, 1);
  report.result->error = {"SecurityError", "no", "", 2, 0, ""};
  report.result->findings = {{2, 1, "attribute", "what", "why", "instead", true}};
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kViolated);
  EXPECT_EQ(outcome.message, "SecurityError: no");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].rule, "attribute");
}

TEST(JudgeTest, AMemoryErrorNamesTheLimit) {
  BoxReport report = WithResult(wire::Ending::kRaised, 1);
  report.result->error.type = "MemoryError";
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kFailed);
  EXPECT_THAT(outcome.limits_hit, ElementsAre("memory"));
}

TEST(JudgeTest, SoDoesAMappingThatWasRefused) {
  BoxReport report = WithResult(wire::Ending::kRaised, 1);
  report.result->error.type = "OSError";
  report.result->error.message = "[Errno 12] Cannot allocate memory";
  EXPECT_THAT(Judge(report, {}).limits_hit, ElementsAre("memory"));
  report.result->error.message = "[Errno 28] No space left on device";
  EXPECT_THAT(Judge(report, {}).limits_hit, ElementsAre());
}

TEST(JudgeTest, ADeathWithoutAResultIsAFailureEvenWithExitCodeZero) {
  BoxReport report = Running();
  report.wait_status = Exited(0);
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kFailed);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.message, HasSubstr("before the code had finished"));
}

TEST(JudgeTest, ASignalOfItsOwnIsFailedAndTheFiltersIsViolated) {
  BoxReport report = Running();
  report.wait_status = Signalled(SIGSEGV);
  Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kFailed);
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.message, HasSubstr("SIGSEGV"));
  report.wait_status = Signalled(SIGSYS);
  EXPECT_EQ(Judge(report, {}).status, ExecutionStatus::kViolated);
}

TEST(JudgeTest, TheClocksAreTimedOut) {
  BoxReport report = Running();
  report.killed = KillReason::kWallClock;
  ExecutionRequest request;
  request.limits.wall_ms_max = 2000;
  const Outcome outcome = Judge(report, request);
  EXPECT_EQ(outcome.status, ExecutionStatus::kTimedOut);
  EXPECT_EQ(outcome.message, "Execution timed out after 2 seconds (timeout)");
  EXPECT_THAT(outcome.limits_hit, ElementsAre("wall"));
  report.killed = KillReason::kCpuClock;
  EXPECT_THAT(Judge(report, request).limits_hit, ElementsAre("cpu"));
}

TEST(JudgeTest, AnOutOfMemoryKillWithoutAResultIsALimit) {
  BoxReport report = Running();
  report.wait_status = Signalled(SIGKILL);
  report.usage = sandbox::CgroupUsage{.memory_peak_bytes = 9, .oom_kills = 1};
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kLimitExceeded);
  EXPECT_THAT(outcome.message, HasSubstr("128 MiB"));
  EXPECT_EQ(outcome.peak_memory_bytes, 9u);
}

TEST(JudgeTest, RefusedForksAreNamed) {
  BoxReport report = WithResult(wire::Ending::kReturned, 0);
  report.usage = sandbox::CgroupUsage{.processes_refused = 3};
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kCompleted);
  EXPECT_THAT(outcome.limits_hit, ElementsAre("pids"));
}

TEST(JudgeTest, AContainerThatDiedOfTooManyProcessesReachedALimit) {
  BoxReport report = Running();
  report.in_container = true;
  EXPECT_EQ(Judge(report, {}).status, ExecutionStatus::kFailed);
  report.usage = sandbox::CgroupUsage{.processes_refused = 3};
  const Outcome outcome = Judge(report, {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kLimitExceeded);
  EXPECT_THAT(outcome.limits_hit, ElementsAre("pids"));
}

TEST(JudgeTest, CancellingWinsOverEverything) {
  BoxReport report = Running();
  report.killed = KillReason::kCancelled;
  report.usage = sandbox::CgroupUsage{.oom_kills = 1};
  EXPECT_EQ(Judge(report, {}).status, ExecutionStatus::kCancelled);
}

TEST(JudgeTest, AForgeryIsAFailure) {
  BoxReport report = Running();
  report.killed = KillReason::kProtocol;
  EXPECT_EQ(Judge(report, {}).status, ExecutionStatus::kFailed);
}

TEST(JudgeTest, ABoxThatDiedWithItsZygoteHasFailed) {
  const Outcome outcome = Judge(Running(), {});
  EXPECT_EQ(outcome.status, ExecutionStatus::kFailed);
  EXPECT_THAT(outcome.message, HasSubstr("glovebox-python"));
}

}  // namespace
}  // namespace glovebox
