#include "app/profile_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "policy/profile.h"

namespace glovebox {
namespace {

using testing::HasSubstr;

TEST(ProfileDocumentsTest, TheFileInTheTreeIsWhatTheProfilesSay) {
  const std::string file = ReadFile(GLOVEBOX_SOURCE_FOLDER "/docs/profiles.md").value_or("");
  EXPECT_TRUE(file == ProfilesManual()) << "run `make config-docs`";
}

TEST(ProfileDocumentsTest, EveryModuleIsThereWithItsReasonAndPackage) {
  const std::string manual = ProfilesManual();
  for (const policy::Profile& profile : policy::Profiles()) {
    EXPECT_THAT(manual, HasSubstr("\n## " + profile.name + "\n"));
    for (const policy::ProfileEntry& entry : profile.modules) {
      EXPECT_THAT(manual, HasSubstr("| `" + entry.name + "` | " + entry.why + " | " +
                                    (entry.package.empty() ? "Python's own" : entry.package)));
    }
  }
}

}  // namespace
}  // namespace glovebox
