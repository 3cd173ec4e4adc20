#include "base/base64.h"

#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

TEST(Base64Test, AgreesWithTheStandardsExamples) {
  const std::array<std::pair<std::string, std::string>, 7> examples = {{{"", ""},
                                                                        {"f", "Zg=="},
                                                                        {"fo", "Zm8="},
                                                                        {"foo", "Zm9v"},
                                                                        {"foob", "Zm9vYg=="},
                                                                        {"fooba", "Zm9vYmE="},
                                                                        {"foobar", "Zm9vYmFy"}}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(EncodeBase64(bytes, Base64::kStandard), text);
    EXPECT_EQ(DecodeBase64(text, Base64::kStandard), bytes);
    const std::string unpadded = text.substr(0, text.find('='));
    EXPECT_EQ(EncodeBase64(bytes, Base64::kUrl), unpadded);
    EXPECT_EQ(DecodeBase64(unpadded, Base64::kUrl), bytes);
  }
}

TEST(Base64Test, EveryByteSurvives) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string part = bytes.substr(bytes.size() - size);
    for (const Base64 alphabet : {Base64::kStandard, Base64::kUrl}) {
      EXPECT_EQ(DecodeBase64(EncodeBase64(part, alphabet), alphabet), part);
    }
  }
}

TEST(Base64Test, TheAlphabetsDifferInTwoDigits) {
  EXPECT_EQ(EncodeBase64("\xfb\xff", Base64::kStandard), "+/8=");
  EXPECT_EQ(EncodeBase64("\xfb\xff", Base64::kUrl), "-_8");
  EXPECT_FALSE(DecodeBase64("-_8=", Base64::kStandard));
  EXPECT_FALSE(DecodeBase64("+/8", Base64::kUrl));
}

TEST(Base64Test, RefusesWhatAnEncoderWouldNotWrite) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zg==Zg==", "Zm9v\n", "Zm 9v",
                           "Zh==", "Zm9=", "Z===", "Zm\xc3\xa9"}) {
    EXPECT_FALSE(DecodeBase64(text, Base64::kStandard)) << text;
  }
  for (const char* text : {"Z", "Zg==", "Zh", "Zm9", "Zm9vY"}) {
    EXPECT_FALSE(DecodeBase64(text, Base64::kUrl)) << text;
  }
}

}  // namespace
}  // namespace glovebox
