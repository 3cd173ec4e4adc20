#include "audit/verdict.h"

#include <gtest/gtest.h>

#include "audit/baseline.h"
#include "audit/report.h"

namespace glovebox::audit {
namespace {

using sandbox::Wall;

Trial Happened(const std::string& effect) {
  Trial trial;
  trial.effect = effect;
  return trial;
}
Trial Stopped(const std::string& problem = "") {
  Trial trial;
  trial.problem = problem;
  return trial;
}
Trial Skipped() {
  Trial trial;
  trial.skipped = "not run where it could disturb the host";
  return trial;
}

Finding Judged(std::string_view probe, Trial direct, Trial target,
               std::optional<WallTrials> walls = {}, bool allowed = false) {
  Finding finding;
  finding.probe = FindProbe(probe);
  finding.direct = std::move(direct);
  finding.target = std::move(target);
  finding.walls = std::move(walls);
  Judge(finding, allowed);
  return finding;
}

Verdict VerdictOf(std::string_view probe, Trial direct, Trial target) {
  return Judged(probe, std::move(direct), std::move(target)).verdict;
}

WallTrials Control(Held bare) {
  WallTrials walls;
  walls.bare = bare;
  return walls;
}

TEST(Verdict, ComparesTheTwoTrials) {
  EXPECT_EQ(VerdictOf("read_open", Happened("x"), Stopped()), Verdict::kIsolated);
  EXPECT_EQ(VerdictOf("read_open", Stopped(), Stopped()), Verdict::kBothFailed);
  EXPECT_EQ(VerdictOf("read_open", Happened("x"), Happened("x")), Verdict::kNotIsolated);
  EXPECT_EQ(VerdictOf("read_open", Stopped(), Happened("x")), Verdict::kUnexpected);
  EXPECT_EQ(VerdictOf("read_open", Happened("x"), Skipped()), Verdict::kUntestable);
}

TEST(Verdict, AnAnswerIsHeldAgainstTheHosts) {
  EXPECT_EQ(VerdictOf("get_user_info", Happened("root"), Happened("root")), Verdict::kNotIsolated);
  EXPECT_EQ(VerdictOf("get_user_info", Happened("root"), Happened("box")), Verdict::kPartial);
  // An empty list of names on the host says nothing about who cannot read it.
  EXPECT_EQ(VerdictOf("list_home_directory", Happened("[]"), Stopped()), Verdict::kBothFailed);
}

TEST(Verdict, WhatTouchesNothingIsAllowed) {
  EXPECT_EQ(VerdictOf("import_ctypes", Happened("'imported'"), Happened("'imported'")),
            Verdict::kAllowed);
  EXPECT_EQ(VerdictOf("import_ctypes", Happened("'imported'"), Stopped()), Verdict::kIsolated);
}

TEST(Verdict, PolicyCanAllow) {
  const Finding finding = Judged("run_execve", Happened("x"), Happened("x"), {}, true);
  EXPECT_EQ(finding.verdict, Verdict::kAllowed);
  EXPECT_FALSE(finding.weakness());
}

TEST(Verdict, TheCageIsTheControlOfWhatTheHostIsSpared) {
  EXPECT_EQ(Judged("sethostname", Skipped(), Stopped()).verdict, Verdict::kUntestable);
  EXPECT_EQ(Judged("sethostname", Skipped(), Stopped(), Control(Held::kNo)).verdict,
            Verdict::kIsolated);
  EXPECT_EQ(Judged("sethostname", Skipped(), Stopped(), Control(Held::kYes)).verdict,
            Verdict::kBothFailed);
  EXPECT_EQ(Judged("sethostname", Skipped(), Happened("x")).verdict, Verdict::kNotIsolated);
}

TEST(Figures, VacuousAndUntestableAreNoSuccess) {
  const std::vector<Finding> findings = {
      Judged("read_open", Happened("x"), Stopped()),
      Judged("read_mmap", Happened("x"), Happened("x")),
      Judged("read_stat", Stopped(), Stopped()),
      Judged("read_dotdot", Happened("x"), Skipped()),
      Judged("import_sys", Happened("x"), Happened("x")),
  };
  const Figures figures = FiguresOf(findings);
  EXPECT_EQ(figures.telling(), 2u);
  EXPECT_DOUBLE_EQ(figures.effectiveness().value(), 50.0);
  EXPECT_FALSE(FiguresOf(findings, Family::kSystemResources).effectiveness().has_value());
}

WallTrials HeldBy(std::initializer_list<Wall> walls) {
  WallTrials trials = Control(Held::kNo);
  trials.alone.fill(Held::kNo);
  for (const Wall wall : walls) trials.alone.at(static_cast<std::size_t>(wall)) = Held::kYes;
  return trials;
}

TEST(Report, NamesWhatOneWallAloneHolds) {
  Report report;
  report.findings = {
      Judged("read_open", Happened("x"), Stopped(), HeldBy({Wall::kRoot, Wall::kLandlock})),
      Judged("read_stat", Happened("x"), Stopped(), HeldBy({Wall::kRoot})),
  };
  ASSERT_EQ(report.HeldByOne().size(), 1u);
  EXPECT_EQ(report.HeldByOne()[0]->probe->name, "read_stat");
  EXPECT_EQ(HolderText(report.findings[0]), "root, landlock");
}

TEST(Report, PutsWeaknessesFirstAndQuotesWhatOthersSaid) {
  Report report;
  report.target = "a <jail> & more";
  report.findings = {Judged("read_open", Happened("x"), Happened("the | secret <b>")),
                     Judged("read_mmap", Happened("x"), Stopped("\x01 odd"))};
  const std::string markdown = ReportMarkdown(report);
  EXPECT_LT(markdown.find("Potential Weaknesses"), markdown.find("Isolation Effectiveness"));
  EXPECT_NE(markdown.find("the \\| secret \\<b>"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| Test | Direct Execution | MCP Sandbox | Isolation Status |"),
            std::string::npos);
  const std::string html = ReportHtml(report);
  EXPECT_NE(html.find("a &lt;jail&gt; &amp; more"), std::string::npos);
  EXPECT_EQ(html.find("<b>\""), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "the page fetches nothing";
  const std::string junit = ReportJunit(report);
  EXPECT_EQ(junit.find('\x01'), std::string::npos) << "XML cannot hold it";
  EXPECT_NE(junit.find("failures=\"1\""), std::string::npos);
}

TEST(Baseline, FindsWhatGotWorse) {
  Report before;
  before.findings = {
      Judged("read_open", Happened("x"), Stopped(), HeldBy({Wall::kRoot, Wall::kLandlock})),
      Judged("read_mmap", Happened("x"), Stopped()),
      Judged("read_stat", Happened("x"), Happened("x")),
      Judged("read_dotdot", Happened("x"), Stopped()),
  };
  Report after;
  after.findings = {
      Judged("read_open", Happened("x"), Stopped(), HeldBy({Wall::kRoot})),
      Judged("read_mmap", Happened("x"), Happened("leaked")),
      Judged("read_stat", Happened("x"), Stopped()),
  };
  const auto worse = WorseThan(ReportJson(before), after);
  ASSERT_TRUE(worse.ok());
  ASSERT_EQ(worse->size(), 3u);
  EXPECT_EQ((*worse)[0], "read_open: not stopped any more by landlock alone");
  EXPECT_EQ((*worse)[1], "read_mmap: was properly_isolated, is not_isolated (leaked)");
  EXPECT_EQ((*worse)[2], "read_dotdot: was properly_isolated, is not tried any more");
  EXPECT_TRUE(WorseThan(ReportJson(after), after)->empty());
  EXPECT_FALSE(WorseThan({}, after).ok());
}

}  // namespace
}  // namespace glovebox::audit
