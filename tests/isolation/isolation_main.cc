// main() of every test program here: enters the cage, then runs the tests.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "audit/victim.h"
#include "isolation_fixture.h"
#include "sandbox/parent/refused_namespaces.h"

namespace glovebox::isolation {

bool MustIsolate() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* value = std::getenv("GLOVEBOX_MUST_ISOLATE");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

void IsolationTest::SetUp() {
  if (CageProblem().empty()) return;
  if (MustIsolate()) FAIL() << "no cage: " << CageProblem();
  GTEST_SKIP() << "no cage: " << CageProblem();
}

Scene* TheScene() {
  static std::unique_ptr<Scene> scene = [] {
    Result<std::unique_ptr<Scene>> made = Scene::Create(Stage::kCage);
    if (made.ok()) return std::move(made).value();
    ADD_FAILURE() << "the host's side: " << made.error().message();
    return std::unique_ptr<Scene>();
  }();
  return scene.get();
}

namespace {

namespace fs = std::filesystem;

// A normal user cannot reach a build tree that lies in somebody's home: it gets a copy. Removed by
// the process that made it, which is the one outside the cage.
class ReachableZygote {
 public:
  ReachableZygote() : maker_(getpid()) {
    if (!ExecutorUser()) return;
    char folder[] = "/tmp/glovebox-isolation-XXXXXX";
    if (mkdtemp(folder) == nullptr) return;
    folder_ = folder;
    fs::permissions(folder_, fs::perms(0755));
    for (const char* name : {"glovebox-init", "glovebox-python"}) {
      fs::copy_file(fs::path(ZygoteProgram()).replace_filename(name), folder_ / name);
    }
    // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
    setenv("GLOVEBOX_PYTHON", (folder_ / "glovebox-python").c_str(), 1);
  }
  ~ReachableZygote() {
    if (getpid() == maker_ && !folder_.empty()) fs::remove_all(folder_);
  }
  ReachableZygote(const ReachableZygote&) = delete;
  ReachableZygote& operator=(const ReachableZygote&) = delete;

 private:
  const pid_t maker_;
  fs::path folder_;
};

int RunTests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  std::signal(SIGPIPE, SIG_IGN);  // as every program with an executor does
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const ReachableZygote zygote;
  const CageEntry cage = EnterCage();
  if (!cage.inside) return cage.exit_code;
  if (WithoutUserNamespaces()) CHECK(sandbox::RefuseNamespaces(CLONE_NEWUSER));
  const int code = RUN_ALL_TESTS();
  Runner().Clear();
  return code;
}

}  // namespace
}  // namespace glovebox::isolation

int main(int argc, char** argv) {
  if (glovebox::audit::IsVictim(argc, argv)) return glovebox::audit::VictimMain(argv);
  return glovebox::isolation::RunTests(argc, argv);
}
