#include "mcp/request_state.h"

#include <string>

#include <gtest/gtest.h>

#include "base/base64.h"

namespace glovebox::mcp {
namespace {

using std::chrono::seconds;

constexpr std::string_view kScope = "alice\ntools/call\ndeploy";

TEST(RequestStateTest, WhatWasSealedOpensAgain) {
  const RequestStateSealer sealer;
  const std::string any_bytes("step 2\0\xff", 8);
  for (const std::string& state : {std::string(), std::string("x"), any_bytes}) {
    const std::string sealed = sealer.Seal(state, kScope);
    EXPECT_EQ(sealed.find_first_of("+/= \n"), std::string::npos);
    const auto opened = sealer.Open(sealed, kScope);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(*opened, state);
  }
}

TEST(RequestStateTest, BelongsToItsScope) {
  const RequestStateSealer sealer;
  const std::string sealed = sealer.Seal("step 2", kScope);
  for (const char* scope : {"", "bob\ntools/call\ndeploy", "alice\ntools/call\ndelete",
                            "alice\ntools/call\ndeploy\n"}) {
    EXPECT_FALSE(sealer.Open(sealed, scope).ok()) << scope;
  }
}

TEST(RequestStateTest, NoByteMovesBetweenScopeAndState) {
  const RequestStateSealer sealer;
  // Without the scope's length under the signature, the time would pass for the scope's end, and
  // the state's beginning for a time far away.
  const std::string bytes = *DecodeBase64(sealer.Seal("12345678state", "scope"), Base64::kUrl);
  const std::string scope = "scope" + bytes.substr(0, 8);
  EXPECT_FALSE(sealer.Open(EncodeBase64(bytes.substr(8), Base64::kUrl), scope).ok());
}

TEST(RequestStateTest, NoBitCanBeChanged) {
  const RequestStateSealer sealer;
  const std::string bytes = *DecodeBase64(sealer.Seal("step 2", kScope), Base64::kUrl);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(sealer.Open(EncodeBase64(changed, Base64::kUrl), kScope).ok()) << bit;
  }
}

TEST(RequestStateTest, NonsenseIsRefused) {
  const RequestStateSealer sealer;
  const std::string sealed = sealer.Seal("step 2", kScope);
  for (const std::string& text :
       {std::string(), std::string("AAAA"), std::string(53, 'A'), std::string(54, 'A'),
        sealed + "A", sealed + "=", sealed.substr(1), sealed.substr(0, sealed.size() - 1),
        std::string(1u << 20, 'A')}) {
    const auto opened = sealer.Open(text, kScope);
    ASSERT_FALSE(opened.ok()) << text.substr(0, 100);
    EXPECT_EQ(opened.error().code(), Errc::kInvalidArgument);
    EXPECT_NE(opened.error().message().find("params.requestState"), std::string::npos);
  }
}

TEST(RequestStateTest, TooLongAStateIsRefusedBeforeItIsLookedAt) {
  const RequestStateSealer sealer;
  EXPECT_TRUE(sealer.Open(sealer.Seal(std::string(48'000, 's'), kScope), kScope).ok());
  EXPECT_FALSE(sealer.Open(sealer.Seal(std::string(50'000, 's'), kScope), kScope).ok());
}

TEST(RequestStateTest, EndsWithItsLifetime) {
  RequestStateSealer::Clock::time_point now{seconds(1000)};
  const RequestStateSealer sealer(seconds(60), [&now] { return now; });
  const std::string sealed = sealer.Seal("step 2", kScope);
  now += seconds(60);
  EXPECT_TRUE(sealer.Open(sealed, kScope).ok());
  now += seconds(1);
  EXPECT_FALSE(sealer.Open(sealed, kScope).ok());
}

TEST(RequestStateTest, AnotherServerDoesNotTakeIt) {
  const RequestStateSealer sealer;
  const RequestStateSealer other;
  EXPECT_FALSE(other.Open(sealer.Seal("step 2", kScope), kScope).ok());
}

}  // namespace
}  // namespace glovebox::mcp
