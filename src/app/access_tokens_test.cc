#include "app/access_tokens.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string kToken(32, 'a');
const std::string kOther(40, 'b');

HttpRequest With(std::vector<std::string> authorizations) {
  HttpRequest request;
  for (std::string& value : authorizations) {
    request.headers.emplace_back("Authorization", std::move(value));
  }
  return request;
}

class AccessTokensTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/tokens-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    settings_.token_file = pattern + "/tokens";
  }
  void Write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(settings_.token_file) << text;
    ASSERT_EQ(::chmod(settings_.token_file.c_str(), mode), 0);
  }
  std::string LoadError() {
    const auto tokens = AccessTokens::Load(settings_);
    return tokens ? "" : tokens.error().message();
  }
  ServeSettings settings_;
};

TEST_F(AccessTokensTest, KnowsWhoseATokenIs) {
  Write("# name token\n\n one \t" + kToken + " \n" + "two.2_-  " + kOther + "\n");
  settings_.api_token = std::string(32, 'c');
  const auto tokens = AccessTokens::Load(settings_);
  ASSERT_TRUE(tokens.ok()) << tokens.error().message();
  EXPECT_EQ(tokens->Authenticate(With({"Bearer " + kToken})), "one");
  EXPECT_EQ(tokens->Authenticate(With({"bearer  " + kOther + " "})), "two.2_-");
  EXPECT_EQ(tokens->Authenticate(With({"Bearer " + settings_.api_token})), "api-token");
}

TEST_F(AccessTokensTest, AnythingElseIsNobody) {
  Write("one " + kToken + "\n");
  const auto tokens = AccessTokens::Load(settings_);
  ASSERT_TRUE(tokens.ok());
  for (const std::string& value :
       {std::string(), std::string("Bearer"), std::string("Bearer "), kToken, "Basic " + kToken,
        "Bearer " + kToken.substr(1), "Bearer " + kToken + "a", "Bearer " + kOther,
        std::string("Bearer \xff\xfe"), "Bearer one " + kToken}) {
    EXPECT_EQ(tokens->Authenticate(With({value})), std::nullopt) << value;
  }
  EXPECT_EQ(tokens->Authenticate(With({})), std::nullopt);
  EXPECT_EQ(tokens->Authenticate(With({"Bearer " + kToken, "Bearer " + kToken})), std::nullopt);
}

TEST_F(AccessTokensTest, RefusesShortAndStrangeTokens) {
  settings_.token_file.clear();
  settings_.api_token = std::string(31, 'a');
  EXPECT_EQ(LoadError(),
            "SANDBOX_API_TOKEN: the token has 31 characters, fewer than 32; `openssl rand -hex 32` "
            "makes a good one");
  settings_.api_token = std::string(31, 'a') + "\xc3\xa9";
  EXPECT_THAT(LoadError(), HasSubstr("cannot carry"));
}

TEST_F(AccessTokensTest, RefusesBadTokenFilesWithTheLine) {
  EXPECT_THAT(LoadError(), EndsWith("No such file or directory"));
  Write("one " + kToken + "\n", 0644);
  EXPECT_THAT(LoadError(), EndsWith("can be read by every user of this machine: chmod o-r it"));
  Write("# nothing\n");
  EXPECT_THAT(LoadError(), EndsWith("holds no token"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x\n" + kToken, "line 1: must be a name"},
      {"a/b " + kToken, "line 1: must be a name"},
      {"\na short", "line 2: the token has 5 characters"},
      {"a " + kToken + "\na " + kOther, "line 2: the name is there twice"},
      {"a " + kToken + "\nb " + kToken, "line 2: the token is that of 'a', too"}};
  for (const auto& [text, message] : cases) {
    Write(text);
    EXPECT_THAT(LoadError(), HasSubstr(message)) << text;
    EXPECT_THAT(LoadError(), Not(HasSubstr(kToken)));
  }
}

TEST(ListeningTest, LoopbackOrAToken) {
  ServeSettings settings;
  for (const char* host : {"127.0.0.1", "127.8.8.8", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
    settings.host = host;
    EXPECT_TRUE(CheckListening(settings, {}).ok()) << host;
  }
  for (const char* host :
       {"0.0.0.0", "::", "192.168.0.1", "localhost.example.com", "example.com"}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
    settings.host = host;
    EXPECT_FALSE(CheckListening(settings, {}).ok()) << host;
  }
  settings.api_token = kToken;
  EXPECT_TRUE(CheckListening(settings, *AccessTokens::Load(settings)).ok());
}

}  // namespace
}  // namespace glovebox
