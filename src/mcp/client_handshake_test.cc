#include "mcp/client_handshake.h"

#include "mcp/client_fixture.h"

namespace glovebox::mcp {
namespace {

using std::chrono::milliseconds;

class ClientHandshakeTest : public ClientFixture {
 protected:
  void Begin(EraChoice era, milliseconds probe = milliseconds(3000)) {
    ClientOptions options;
    options.era = era;
    options.probe_time_max = probe;
    options.handshake_time_max = milliseconds(60);
    connected_.clear();
    MakeClient(options);
    Connect();
  }
  void Welcome() {
    ASSERT_EQ(server_.last().method, "initialize");
    server_.Reply(R"({"protocolVersion":"2025-06-18","capabilities":{}})");
    EXPECT_EQ(connected_, "") << "the server has not heard that we are ready";
    server_.channel->Arrive();
  }
};

TEST_F(ClientHandshakeTest, AModernServer) {
  Begin(EraChoice::kAuto);
  EXPECT_EQ(server_.last_text(), "server/discover {}");
  EXPECT_EQ(WriteJson(server_.last().params),
            R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{"extensions":)"
            R"({"io.modelcontextprotocol/tasks":{}}},)"
            R"("io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"}}})");
  server_.Reply(R"({"resultType":"complete","supportedVersions":["2030-01-01","2026-07-28"],)"
                R"("capabilities":{"tools":{"listChanged":true},"extensions":)"
                R"({"io.modelcontextprotocol/tasks":{}}},"instructions":"Do.",)"
                R"("ttlMs":0,"cacheScope":"private",)"
                R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"9"}}})");
  EXPECT_EQ(connected_, "2026-07-28");
  EXPECT_EQ(server_.adopted, ProtocolVersion::k2026_07_28);
  const ServerDescription& server = client_->server();
  EXPECT_EQ(server.info.name + server.info.version + server.instructions, "s9Do.");
  EXPECT_TRUE(server.capabilities.tools && server.capabilities.tools_change);
  EXPECT_TRUE(server.capabilities.tasks);
  EXPECT_FALSE(server.capabilities.prompts);
  EXPECT_TRUE(server_.notified.empty()) << "there is no handshake to confirm";
}

TEST_F(ClientHandshakeTest, ALegacyServer) {
  Begin(EraChoice::kLegacy);
  EXPECT_EQ(server_.last_text(), R"(initialize {"protocolVersion":"2025-11-25","capabilities":{},)"
                                 R"("clientInfo":{"name":"tester","version":"1"}})");
  EXPECT_FALSE(server_.last().params.contains("_meta"));
  Welcome();
  EXPECT_EQ(connected_, "2025-06-18");
  EXPECT_EQ(server_.adopted, ProtocolVersion::k2025_06_18);
  EXPECT_EQ(server_.notified, std::vector<std::string>{"notifications/initialized {}"});
}

TEST_F(ClientHandshakeTest, EveryOtherErrorMeansALegacyServer) {
  for (const int code : {kMethodNotFound, kInvalidParams, kInvalidRequest, -32000, -32001, 0, 1}) {
    Begin(EraChoice::kAuto);
    server_.ReplyError(code, "what?");
    Welcome();
    EXPECT_EQ(connected_, "2025-06-18") << code;
  }
  for (const char* data : {R"({"supported":["2025-11-25"],"requested":"x"})", "null", "[]",
                           R"({"supported":7})", R"({"supported":[]})"}) {
    Begin(EraChoice::kAuto);
    server_.ReplyError(-32022, "no", data);
    Welcome();
    EXPECT_EQ(connected_, "2025-06-18") << data;
  }
  for (const char* result : {"{}", "[]", "7", R"({"supportedVersions":7,"capabilities":{}})",
                             R"({"supportedVersions":["2025-11-25"],"capabilities":{}})",
                             R"({"supportedVersions":["2026-07-28"]})"}) {
    Begin(EraChoice::kAuto);
    server_.Reply(result);
    Welcome();
    EXPECT_EQ(connected_, "2025-06-18") << result;
  }
  Begin(EraChoice::kAuto);
  server_.Fail({Error(Errc::kSystem, "HTTP status 404"), 404});
  Welcome();
  EXPECT_EQ(connected_, "2025-06-18");
}

TEST_F(ClientHandshakeTest, SilenceMeansALegacyServer) {
  Begin(EraChoice::kAuto, milliseconds(5));
  const auto probe = server_.last().id;
  Run(milliseconds(30));
  EXPECT_TRUE(server_.notified.empty()) << "nothing but initialize may come first";
  EXPECT_EQ(server_.forgotten, std::vector<std::int64_t>{probe});
  server_.ReplyTo(probe, R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  EXPECT_EQ(odd_, std::vector<std::string>{}) << "a late answer is no offence";
  Welcome();
  EXPECT_EQ(connected_, "2025-06-18");
}

TEST_F(ClientHandshakeTest, AModernErrorIsNotTakenForALegacyServer) {
  Begin(EraChoice::kAuto);
  server_.ReplyError(-32022, "no", R"({"supported":["2030-01-01"],"requested":"2026-07-28"})");
  EXPECT_EQ(connected_,
            "error: the server speaks only protocol version \"2030-01-01\", "
            "which this client does not");
  Begin(EraChoice::kAuto);
  server_.ReplyError(-32021, "sampling!");
  EXPECT_EQ(connected_, "error: the server answered error -32021: \"sampling!\"");
}

TEST_F(ClientHandshakeTest, WhatSaysNothingOfTheEraIsAnError) {
  Begin(EraChoice::kAuto);
  server_.Fail({Error(Errc::kSystem, "HTTP status 401"), 401});
  EXPECT_EQ(connected_, "error: HTTP status 401");
  Begin(EraChoice::kAuto);
  server_.Fail({Error(Errc::kSystem, "connecting: Connection refused")});
  EXPECT_EQ(connected_, "error: connecting: Connection refused");
}

TEST_F(ClientHandshakeTest, APinnedEraIsAMust) {
  Begin(EraChoice::kModern);
  server_.ReplyError(kMethodNotFound, "what?");
  EXPECT_EQ(connected_,
            "error: this is no server of protocol version 2026-07-28: "
            "the server answered error -32601: \"what?\"");
  Begin(EraChoice::kModern);
  Run(milliseconds(100));
  EXPECT_EQ(connected_,
            "error: this is no server of protocol version 2026-07-28: "
            "no answer to server/discover in 60 ms");
  Begin(EraChoice::kLegacy);
  server_.ReplyError(kMethodNotFound, "what?");
  EXPECT_EQ(connected_, "error: initialize: the server answered error -32601: \"what?\"");
  Begin(EraChoice::kLegacy);
  Run(milliseconds(100));
  EXPECT_EQ(connected_, "error: no answer to initialize in 60 ms");
}

TEST_F(ClientHandshakeTest, AnOddWelcomeIsAnError) {
  const auto welcome = [this](std::string_view result) {
    Begin(EraChoice::kLegacy);
    server_.Reply(result);
    return connected_;
  };
  EXPECT_EQ(
      welcome(R"({"protocolVersion":"1999-01-01","capabilities":{}})"),
      "error: initialize: the server wants protocol version \"1999-01-01\", which this client "
      "does not speak");
  EXPECT_EQ(
      welcome(R"({"protocolVersion":"2026-07-28","capabilities":{}})"),
      "error: initialize: the server wants protocol version \"2026-07-28\", which this client "
      "does not speak");
  EXPECT_EQ(welcome("{}"), "error: initialize: result.protocolVersion must be a string");
  EXPECT_EQ(welcome(R"({"protocolVersion":"2025-11-25"})"),
            "error: initialize: result.capabilities must be an object");
  EXPECT_EQ(welcome(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":7}})"),
            "error: initialize: result.capabilities.tools must be an object");
  EXPECT_EQ(welcome("7"), "error: the server sent a result that is no object");
}

TEST_F(ClientHandshakeTest, AServerThatEndsAtTheProbeGetsASecondChance) {
  Begin(EraChoice::kAuto);
  server_.may_restart = true;
  server_.End(Error(Errc::kSystem, "the server program ended with exit code 1"));
  EXPECT_EQ(server_.restarts, 1);
  Welcome();
  EXPECT_EQ(connected_, "2025-06-18");
}

TEST_F(ClientHandshakeTest, ButNoThird) {
  Begin(EraChoice::kAuto);
  server_.may_restart = true;
  server_.End(Error(Errc::kSystem, "gone"));
  server_.End(Error(Errc::kSystem, "gone again"));
  EXPECT_EQ(server_.restarts, 1);
  EXPECT_EQ(connected_, "error: gone again");
  Begin(EraChoice::kModern);
  server_.may_restart = true;
  server_.End(Error(Errc::kSystem, "gone"));
  EXPECT_EQ(connected_, "error: gone");
}

TEST_F(ClientHandshakeTest, TheCallbackMayDestroyTheClient) {
  Begin(EraChoice::kLegacy);
  client_.reset();
  MakeClient({});
  client_->Connect([this](const Result<ServerDescription>&) { client_.reset(); });
  server_.Reply(R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  EXPECT_EQ(client_, nullptr);
  EXPECT_EQ(server_.channel, nullptr);
}

}  // namespace
}  // namespace glovebox::mcp
