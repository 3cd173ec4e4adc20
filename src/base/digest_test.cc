#include "base/digest.h"

#include <gtest/gtest.h>

namespace glovebox {
namespace {

// FIPS 180-2, appendix B, and RFC 4231, test cases 2 and 6.
TEST(DigestTest, GivesWhatTheStandardsSay) {
  EXPECT_EQ(HexOf(Sha256Of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexOf(HmacSha256(std::string(131, '\xaa'),
                             "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(DigestTest, PiecesAreOneText) {
  Sha256 hash;
  hash.Update("a");
  hash.Update("");
  hash.Update("bc");
  EXPECT_EQ(hash.Finish(), Sha256Of("abc"));
}

TEST(DigestTest, TextsAreComparedWhole) {
  EXPECT_TRUE(EqualInConstantTime("secret", "secret"));
  EXPECT_FALSE(EqualInConstantTime("secret", "secreT"));
  EXPECT_FALSE(EqualInConstantTime("secret", "secrets"));
  EXPECT_TRUE(EqualInConstantTime("", ""));
}

TEST(DigestTest, RandomBytesDiffer) {
  EXPECT_EQ(RandomBytes(32).size(), 32u);
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
}

}  // namespace
}  // namespace glovebox
