// Input that is no good Python, or hardly: a clear outcome each time, never a crash.
#include "audit/witness.h"
#include "bystander.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

using sandbox::Walls;
using namespace std::string_literals;

struct InputCase {
  std::string name;
  std::string code;
  ExecutionStatus status;
  std::string out;         // the whole stdout, when completed
  std::string error_type;  // when failed

  friend void PrintTo(const InputCase& input, std::ostream* stream) { *stream << input.name; }
};

std::string Repeat(const std::string& text, std::size_t bytes) {
  std::string all;
  all.reserve(bytes + text.size());
  while (all.size() < bytes) all += text;
  return all;
}

std::vector<InputCase> Inputs() {
  constexpr auto kCompleted = ExecutionStatus::kCompleted;
  constexpr auto kFailed = ExecutionStatus::kFailed;
  constexpr std::size_t kTenMegabytes = 10'000'000;
  return {
      {"Empty", "", kCompleted, "", ""},
      {"OneNewline", "\n", kCompleted, "", ""},
      {"OnlyComments", "# nothing\n# at all", kCompleted, "", ""},
      {"OnlyBlanks", " \t\f\n   \n", kCompleted, "", ""},
      {"NoNewlineAtTheEnd", "print(1)", kCompleted, "1\n", ""},
      {"NulByte", "print(1)\0print(2)"s, kFailed, "", "SyntaxError|ValueError"},
      {"NulByteFirst", "\0"s, kFailed, "", "SyntaxError|ValueError"},
      {"NulByteInAString", "x = 'a\0b'\n"s, kFailed, "", "SyntaxError|ValueError"},
      {"InvalidUtf8", "print('\xff\xfe')\n", kFailed, "", "SyntaxError"},
      {"CutUtf8", "print('\xe2\x82", kFailed, "", "SyntaxError"},
      {"OverlongUtf8", "print('\xc0\xaf')\n", kFailed, "", "SyntaxError"},
      {"EncodedSurrogate", "print('\xed\xa0\x80')\n", kFailed, "", "SyntaxError"},
      {"UnknownEncoding", "# coding: klingon\nprint(1)\n", kFailed, "", "SyntaxError"},
      {"EncodingThatIsNoText", "# coding: base64\nprint(1)\n", kFailed, "", ""},
      {"DeclaredLatin1", "# coding: latin-1\nprint(len('\xe9\xff'))\n", kCompleted, "2\n", ""},
      {"DeclaredUtf8", "# coding: utf-8\nprint(len('\xc3\xa9'))\n", kCompleted, "1\n", ""},
      {"Utf16",
       "p\0r\0i\0n\0t\0(\0"
       "1\0)\0"s,
       kFailed, "", "SyntaxError|ValueError"},
      {"ByteOrderMark", "\xef\xbb\xbfprint(1)\n", kCompleted, "1\n", ""},
      {"ByteOrderMarkAgainstDeclaration", "\xef\xbb\xbf# coding: latin-1\nprint(1)\n", kFailed, "",
       "SyntaxError"},
      {"CarriageReturns", "x = 1\r\nprint(x)\r\n", kCompleted, "1\n", ""},
      {"LoneCarriageReturns", "x = 1\rprint(x)\r", kCompleted, "1\n", ""},
      {"TabsAndBlanks", "if 1:\n\tx = 1\n        y = 2\n", kFailed, "", "TabError"},
      {"UnclosedString", "x = 'abc\n", kFailed, "", "SyntaxError"},
      {"UnclosedBracket", "x = (1,\n", kFailed, "", "SyntaxError"},
      {"NestedBrackets", std::string(100'000, '('), kFailed, "", "SyntaxError|MemoryError"},
      {"NestedOperators", "x = " + std::string(100'000, '-') + "1\n", kFailed, "", ""},
      {"TenMegabytesOfComment", "#" + std::string(kTenMegabytes, 'x'), kCompleted, "", ""},
      {"TenMegabytesOfLines", Repeat("# a comment line\n", kTenMegabytes) + "print(1)\n",
       kCompleted, "1\n", ""},
      {"TenMegabytesInOneString", "x = '" + std::string(kTenMegabytes, 'x') + "'\nprint(len(x))\n",
       kCompleted, "10000000\n", ""},
      {"ReturnOutsideFunction", "return 1\n", kFailed, "", "SyntaxError"},
      {"AwaitAtTopLevel", "import asyncio\nawait asyncio.sleep(0)\nprint('woke')\n", kCompleted,
       "woke\n", ""},
  };
}

class BadInputTest : public IsolationTest, public testing::WithParamInterface<InputCase> {};

TEST_P(BadInputTest, HasAClearOutcome) {
  const InputCase& input = GetParam();
  ExecutionRequest request;
  request.code = input.code;
  request.limits.wall_ms_max = 10'000;
  request.limits.memory_bytes_max = 256ull << 20;
  const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
  EXPECT_EQ(StatusName(outcome.status), StatusName(input.status)) << Summary(outcome);
  if (input.status == ExecutionStatus::kCompleted) {
    EXPECT_EQ(outcome.stdout_stream.text, input.out);
  } else {
    ASSERT_TRUE(outcome.error.has_value()) << Summary(outcome);
    EXPECT_FALSE(outcome.message.empty());
    if (!input.error_type.empty()) {
      EXPECT_NE(input.error_type.find(outcome.error->type), std::string::npos) << Summary(outcome);
    }
  }
  ExecutionRequest next;
  next.code = kCleanBoxCode;
  EXPECT_EQ(Runner().Run(Walls::All(), std::move(next)).stdout_stream.text, kCleanBoxText);
}

INSTANTIATE_TEST_SUITE_P(Input, BadInputTest, testing::ValuesIn(Inputs()),
                         [](const auto& row) { return row.param.name; });

TEST_F(IsolationTest, AHugeStandardInputIsReadOrIgnored) {
  for (const char* code : {"import sys\nprint(len(sys.stdin.read()))", "print('ignored')"}) {
    ExecutionRequest request;
    request.code = code;
    request.stdin_text = std::string(8'000'000, 'i');
    const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
    EXPECT_EQ(outcome.status, ExecutionStatus::kCompleted) << Summary(outcome);
    const std::string& text = outcome.stdout_stream.text;
    EXPECT_TRUE(text == "8000000\n" || text == "ignored\n") << Summary(outcome);
  }
}

TEST_F(IsolationTest, OddNamesAndArgumentsArriveAsTheyAre) {
  ExecutionRequest request;
  request.code = "import sys\nprint(ascii(sys.argv), ascii(globals()['not a name']), print_me)\n";
  request.arguments = {"", "-c", "a b", "\xc3\xa9", "--"};
  request.globals = {{"not a name", wire::Value{std::string("\xe2\x82\xac")}},
                     {"print_me", wire::Value{true}}};
  const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
  EXPECT_EQ(outcome.stdout_stream.text,
            "['<sandbox>', '', '-c', 'a b', '\\xe9', '--'] '\\u20ac' True\n")
      << Summary(outcome);
}

}  // namespace
}  // namespace glovebox::isolation
