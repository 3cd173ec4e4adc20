#include "python/wire/gate.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox::wire {
namespace {

RunResult SampleResult() {
  RunResult result;
  result.nonce = 42;
  result.ending = Ending::kRaised;
  result.exit_code = 1;
  result.value = {std::string("v")};
  result.value_repr = "'v'";
  result.value_text = "a table";
  result.value_notes = {"NaN is null"};
  result.variables = {"a", "b"};
  result.error = {"ValueError", "bad", "Traceback ...", 3, 5, "x = = 1"};
  result.events = {{0.5, "socket", "family 2", 7, true, "no network", "nothing allows it"}};
  result.events_dropped = 2;
  result.findings = {{4, 2, "import", "what", "why", "instead", false}};
  result.analysis = CodeAnalysis{3, 1, 2, {"os.path"}, {"f"}};
  return result;
}

TEST(GateTest, ResultSurvivesTheWire) {
  const std::optional<RunResult> out = DecodeRunResult(EncodeRunResult(SampleResult()), 42);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->nonce, 42u);
  EXPECT_EQ(out->ending, Ending::kRaised);
  EXPECT_EQ(std::get<std::string>(out->value.data), "v");
  EXPECT_EQ(out->value_text, "a table");
  EXPECT_EQ(out->value_notes, (std::vector<std::string>{"NaN is null"}));
  EXPECT_EQ(out->variables, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(out->error.line, 3);
  ASSERT_EQ(out->events.size(), 1u);
  EXPECT_EQ(out->events[0].target, "family 2");
  EXPECT_TRUE(out->events[0].refused);
  EXPECT_EQ(out->events[0].rule, "no network");
  EXPECT_EQ(out->events[0].remedy, "nothing allows it");
  EXPECT_EQ(out->events_dropped, 2u);
  EXPECT_EQ(out->error.offset, 5);
  EXPECT_EQ(out->error.text, "x = = 1");
  ASSERT_EQ(out->findings.size(), 1u);
  EXPECT_EQ(out->findings[0].column, 2);
  EXPECT_EQ(out->findings[0].instead, "instead");
  EXPECT_FALSE(out->findings[0].refuses_program);
  ASSERT_TRUE(out->analysis.has_value());
  EXPECT_EQ(out->analysis->complexity, 3u);
  EXPECT_EQ(out->analysis->imports, (std::vector<std::string>{"os.path"}));
  EXPECT_EQ(out->analysis->names, (std::vector<std::string>{"f"}));
}

TEST(GateTest, RequestSurvivesTheWire) {
  RunRequest request;
  request.nonce = 7;
  request.merged_output = true;
  request.last = false;
  request.action = RunAction::kValidate;
  request.language = {true, "basic", {"math"}, {"open"}, {"format"}, {"os", "full"}};
  request.data_bytes_max = 1u << 30;
  request.cpu_seconds_max = 9;
  request.processes_max = 5;
  request.code = std::string("x\0y", 3);
  request.filename = "<sandbox>";
  request.argv = {"-c", "1"};
  request.environment = {{"A", "b"}};
  request.globals = {{"g", {std::int64_t{3}}}};
  const std::optional<RunRequest> out = DecodeRunRequest(EncodeRunRequest(request));
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->nonce, 7u);
  EXPECT_TRUE(out->merged_output);
  EXPECT_FALSE(out->last);
  EXPECT_EQ(out->action, RunAction::kValidate);
  EXPECT_TRUE(out->language.enabled);
  EXPECT_EQ(out->language.profile, "basic");
  EXPECT_EQ(out->language.modules, request.language.modules);
  EXPECT_EQ(out->language.builtins, request.language.builtins);
  EXPECT_EQ(out->language.rules_off, request.language.rules_off);
  EXPECT_EQ(out->language.remedies, request.language.remedies);
  EXPECT_EQ(out->data_bytes_max, 1u << 30);
  EXPECT_EQ(out->cpu_seconds_max, 9u);
  EXPECT_EQ(out->processes_max, 5u);
  EXPECT_EQ(out->code.size(), 3u);
  EXPECT_EQ(out->argv, request.argv);
  EXPECT_EQ(out->environment, request.environment);
  ASSERT_EQ(out->globals.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(out->globals[0].value.data), 3);
}

TEST(WordListTest, HoldsAnyWordAndIsReadWholeOrNotAtAll) {
  const WordList words = {"math", "", std::string_view("a\0b", 3), "os.path"};
  EXPECT_EQ(words.size(), 4u);
  EXPECT_EQ(std::vector<std::string>(words.begin(), words.end()),
            (std::vector<std::string>{"math", "", std::string("a\0b", 3), "os.path"}));
  EXPECT_EQ(WordList::FromBytes(words.bytes()), words);
  EXPECT_TRUE(WordList().empty());
  EXPECT_EQ(WordList::FromBytes(""), WordList());
  EXPECT_FALSE(WordList::FromBytes(words.bytes().substr(1)).has_value());
  for (std::size_t cut = 1; cut < 7; ++cut) {
    EXPECT_FALSE(WordList::FromBytes(words.bytes().substr(0, words.bytes().size() - cut)));
  }
  EXPECT_FALSE(WordList::FromBytes(words.bytes() + "x").has_value());
}

TEST(GateTest, RefusesEveryTruncation) {
  const std::string whole = EncodeRunResult(SampleResult());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeRunResult(std::string_view(whole).substr(0, size), 42).has_value()) << size;
  }
}

TEST(GateTest, RefusesTrailingBytes) {
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(SampleResult()) + "x", 42).has_value());
}

TEST(GateTest, RefusesTextsBeyondTheirBounds) {
  RunResult result = SampleResult();
  result.value_repr.assign(kReprBytesMax + 1, 'x');
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(result), 42).has_value());
  result = SampleResult();
  result.events.resize(kEventsMax + 1);
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(result), 42).has_value());
  result = SampleResult();
  result.findings.resize(kFindingsMax + 1);
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(result), 42).has_value());
  result = SampleResult();
  result.findings[0].why.assign(kFindingBytesMax + 1, 'x');
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(result), 42).has_value());
  result = SampleResult();
  result.analysis->names.resize(kAnalysisNamesMax + 1);
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(result), 42).has_value());
}

TEST(GateTest, RefusesAnotherExecutionsNonce) {
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(SampleResult()), 43).has_value());
}

TEST(GateTest, RefusesAnUnknownEnding) {
  RunResult result = SampleResult();
  result.ending = static_cast<Ending>(9);
  EXPECT_FALSE(DecodeRunResult(EncodeRunResult(result), 42).has_value());
}

TEST(FrameParserTest, PutsFramesTogetherFromAnyPieces) {
  const std::string stream = Frame(FrameKind::kReady, {}) + Frame(FrameKind::kResult, "abc");
  FrameParser parser;
  std::vector<FrameParser::Parsed> frames;
  for (const char byte : stream) {
    parser.Append({&byte, 1});
    while (auto frame = parser.Next()) frames.push_back(*frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::kReady);
  EXPECT_EQ(frames[1].payload, "abc");
  EXPECT_FALSE(parser.broken());
}

TEST(FrameParserTest, BreaksForGoodOnAnythingElse) {
  FrameParser parser;
  parser.Append("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(parser.Next().has_value());
  EXPECT_TRUE(parser.broken());
  parser.Append(Frame(FrameKind::kReady, {}));
  EXPECT_FALSE(parser.Next().has_value());
}

TEST(FrameParserTest, RefusesAFrameTheServerWouldSend) {
  FrameParser parser;
  parser.Append(Frame(FrameKind::kRun, "x"));
  EXPECT_FALSE(parser.Next().has_value());
  EXPECT_TRUE(parser.broken());
}

TEST(FrameParserTest, RefusesALengthBeyondTheBoundBeforeItArrives) {
  FrameParser parser;
  std::string header = Frame(FrameKind::kResult, {});
  const std::uint32_t length = kResultBytesMax + 1;
  std::memcpy(header.data() + 4, &length, sizeof(length));
  parser.Append(header);
  EXPECT_FALSE(parser.Next().has_value());
  EXPECT_TRUE(parser.broken());
}

}  // namespace
}  // namespace glovebox::wire
