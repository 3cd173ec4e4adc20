#include "app/audit_log.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace glovebox {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AuditLogTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(int count, AuditLogOptions options = {}) {
    options.path = path_;
    auto log = AuditLog::Open(options);
    ASSERT_TRUE(log.ok()) << log.error().message();
    for (int i = 0; i < count; ++i) {
      ExecutionRequest request;
      request.caller = "token:ann";
      request.code = "print(" + std::to_string(i) + ")";
      Outcome outcome;
      outcome.status = ExecutionStatus::kFailed;
      outcome.execution_id = "id";
      outcome.error = PythonError{"ValueError", "m", "", 1, 0, ""};
      Event event;
      event.operation = "socket";
      event.refused = true;
      outcome.events = {event};
      EXPECT_TRUE((*log)->Record(request, outcome).ok());
    }
  }
  std::string Text() const { return ReadFile(path_).value_or(""); }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::istringstream stream(Text());
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  void Put(const std::vector<std::string>& lines) const {
    std::ofstream file(path_, std::ios::trunc);
    for (const std::string& line : lines) file << line << "\n";
  }
  std::vector<std::string> Problems() const { return VerifyAuditLog({path_})->problems; }

  const std::string folder_ = testing::TempDir() + "audit_log_test." + std::to_string(::getpid());
  const std::string path_ = folder_ + "/audit.jsonl";
};

TEST_F(AuditLogTest, ALineSaysWhoWhatAndHowItEnded) {
  Write(1);
  ASSERT_EQ(Lines().size(), 1u);
  for (const char* part :
       {R"("sequence":1,)", R"("who":"token:ann")", R"("status":"failed")", R"("time":"20)",
        R"("error_category":"runtime")", R"("error_type":"ValueError")", R"("operation":"socket")",
        R"("code_sha256":"83886bbc5808)", R"("memory_bytes":134217728)", R"("profile":"full")"}) {
    EXPECT_THAT(Lines()[0], HasSubstr(part));
  }
  EXPECT_THAT(Lines()[0], Not(HasSubstr("print(0)")));
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(AuditLogTest, TheTextOfProgramsIsOptional) {
  AuditLogOptions options;
  options.with_code = true;
  Write(1, options);
  EXPECT_THAT(Lines()[0], HasSubstr(R"~("code":"print(0)")~"));
}

TEST_F(AuditLogTest, AnUntouchedLogIsWhole) {
  Write(3);
  Write(2);  // another server goes on
  const auto verdict = VerifyAuditLog({path_});
  EXPECT_THAT(verdict->problems, ElementsAre());
  EXPECT_EQ(verdict->lines, 5u);
  EXPECT_EQ(verdict->last_sequence, 5u);
}

TEST_F(AuditLogTest, AnEditIsFound) {
  Write(3);
  auto lines = Lines();
  lines[1].replace(lines[1].find("failed"), 6, "passed");
  Put(lines);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("line 2: changed after it was written")));
}

TEST_F(AuditLogTest, ARemovedLineIsFound) {
  Write(4);
  auto lines = Lines();
  lines.erase(lines.begin() + 1);
  Put(lines);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("line 2: does not follow the line before it: "
                                                "record 2 was removed")));
}

TEST_F(AuditLogTest, SwappedAndForeignLinesAreFound) {
  Write(3);
  auto lines = Lines();
  std::swap(lines[1], lines[2]);
  Put(lines);
  EXPECT_FALSE(Problems().empty());
  Put({lines[0], "{}"});
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("line 2: not a line of an audit log")));
}

TEST_F(AuditLogTest, AnUnfinishedLineIsRemovedAndSaidSo) {
  Write(2);
  std::ofstream(path_, std::ios::app) << R"({"sequence":3,"ti)";
  Write(1);
  ASSERT_EQ(Lines().size(), 4u);
  EXPECT_THAT(Lines()[2], HasSubstr("an unfinished line was removed"));
  EXPECT_THAT(Problems(), ElementsAre());
}

TEST_F(AuditLogTest, FilesPutAsideKeepTheChain) {
  AuditLogOptions options;
  options.bytes_max = 1500;
  options.files_kept = 2;
  Write(12, options);
  ASSERT_TRUE(fs::exists(path_ + ".2"));
  EXPECT_FALSE(fs::exists(path_ + ".3"));
  EXPECT_LE(fs::file_size(path_ + ".1"), 2500u);
  const auto verdict = VerifyAuditLog({path_, path_ + ".1", path_ + ".2"});
  EXPECT_THAT(verdict->problems, ElementsAre());
  EXPECT_EQ(verdict->last_sequence, 12u);
  EXPECT_GT(verdict->first_sequence, 1u);  // older files are gone, by the operator's wish
  EXPECT_FALSE(VerifyAuditLog({path_, path_ + ".2"})->problems.empty());
}

TEST_F(AuditLogTest, TwoServersDoNotShareOne) {
  const auto first = AuditLog::Open({.path = path_});
  ASSERT_TRUE(first.ok());
  const auto second = AuditLog::Open({.path = path_});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message(), HasSubstr("in use by another server"));
}

TEST_F(AuditLogTest, AFileThatIsNoLogIsNotContinued) {
  std::ofstream(path_) << "hello\n";
  const auto log = AuditLog::Open({.path = path_});
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(log.error().message(), HasSubstr("none of ours"));
  EXPECT_FALSE(AuditLog::Open({.path = folder_ + "/no/such/file"}).ok());
}

}  // namespace
}  // namespace glovebox
