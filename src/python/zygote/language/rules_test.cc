#include "python/zygote/language/rules.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "python/wire/language.h"

namespace glovebox::zygote {
namespace {

using testing::HasSubstr;

std::string MomentText(Moment moment) {
  switch (moment) {
    case Moment::kBefore: return "before";
    case Moment::kReached: return "when reached";
    case Moment::kBoth: return "both";
  }
  return "";
}

std::string ReadDocument() {
  std::ifstream file(std::string(GLOVEBOX_SOURCE_FOLDER) + "/docs/language-layer.md");
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

TEST(RulesTest, StandInTheOrderOfTheirIds) {
  for (const Rule& rule : Rules()) EXPECT_EQ(&RuleOf(rule.id), &rule) << rule.name;
}

TEST(RulesTest, AreFoundByNameAndNothingElseIs) {
  for (const Rule& rule : Rules()) EXPECT_EQ(RuleByName(rule.name), rule.id);
  EXPECT_FALSE(RuleByName("imports").has_value());
}

TEST(RulesTest, SayWhatWhyAndWhatInstead) {
  for (const Rule& rule : Rules()) {
    for (const char* text : {rule.what, rule.why, rule.instead}) {
      EXPECT_GT(std::string(text).size(), 10u) << rule.name;
    }
  }
}

TEST(RulesTest, NoAttributeIsThereTwice) {
  std::set<std::string> names;
  for (const AttributeRule& rule : AttributeRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
  }
}

TEST(RulesTest, TheDocumentHasEveryRuleInTheseWords) {
  const std::string document = ReadDocument();
  for (const Rule& rule : Rules()) {
    const std::string row = std::string("| `") + rule.name + "` | " + MomentText(rule.moment) +
                            " | " + rule.what + " | " + rule.why + " | " + rule.instead + " |";
    EXPECT_THAT(document, HasSubstr(row));
  }
}

TEST(RulesTest, TheDocumentHasEveryNameThatIsRefused) {
  const std::string document = ReadDocument();
  for (const AttributeRule& rule : AttributeRules()) {
    EXPECT_THAT(document, HasSubstr("`" + std::string(rule.name) + "`"));
  }
  for (const char* name : wire::kRefusedBuiltins) {
    EXPECT_THAT(document, HasSubstr("`" + std::string(name) + "`"));
  }
}

}  // namespace
}  // namespace glovebox::zygote
