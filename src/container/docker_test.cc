#include "container/docker.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container/sample_bundle.h"
#include "container/test_folder.h"

namespace glovebox::container {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class DockerTest : public FolderTest, protected WithSampleBundle {
 protected:
  std::vector<std::string> Run() const {
    return DockerRun(
        spec_, {"/usr/bin/docker", "/l", "glovebox:s1.1", "/c/seccomp.json", "/c/wire", true});
  }
};

TEST_F(DockerTest, IsToldEveryWallThatABundleHas) {
  const std::vector<std::string> words = Run();
  for (const char* word :
       {"--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
        "--security-opt=seccomp=/c/seccomp.json", "--user=101:101", "--ulimit=nofile=1024:1024",
        "--label=io.glovebox.server=s1", "--rm", "--pull=never",
        "--tmpfs=/tmp:rw,nosuid,nodev,noexec,mode=700,uid=101,gid=101,size=1048576,nr_inodes=16",
        "--mount=type=bind,source=/usr/lib/x,target=/usr/lib/x,readonly,bind-nonrecursive=true"}) {
    EXPECT_THAT(words, Contains(word));
  }
  EXPECT_EQ(words.front(), "/l") << "who lets it outlive us";
  EXPECT_EQ(words.back(), "container");
}

TEST_F(DockerTest, APathCannotAddAFlagToItsMount) {
  root_.binds = {{"/a,readonly=false", "/b\"c", false}};
  EXPECT_THAT(Run(), Contains("--mount=type=bind,\"source=/a,readonly=false\",\"target=/b\"\"c\","
                              "readonly,bind-nonrecursive=true"));
}

TEST_F(DockerTest, AFolderToBeWrittenIsRefusedWithTheFix) {
  root_.binds.push_back({"/data", "/work/data", true});
  const auto made = MakeDockerRoot(root_, false);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message(), HasSubstr("/data"));
  EXPECT_THAT(made.error().message(), HasSubstr("SANDBOX_CONTAINER_RUNTIME"));
}

TEST_F(DockerTest, AnImageIsBoundAndNotCopied) {
  Write(folder_ / "usr/bin/python", "");
  Write(folder_ / "proc/x", "");
  std::filesystem::create_symlink("usr/lib", folder_ / "lib");
  const auto made = MakeDockerRoot({folder_.string(), {}}, true);
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->entries, UnorderedElementsAre("./usr", "./proc", "./lib"));
  ASSERT_EQ(made->root.binds.size(), 1u);
  EXPECT_EQ(made->root.binds[0].target, "/usr");
  EXPECT_THAT(DockerImport("/d", *made, "/a", "n").front(), Contains("--no-recursion"));
  EXPECT_THAT(DockerImport("/d", {root_, {"."}, true}, "/a", "n").front(),
              Not(Contains("--no-recursion")));
}

TEST_F(DockerTest, ADaemonThatIsNotThereIsSaid) {
  const Status checked = CheckDockerDaemon((folder_ / "docker.sock").string());
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message(), HasSubstr("no daemon answers at"));
  EXPECT_THAT(checked.error().message(), HasSubstr("name a runtime that needs none"));
}

TEST_F(DockerTest, OrphansAreThoseOfServersThatAreGone) {
  Write(folder_ / "7-1/lock", "");
  EXPECT_THAT(DockerOrphans("7-1 glovebox-7-1-2\n8-1 glovebox-8-1-2\n\nodd\n", folder_.string()),
              ElementsAre("glovebox-8-1-2"));
  EXPECT_THAT(DockerOrphans("7-1.1 glovebox:7-1.1\n9-1.3 glovebox:9-1.3\n", folder_.string()),
              ElementsAre("glovebox:9-1.3"));
}

}  // namespace
}  // namespace glovebox::container
