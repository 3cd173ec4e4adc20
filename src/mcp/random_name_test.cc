#include "mcp/random_name.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

TEST(RandomNameTest, NamesAreLongPlainAndNeverTheSame) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(RandomName());
  EXPECT_EQ(names.size(), 1000u);
  for (const std::string& name : names) {
    EXPECT_EQ(name.size(), 32u);
    EXPECT_EQ(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-_"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace glovebox::mcp
