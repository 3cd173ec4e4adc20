#include "container/image.h"

#include <filesystem>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/digest.h"
#include "container/program.h"
#include "container/test_folder.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;

constexpr char kTar[] = "application/vnd.oci.image.layer.v1.tar";
constexpr char kGzip[] = "application/vnd.oci.image.layer.v1.tar+gzip";
constexpr char kManifest[] = "application/vnd.oci.image.manifest.v1+json";
constexpr char kIndex[] = "application/vnd.oci.image.index.v1+json";

// The digits of the digest by which something is described.
std::string DigitsOf(const json::object& descriptor) {
  return std::string(descriptor.at("digest").as_string()).substr(7);
}

class ImageTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    layout_ = folder_ / "layout";
    cache_ = folder_ / "cache/images";
    Write(layout_ / "oci-layout", R"({"imageLayoutVersion": "1.0.0"})");
  }

  // Puts a blob there, and describes it.
  json::object AddBlob(const std::string& text, const std::string& type) {
    Write(layout_ / "blobs/sha256" / HexOf(Sha256Of(text)), text);
    return {
        {"mediaType", type}, {"digest", "sha256:" + HexOf(Sha256Of(text))}, {"size", text.size()}};
  }

  // A layer of everything in `tree`, or of one `member` without the folders above it.
  json::object AddLayer(const fs::path& tree, const std::string& type = kTar,
                        const std::string& member = ".") {
    const std::string archive = (folder_ / "layer.tar").string();
    std::vector<std::string> tar = {FindProgram("tar"), "--create", "--file=" + archive,
                                    "--directory=" + tree.string(), member};
    if (type == kGzip) tar.emplace_back("--gzip");
    const Result<ProgramEnd> end = RunProgram(tar, std::chrono::seconds(20));
    EXPECT_TRUE(end.ok() && end->succeeded()) << (end.ok() ? end->output : end.error().message());
    return AddBlob(Read(archive), type);
  }

  json::object AddManifest(const json::array& layers) {
    return AddBlob(json::serialize(json::object{{"schemaVersion", 2}, {"layers", layers}}),
                   kManifest);
  }

  void WriteIndex(const json::array& manifests) {
    Write(layout_ / "index.json", json::serialize(json::object{{"manifests", manifests}}));
  }

  // An image of one layer with one file.
  json::object AddSimpleImage(const std::string& text) {
    const fs::path tree = folder_ / ("tree-" + text);
    Write(tree / "file", text);
    return AddManifest({AddLayer(tree)});
  }

  Result<Image> Open(const std::string& suffix = "") {
    return OpenImage(layout_.string() + suffix, cache_.string());
  }

  std::string Refusal(const std::string& suffix = "") {
    const Result<Image> image = Open(suffix);
    if (image) return "it was taken";
    EXPECT_EQ(image.error().code(), Errc::kInvalidArgument);
    return image.error().message();
  }

  fs::path layout_;
  fs::path cache_;
};

TEST_F(ImageTest, AFolderIsUsedAsItIs) {
  const auto image = OpenImage(folder_.string(), cache_.string());
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->folder, folder_.string());
  EXPECT_FALSE(image->ours);
  EXPECT_FALSE(IsThere(cache_));
  EXPECT_TRUE(OpenImage("", cache_.string())->folder.empty());
}

TEST_F(ImageTest, LayersAreUnpackedInOrder) {
  Write(folder_ / "one/etc/a", "one");
  Write(folder_ / "one/etc/b", "one");
  Write(folder_ / "one/bin/su", "one");
  fs::permissions(folder_ / "one/bin/su", fs::perms::set_uid | fs::perms::owner_all);
  Write(folder_ / "two/etc/b", "two");
  Write(folder_ / "two/etc/.wh.a", "");
  const json::object image =
      AddManifest({AddLayer(folder_ / "one"), AddLayer(folder_ / "two", kGzip)});
  WriteIndex({image});
  const auto opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_TRUE(opened->ours);
  const fs::path root = opened->folder;
  EXPECT_THAT(root.string(), HasSubstr(DigitsOf(image)));
  EXPECT_EQ(Read(root / "etc/b"), "two");
  EXPECT_FALSE(IsThere(root / "etc/a"));
  EXPECT_EQ(ModeOf(root / "bin/su"), 0700u);
  EXPECT_EQ(ModeOf(root), 0755u);
  EXPECT_EQ(ModeOf(root.parent_path()), 0755u);
  EXPECT_FALSE(IsThere(cache_ / "new"));
}

TEST_F(ImageTest, ALinkOfOneLayerDoesNotLeadAnotherOutOfTheRoot) {
  fs::create_directories(folder_ / "outside");
  fs::create_directories(folder_ / "one");
  fs::create_directory_symlink(folder_ / "outside", folder_ / "one/etc");
  Write(folder_ / "two/etc/planted", "two");
  WriteIndex({AddManifest({AddLayer(folder_ / "one"), AddLayer(folder_ / "two")})});
  const auto opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_FALSE(IsThere(folder_ / "outside/planted"));
  EXPECT_EQ(Read(fs::path(opened->folder) / "etc/planted"), "two");
}

TEST_F(ImageTest, FoldersThatAnArchiveImpliesCanBeEntered) {
  Write(folder_ / "one/usr/lib/file", "one");
  WriteIndex({AddManifest({AddLayer(folder_ / "one", kTar, "usr/lib/file")})});
  const mode_t before = ::umask(0077);
  const auto opened = Open();
  ::umask(before);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  for (const char* path : {"", "usr", "usr/lib"}) {
    EXPECT_EQ(ModeOf(fs::path(opened->folder) / path), 0755u) << path;
  }
  EXPECT_EQ(ModeOf(cache_), 0755u);
}

TEST_F(ImageTest, WhatIsInTheCacheIsNotUnpackedAgain) {
  const json::object image = AddSimpleImage("once");
  WriteIndex({image});
  ASSERT_TRUE(Open().ok());
  for (const auto& entry : fs::directory_iterator(layout_ / "blobs/sha256")) {
    if (entry.path().filename() != DigitsOf(image)) {
      fs::remove(entry.path());
    }
  }
  const auto again = Open();
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(Read(fs::path(again->folder) / "file"), "once");
}

TEST_F(ImageTest, ABlobThatIsNotWhatItsDigestSaysIsRefusedAndNothingKept) {
  const json::object image = AddSimpleImage("true");
  WriteIndex({image});
  std::string layer;
  for (const auto& entry : fs::directory_iterator(layout_ / "blobs/sha256")) {
    if (entry.path().filename() != DigitsOf(image)) {
      layer = entry.path().string();
    }
  }
  std::string text = Read(layer);
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  Write(layer, text);
  EXPECT_THAT(Refusal(), HasSubstr(layer + ": must have the digest sha256:"));
  Write(layer, text + "x");
  EXPECT_THAT(Refusal(), HasSubstr("bytes"));
  fs::remove(layer);
  EXPECT_THAT(Refusal(), HasSubstr(layer + ": is named by the image and cannot be opened"));
  EXPECT_TRUE(fs::is_empty(cache_));
}

TEST_F(ImageTest, AManifestIsVerifiedToo) {
  const json::object image = AddSimpleImage("true");
  WriteIndex({image});
  const fs::path manifest = layout_ / "blobs/sha256" / DigitsOf(image);
  std::string text = Read(manifest);
  text.replace(text.find("layers"), 6, "LAYERS");
  Write(manifest, text);
  EXPECT_THAT(Refusal(), HasSubstr("must have the digest"));
}

TEST_F(ImageTest, OneOfSeveralIsChosenByItsName) {
  json::array manifests;
  for (const char* name : {"first", "second"}) {
    json::object image = AddSimpleImage(name);
    image["annotations"] = {{"org.opencontainers.image.ref.name", name}};
    manifests.push_back(std::move(image));
  }
  WriteIndex(manifests);
  EXPECT_THAT(Refusal(), HasSubstr("'first', 'second'. Name one of several by FOLDER:NAME"));
  EXPECT_THAT(Refusal(":third"), HasSubstr("called 'third', and has 0"));
  const auto second = Open(":second");
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_EQ(Read(fs::path(second->folder) / "file"), "second");
}

TEST_F(ImageTest, AnIndexOfPlatformsLeadsToThatOfThisMachine) {
  json::array manifests;
  for (const char* name : {"amd64", "arm64", "unknown"}) {
    json::object image = AddSimpleImage(name);
    image["platform"] = {{"os", "linux"}, {"architecture", name}};
    manifests.push_back(std::move(image));
  }
  WriteIndex({AddBlob(json::serialize(json::object{{"manifests", manifests}}), kIndex)});
  const auto image = Open();
  ASSERT_TRUE(image.ok()) << image.error().message();
#if defined(__x86_64__)
  EXPECT_EQ(Read(fs::path(image->folder) / "file"), "amd64");
#endif
}

TEST_F(ImageTest, ADigestIsNoPath) {
  WriteIndex({json::object{
      {"mediaType", kManifest}, {"digest", "sha256:../../../etc/passwd"}, {"size", 3}}});
  EXPECT_THAT(Refusal(), HasSubstr("a digest must be sha256: and 64 hex digits"));
}

TEST_F(ImageTest, WhatIsNoLayoutSaysWhatIsWrong) {
  EXPECT_THAT(Refusal(), HasSubstr("index.json: cannot be read"));
  Write(layout_ / "index.json", "[");
  EXPECT_THAT(Refusal(), HasSubstr("index.json: must be a JSON object"));
  Write(layout_ / "index.json", "{}");
  EXPECT_THAT(Refusal(), HasSubstr("must have an array 'manifests'"));
  WriteIndex({});
  EXPECT_THAT(Refusal(), HasSubstr("it holds none for this machine"));
  WriteIndex({AddManifest({})});
  EXPECT_THAT(Refusal(), HasSubstr("must have at least one layer"));
  WriteIndex({AddManifest({AddBlob("x", "application/vnd.oci.image.layer.v1.tar+secret")})});
  EXPECT_THAT(Refusal(), HasSubstr("a layer must be a tar archive"));
  WriteIndex({AddManifest({AddBlob("no archive at all", kTar)})});
  EXPECT_THAT(Refusal(), HasSubstr("unpacking "));
  Write(layout_ / "oci-layout", R"({"imageLayoutVersion": "9"})");
  EXPECT_THAT(Refusal(), HasSubstr("known is 1.0.0"));
}

TEST_F(ImageTest, WhatIsNothingNamesTheSettingTheRuleAndTheFix) {
  for (const char* setting : {"/nowhere/at/all", "-rm", "podman:", "docker:--privileged"}) {
    const auto image = OpenImage(setting, cache_.string());
    ASSERT_FALSE(image.ok()) << setting;
    EXPECT_THAT(image.error().message(),
                HasSubstr(std::string("SANDBOX_CONTAINER_IMAGE names '") + setting + "'"));
    EXPECT_THAT(image.error().message(), HasSubstr("make build-sandbox"));
  }
}

TEST_F(ImageTest, ACacheThatOthersMayWriteToIsNotUsed) {
  WriteIndex({AddSimpleImage("x")});
  fs::create_directories(cache_);
  fs::permissions(cache_, fs::perms::all);
  const auto image = Open();
  ASSERT_FALSE(image.ok());
  EXPECT_THAT(image.error().message(), HasSubstr("nobody else may write there"));
}

}  // namespace
}  // namespace glovebox::container
