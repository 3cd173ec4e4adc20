// Kinds of boxes in one executor: what an operator grants to one kind is there, as it was granted,
// and is not in the others.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "audit/cage.h"
#include "executor/local_executor.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

class KindsTest : public IsolationTest {
 protected:
  void SetUp() override {
    IsolationTest::SetUp();
    std::string name = std::string(kHostFolder) + "/kinds-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_EQ(chmod(name.c_str(), 0755), 0);
    for (const char* part : {"modules", "in", "out"}) fs::create_directory(folder_ / part);
    ASSERT_EQ(chmod((folder_ / "out").c_str(), 0777), 0);
    Write(folder_ / "modules/granted.py", "answer = 42\n");
    Write(folder_ / "modules/trap.pth", "import sys; sys.trapped = True\n");
    Write(folder_ / "in/data.txt", "data");
    LocalExecutorOptions options;
    options.zygote_program = ZygoteProgram();
    options.kinds = {
        {.name = "plain"},
        {.name = "rich",
         .preimports = {"granted", "decimal"},
         .module_paths = {folder_ / "modules"},
         .folders = {{folder_ / "in", "/data/in", false}, {folder_ / "out", "/data/out", true}}}};
    auto made = CreateLocalExecutor(context_, std::move(options));
    ASSERT_TRUE(made.ok()) << made.error().message();
    executor_ = std::move(*made);
  }

  void TearDown() override {
    executor_.reset();
    fs::remove_all(folder_);
  }

  Outcome Run(const std::string& kind, const std::string& code) {
    ExecutionRequest request;
    request.kind = kind;
    request.code = code;
    std::optional<Outcome> outcome;
    const auto execution = executor_->Start(std::move(request), nullptr, [&](Outcome arrived) {
      outcome = std::move(arrived);
      context_.stop();
    });
    context_.restart();
    context_.run_for(std::chrono::seconds(30));
    return outcome.value_or(Outcome());
  }

  std::string Printed(const std::string& kind, const std::string& code) {
    const Outcome outcome = Run(kind, code);
    return outcome.stdout_stream.text + outcome.message;
  }

  fs::path folder_;
  boost::asio::io_context context_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(KindsTest, EachKindHasItsOwnModules) {
  const std::string probe = "import sys; print('decimal' in sys.modules, hasattr(sys, 'trapped'))";
  EXPECT_EQ(Printed("plain", probe), "False False\n");
  EXPECT_EQ(Printed("rich", probe), "True False\n");
  EXPECT_EQ(Printed("", probe), "False False\n") << "no name means the first kind";
  EXPECT_EQ(Printed("rich", "import granted; print(granted.answer)"), "42\n");
  EXPECT_EQ(Printed("plain", "import granted"), "ModuleNotFoundError: No module named 'granted'");
}

TEST_F(KindsTest, AReadOnlyFolderIsReadAndNotWritten) {
  EXPECT_EQ(Printed("rich", "print(open('/data/in/data.txt').read())"), "data\n");
  EXPECT_EQ(Run("rich", "open('/data/in/data.txt', 'w').write('x')").status,
            ExecutionStatus::kFailed);
  EXPECT_EQ(Run("rich", "open('/data/in/new', 'w')").status, ExecutionStatus::kFailed);
  EXPECT_FALSE(fs::exists(folder_ / "in/new"));
  EXPECT_EQ(Run("plain", "open('/data/in/data.txt')").status, ExecutionStatus::kFailed);
}

TEST_F(KindsTest, AWritableFolderKeepsWhatWasWritten) {
  const Outcome outcome = Run("rich", "open('/data/out/kept', 'w').write('kept')");
  EXPECT_EQ(outcome.status, ExecutionStatus::kCompleted) << outcome.message;
  std::string text;
  std::ifstream(folder_ / "out/kept") >> text;
  EXPECT_EQ(text, "kept");
  // Beside it, nothing: ".." leads to the box's own root.
  EXPECT_EQ(Run("rich", "open('/data/out/../new', 'w')").status, ExecutionStatus::kFailed);
}

TEST_F(KindsTest, AnUnknownKindIsAnOutcome) {
  const Outcome outcome = Run("golden", "print(1)");
  EXPECT_EQ(outcome.status, ExecutionStatus::kSetupFailed);
  EXPECT_EQ(outcome.message, "no kind of box is called 'golden'");
}

TEST_F(KindsTest, AFolderNobodyMayWriteIsRefusedAtOnce) {
  LocalExecutorOptions options;
  options.zygote_program = ZygoteProgram();
  options.kinds = {{.name = "plain", .folders = {{folder_ / "in", "/data", true}}}};
  const auto made = CreateLocalExecutor(context_, std::move(options));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("chmod o+w"), std::string::npos) << made.error().message();
}

}  // namespace
}  // namespace glovebox::isolation
