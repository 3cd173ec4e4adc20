#include "jail/relay.h"

#include <string>

#include <gtest/gtest.h>

namespace glovebox::jail {
namespace {

constexpr char kCall[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}\n";
constexpr char kFailed[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"EROFS\"}]"
    ","
    "\"isError\":true}}\n";

Relay::ReasonsSince Says(std::vector<std::string> texts) {
  return [texts](Relay::Clock::time_point) { return texts; };
}

TEST(Relay, PassesTheProtocolByteForByte) {
  Relay relay({}, Says({"write /x"}));
  const std::string odd =
      "  {\"jsonrpc\" : \"2.0\", \"id\":12345678901234567890, \"result\": {\"f\":1.50}} \r\n";
  relay.FromClient(kCall);
  EXPECT_EQ(relay.to_server, kCall);
  for (const char c : odd) relay.FromServer(std::string_view(&c, 1));
  EXPECT_EQ(relay.to_client, odd);
  EXPECT_EQ(relay.to_stderr, "");
}

TEST(Relay, WaitsForTheClientsFirstWord) {
  Relay relay({}, Says({}));
  relay.FromServer("a banner\n");
  EXPECT_TRUE(relay.undecided());
  relay.FromClient(kCall);
  EXPECT_EQ(relay.to_client, "");
  EXPECT_EQ(relay.to_stderr, "a banner\n");
}

TEST(Relay, OtherProgramsPassAsTheyAre) {
  Relay silent({}, Says({}));
  silent.FromServer("a banner\n");
  silent.DecidePlain();
  EXPECT_EQ(silent.to_client, "a banner\n");
  Relay talking({}, Says({}));
  talking.FromClient("select 1;\n");
  talking.FromServer("1\n");
  EXPECT_EQ(talking.to_client, "1\n");
  EXPECT_FALSE(talking.speaks_mcp());
}

TEST(Relay, TellsAFailedCallWhatWasRefused) {
  Relay relay({}, Says({"write /x: read-only; allow with --write \"/x\""}));
  relay.FromClient(kCall);
  relay.FromServer(kFailed);
  EXPECT_EQ(
      relay.to_client,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
      "\"EROFS\"},{\"type\":\"text\",\"text\":\"Refused by the jail: write /x: read-only; allow "
      "with --write \\\"/x\\\"\"}],\"isError\":true}}\n");
}

TEST(Relay, TellsOnlyFailedCallsAndOnlyWhenItMay) {
  Relay off({.reasons = false}, Says({"write /x"}));
  off.FromClient(kCall);
  off.FromServer(kFailed);
  EXPECT_EQ(off.to_client, kFailed);
  Relay nothing({}, Says({}));
  nothing.FromClient(kCall);
  nothing.FromServer(kFailed);
  EXPECT_EQ(nothing.to_client, kFailed);
  Relay other({}, Says({"write /x"}));
  other.FromClient("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\"}\n");
  other.FromServer(kFailed);
  EXPECT_EQ(other.to_client, kFailed);
}

TEST(Relay, TellsAnErrorObjectToo) {
  Relay relay({}, Says({"read /y"}));
  relay.FromClient(kCall);
  relay.FromServer(
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"no\"}}\n");
  EXPECT_EQ(
      relay.to_client,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"no\\nRefused by "
      "the jail: read /y\"}}\n");
}

TEST(Relay, ALongMessagePassesWhileItComes) {
  Relay relay({.hold_bytes_max = 64}, Says({}));
  relay.FromClient(kCall);
  const std::string start = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"" + std::string(200, 'x');
  relay.FromServer(start);
  EXPECT_EQ(relay.to_client, start);
  relay.FromServer("\"}\n");
  EXPECT_EQ(relay.to_client, start + "\"}\n");
}

TEST(Relay, AMessageBeyondTheCapBecomesAnError) {
  Relay relay({.message_bytes_max = 256, .hold_bytes_max = 64}, Says({}));
  relay.FromClient(kCall);
  relay.FromServer("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"" + std::string(200, 'x'));
  relay.FromServer(std::string(200, 'y'));
  relay.FromServer("\"}\n");
  const std::size_t line = relay.to_client.find('\n');
  EXPECT_EQ(relay.to_client.substr(line + 1),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"glovebox: the "
            "answer is longer than 256 bytes and was dropped\"}}\n");
}

TEST(Relay, AnswersForADeadServer) {
  Relay relay({}, Says({}));
  relay.FromClient("{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\"}\n");
  relay.ServerClosed();
  relay.AnswerForDead("exit code 1:\n\"why\"");
  EXPECT_EQ(relay.to_client,
            "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"error\":{\"code\":-32000,\"message\":\"exit code "
            "1:\\n\\\"why\\\"\"}}\n");
}

TEST(Relay, TheLastLineMayLackItsEnd) {
  Relay relay({}, Says({}));
  relay.FromClient(kCall);
  relay.FromServer("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
  relay.ServerClosed();
  EXPECT_EQ(relay.to_client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

}  // namespace
}  // namespace glovebox::jail
