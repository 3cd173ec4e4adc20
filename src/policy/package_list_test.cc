#include "policy/package_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

using testing::HasSubstr;

constexpr const char* kOne =
    "[[package]]\nmodule = 'sklearn'\ndistribution = 'scikit-learn'\n"
    "debian = 'python3-sklearn'\nwhy = 'models'\n";

TEST(PackageListTest, ReadsAPackage) {
  const auto packages = ParsePackageList(kOne);
  ASSERT_TRUE(packages.ok()) << packages.error().message();
  ASSERT_EQ(packages->size(), 1u);
  EXPECT_EQ(packages->front().module, "sklearn");
  EXPECT_EQ(packages->front().distribution, "scikit-learn");
  EXPECT_EQ(packages->front().debian, "python3-sklearn");
}

TEST(PackageListTest, EveryPackageHasAReason) {
  const auto packages =
      ParsePackageList("[[package]]\nmodule = 'a'\ndistribution = 'a'\ndebian = 'python3-a'\n");
  ASSERT_FALSE(packages.ok());
  EXPECT_THAT(packages.error().message(), HasSubstr("package entry 1 (line 1)"));
  EXPECT_THAT(packages.error().message(), HasSubstr("`why` is missing"));
}

TEST(PackageListTest, AModuleIsNamedOnce) {
  const auto packages = ParsePackageList(std::string(kOne) + kOne);
  ASSERT_FALSE(packages.ok());
  EXPECT_EQ(packages.error().message(), "module `sklearn` is named twice");
}

}  // namespace
}  // namespace glovebox::policy
