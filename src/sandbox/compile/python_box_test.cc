#include "sandbox/compile/python_box.h"

#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

TEST(PythonBoxTest, ThePolicyThatShipsIsValid) {
  const Result<policy::BoxPolicy> policy = PythonBoxPolicy();
  ASSERT_TRUE(policy.ok()) << policy.error().message();
  std::set<std::string> paths;
  for (const policy::RootItem& item : policy->root) {
    EXPECT_TRUE(paths.insert(item.path).second) << item.path << " appears twice";
  }
  EXPECT_TRUE(paths.count(PythonStdlib()) == 1);
}

TEST(PythonBoxTest, BindsNothingThatHoldsSocketsSecretsOrState) {
  const policy::BoxPolicy policy = PythonBoxPolicy().value();
  for (const policy::RootItem& item : policy.root) {
    if (item.kind != policy::RootItemKind::kBind) continue;
    for (const char* forbidden : {"/run", "/var", "/home", "/root", "/tmp", "/sys", "/proc", "/dev",
                                  "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/opt", "/srv"}) {
      EXPECT_FALSE(item.path.starts_with(forbidden)) << item.path;
    }
    EXPECT_NE(item.path, "/");
    EXPECT_NE(item.path, "/etc");
    EXPECT_NE(item.path, "/usr");
  }
}

TEST(PythonBoxTest, CoreDumpsAreOff) {
  const policy::BoxPolicy policy = PythonBoxPolicy().value();
  EXPECT_TRUE(
      std::any_of(policy.rlimits.begin(), policy.rlimits.end(), [](const policy::RlimitItem& item) {
        return item.resource == RLIMIT_CORE && item.value == 0;
      }));
}

TEST(PythonBoxTest, TheEnvironmentIsComplete) {
  std::set<std::string> names;
  const policy::BoxPolicy policy = PythonBoxPolicy().value();
  for (const auto& [name, value] : policy.environment) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"HOME", "TMPDIR", "PATH", "LANG", "TZ", "MPLBACKEND",
                                          "MPLCONFIGDIR", "OPENBLAS_NUM_THREADS"}));
}

}  // namespace
}  // namespace glovebox::sandbox
