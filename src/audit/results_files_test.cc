#include "audit/results_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace glovebox::audit {
namespace {

class ResultsFilesTest : public testing::Test {
 protected:
  ResultsFilesTest() {
    char name[] = "/tmp/glovebox-results-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ResultsFilesTest() override { std::filesystem::remove_all(folder_); }
  ResultsFilesTest(const ResultsFilesTest&) = delete;
  ResultsFilesTest& operator=(const ResultsFilesTest&) = delete;

  std::string folder_;
};

Report TwoFindings() {
  Report report;
  report.target = "a jail";
  Finding passwd{.probe = FindProbe("read_etc_passwd")};
  passwd.direct.effect = "'root'";
  passwd.direct.answer = "'root'";
  passwd.target.problem = "PermissionError: \"no\"";
  Finding name{.probe = FindProbe("sethostname")};
  name.direct.skipped = "not run where it could disturb the host";
  report.findings = {passwd, name};
  return report;
}

TEST_F(ResultsFilesTest, SayAgainWhatWasWritten) {
  const Report report = TwoFindings();
  ASSERT_TRUE(WriteResults(folder_, report, ResultsOf::kDirect).ok());
  ASSERT_TRUE(WriteResults(folder_, report, ResultsOf::kTarget).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/file_access_results.json"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/namespaces_results_mcp.json"));
  EXPECT_EQ(TargetInResults(folder_), "a jail");
  const auto findings = ReadResults(folder_);
  ASSERT_TRUE(findings.ok());
  ASSERT_EQ(findings->size(), 2u) << "probes that no file has are left out";
  EXPECT_EQ((*findings)[0].direct.effect, "'root'");
  EXPECT_EQ((*findings)[0].target.problem, "PermissionError: \"no\"");
  EXPECT_FALSE((*findings)[0].target.effect.has_value());
  EXPECT_EQ((*findings)[1].direct.skipped, "not run where it could disturb the host");
}

TEST_F(ResultsFilesTest, AMissingOrBrokenFileIsNamed) {
  ASSERT_TRUE(WriteResults(folder_, TwoFindings(), ResultsOf::kDirect).ok());
  const auto missing = ReadResults(folder_);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message().find("file_access_results_mcp.json"), std::string::npos);
  ASSERT_TRUE(WriteResults(folder_, TwoFindings(), ResultsOf::kTarget).ok());
  std::ofstream(folder_ + "/limits_results.json") << "[]";
  const auto broken = ReadResults(folder_);
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message().find("limits_results.json"), std::string::npos);
}

}  // namespace
}  // namespace glovebox::audit
