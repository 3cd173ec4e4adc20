#include "container/layer_tree.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "container/test_folder.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;

class LayerTreeTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    layer_ = folder_ / "layer";
    root_ = folder_ / "root";
    outside_ = folder_ / "outside";
    for (const fs::path& path : {layer_, root_, outside_}) fs::create_directories(path);
  }

  void Apply() {
    const Status applied = ApplyLayer(layer_.string(), root_.string());
    ASSERT_TRUE(applied.ok()) << applied.error().message();
    EXPECT_TRUE(fs::is_empty(layer_));
  }

  fs::path layer_;
  fs::path root_;
  fs::path outside_;
};

TEST_F(LayerTreeTest, UnitesFoldersAndReplacesTheRest) {
  Write(root_ / "etc/a", "lower");
  Write(root_ / "etc/b", "lower");
  Write(root_ / "was_folder/x", "lower");
  Write(root_ / "was_file", "lower");
  Write(layer_ / "etc/b", "upper");
  Write(layer_ / "was_folder", "upper");
  Write(layer_ / "was_file/y", "upper");
  fs::permissions(layer_ / "etc", fs::perms::owner_all);
  Apply();
  EXPECT_EQ(Read(root_ / "etc/a"), "lower");
  EXPECT_EQ(Read(root_ / "etc/b"), "upper");
  EXPECT_EQ(Read(root_ / "was_folder"), "upper");
  EXPECT_EQ(Read(root_ / "was_file/y"), "upper");
  EXPECT_EQ(ModeOf(root_ / "etc"), 0700u);
}

TEST_F(LayerTreeTest, AWhiteoutRemovesWhatWasBelowAndNothingElse) {
  Write(root_ / "etc/gone", "lower");
  Write(root_ / "etc/gone_folder/x", "lower");
  Write(root_ / "etc/stays", "lower");
  Write(root_ / "etc/anew", "lower");
  Write(layer_ / "etc/.wh.gone", "");
  Write(layer_ / "etc/.wh.gone_folder", "");
  Write(layer_ / "etc/.wh.never_was", "");
  Write(layer_ / "etc/.wh.anew", "");
  Write(layer_ / "etc/anew", "upper");
  Apply();
  EXPECT_FALSE(IsThere(root_ / "etc/gone"));
  EXPECT_FALSE(IsThere(root_ / "etc/gone_folder"));
  EXPECT_EQ(Read(root_ / "etc/stays"), "lower");
  EXPECT_EQ(Read(root_ / "etc/anew"), "upper");
  EXPECT_FALSE(IsThere(root_ / "etc/.wh.gone"));
}

TEST_F(LayerTreeTest, AnOpaqueFolderHidesAllBelowIt) {
  Write(root_ / "etc/old", "lower");
  Write(root_ / "etc/sub/old", "lower");
  Write(layer_ / "etc/.wh..wh..opq", "");
  Write(layer_ / "etc/new", "upper");
  Apply();
  EXPECT_FALSE(IsThere(root_ / "etc/old"));
  EXPECT_FALSE(IsThere(root_ / "etc/sub"));
  EXPECT_EQ(Read(root_ / "etc/new"), "upper");
}

TEST_F(LayerTreeTest, ALinkOfALowerLayerLeadsNowhere) {
  Write(outside_ / "kept", "host");
  fs::create_directory_symlink(outside_, root_ / "etc");
  fs::create_directory_symlink(outside_, root_ / "var");
  Write(layer_ / "etc/planted", "upper");
  Write(layer_ / "var/.wh.kept", "");
  Apply();
  EXPECT_EQ(Read(root_ / "etc/planted"), "upper");
  EXPECT_FALSE(IsThere(outside_ / "planted"));
  EXPECT_EQ(Read(outside_ / "kept"), "host");
}

TEST_F(LayerTreeTest, AWhiteoutOfTheFolderItselfIsRefused) {
  Write(root_ / "etc/a", "lower");
  Write(layer_ / "etc/.wh...", "");
  const Status applied = ApplyLayer(layer_.string(), root_.string());
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().code(), Errc::kInvalidArgument);
  EXPECT_EQ(Read(root_ / "etc/a"), "lower");
}

TEST_F(LayerTreeTest, NothingIsLeftThatCouldHarmTheHost) {
  Write(root_ / "bin/su", "x");
  fs::create_directories(root_ / "tmp");
  ASSERT_EQ(::chmod((root_ / "bin/su").c_str(), 06755), 0);
  ASSERT_EQ(::chmod((root_ / "tmp").c_str(), 01777), 0);
  ASSERT_EQ(::mkfifo((root_ / "tmp/pipe").c_str(), 0666), 0);
  Write(outside_ / "su", "x");
  ASSERT_EQ(::chmod((outside_ / "su").c_str(), 04755), 0);
  fs::create_symlink(outside_ / "su", root_ / "bin/link");
  fs::create_directory_symlink(outside_, root_ / "bin/folder");
  const Status done = MakeHarmless(root_.string());
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(ModeOf(root_ / "bin/su"), 0755u);
  EXPECT_EQ(ModeOf(root_ / "tmp"), 01755u);
  EXPECT_FALSE(IsThere(root_ / "tmp/pipe"));
  EXPECT_EQ(ModeOf(outside_ / "su"), 04755u);
  EXPECT_TRUE(IsThere(root_ / "bin/link"));
}

TEST_F(LayerTreeTest, APlaceIsMadeInTheRootWhereverLinksPoint) {
  fs::create_directory_symlink("/usr/lib", root_ / "lib");
  fs::create_directories(root_ / "usr/lib");
  fs::create_directory_symlink("../../../../..", root_ / "up");
  for (const char* path : {"/lib/one", "/up/two", "/deep/er/three"}) {
    const Status made = MakePlace(root_.string(), path, PlaceKind::kFile);
    ASSERT_TRUE(made.ok()) << path << ": " << made.error().message();
  }
  ASSERT_TRUE(MakePlace(root_.string(), "/work", PlaceKind::kFolder).ok());
  ASSERT_TRUE(MakePlace(root_.string(), "/work", PlaceKind::kFolder).ok()) << "again";
  EXPECT_TRUE(fs::is_regular_file(root_ / "usr/lib/one"));
  EXPECT_TRUE(fs::is_regular_file(root_ / "two"));
  EXPECT_TRUE(fs::is_regular_file(root_ / "deep/er/three"));
  EXPECT_TRUE(fs::is_directory(root_ / "work"));
  EXPECT_FALSE(IsThere("/usr/lib/one"));
}

}  // namespace
}  // namespace glovebox::container
