#include "mcp/http_session.h"

#include <string>
#include <thread>
#include <vector>

#include <boost/json/array.hpp>

#include "mcp/http_endpoint_fixture.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

class HttpSessionTest : public HttpEndpointFixture {};

// Sessions.

TEST_F(HttpSessionTest, InitializeOpensASession) {
  const Exchange exchange = Send(Post(Initialize()));
  EXPECT_EQ(exchange->status, 200u);
  EXPECT_EQ(json::parse(exchange->sent).at("result").at("protocolVersion"), "2025-11-25");
  const std::string_view id = exchange->HeaderOf("mcp-session-id");
  EXPECT_GE(id.size(), 22u) << "128 bits at 6 per character";
  for (const char character : id) EXPECT_TRUE(character > 0x20 && character < 0x7f);
  EXPECT_NE(OpenSession(), id);
  EXPECT_EQ(endpoint_->sessions(), 2u);
}

TEST_F(HttpSessionTest, InitializeTakesAnyLegacyVersionHeader) {
  for (const char* header : {"2025-11-25", "2025-03-26", "1999-01-01"}) {
    EXPECT_EQ(Send(Post(Initialize(), {{"MCP-Protocol-Version", header}}))->status, 200u) << header;
  }
}

TEST_F(HttpSessionTest, TheVersionIsNegotiated) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"2025-03-26", "2025-03-26"},
                                                                  {"2025-06-18", "2025-06-18"},
                                                                  {"2024-11-05", "2025-11-25"},
                                                                  {"2026-07-28", "2025-11-25"},
                                                                  {"never", "2025-11-25"}};
  for (const auto& [asked, answered] : cases) {
    const Exchange exchange = Send(Post(Initialize(asked)));
    EXPECT_EQ(json::parse(exchange->sent).at("result").at("protocolVersion"),
              json::value(answered));
  }
}

TEST_F(HttpSessionTest, AFailedInitializeOpensNone) {
  const Exchange exchange =
      Send(Post(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"));
  EXPECT_EQ(exchange->status, 200u);
  EXPECT_EQ(CodeOf(exchange), kInvalidParams);
  EXPECT_EQ(exchange->HeaderOf("mcp-session-id"), "");
  EXPECT_EQ(endpoint_->sessions(), 0u);
}

TEST_F(HttpSessionTest, RequestsNeedASession) {
  const std::string ping = R"({"jsonrpc":"2.0","id":5,"method":"ping"})";
  const Exchange none = Send(Post(ping));
  EXPECT_EQ(none->status, 400u);
  EXPECT_EQ(json::parse(none->sent).at("id"), 5);
  EXPECT_EQ(Send(Legacy("unknown", ping))->status, 404u);
  const std::string session = OpenSession();
  const Exchange answered = Send(Legacy(session, ping));
  EXPECT_EQ(answered->status, 200u);
  EXPECT_EQ(answered->sent, R"({"jsonrpc":"2.0","id":5,"result":{}})");
  HttpRequest twice = Legacy(session, ping);
  twice.headers.emplace_back("Mcp-Session-Id", session);
  EXPECT_EQ(Send(twice)->status, 400u);
}

TEST_F(HttpSessionTest, ASessionIsItsPrincipals) {
  const std::string session = OpenSession();
  HttpRequest request = LegacyTool(session, "echo");
  request.peer = "192.0.2.1";
  EXPECT_EQ(Send(request)->status, 404u);
  request = Http("DELETE", {{"Mcp-Session-Id", session}});
  request.peer = "192.0.2.1";
  EXPECT_EQ(Send(request)->status, 404u);
  EXPECT_EQ(endpoint_->sessions(), 1u);
}

TEST_F(HttpSessionTest, DeleteEndsASession) {
  const std::string session = OpenSession();
  const Exchange pending = Send(LegacyTool(session, "later"));
  const Exchange listening = Send(Listen(session));
  EXPECT_EQ(Send(Http("DELETE", {{"Mcp-Session-Id", session}}))->status, 200u);
  EXPECT_EQ(cancelled_, 1);
  EXPECT_TRUE(pending->is_ended);
  EXPECT_TRUE(listening->is_ended);
  EXPECT_EQ(Send(LegacyTool(session, "echo"))->status, 404u);
  EXPECT_EQ(Send(Listen(session))->status, 404u);
  EXPECT_EQ(Send(Http("DELETE", {{"Mcp-Session-Id", session}}))->status, 404u);
  EXPECT_EQ(Send(Http("DELETE"))->status, 400u);
  held_[0].Reply({});
}

TEST_F(HttpSessionTest, VersionHeadersOfLaterRequests) {
  const std::string session = OpenSession();
  const std::vector<std::pair<std::string, unsigned>> cases = {{"2025-11-25", 200},
                                                               {"2025-06-18", 200},
                                                               {"2025-03-26", 200},
                                                               {"2024-11-05", 400},
                                                               {"1999-01-01", 400}};
  for (const auto& [version, status] : cases) {
    HttpRequest request = LegacyTool(session, "echo");
    request.headers.emplace_back("MCP-Protocol-Version", version);
    EXPECT_EQ(Send(request)->status, status) << version;
  }
  HttpRequest request = LegacyTool(session, "echo");
  request.headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
  EXPECT_EQ(CodeOf(Send(request)), kInvalidParams) << "the header says that an envelope was due";
}

TEST_F(HttpSessionTest, HeadersOfTheModernEraAreNotAskedFor) {
  HttpRequest request = LegacyTool(OpenSession(), "echo");
  request.headers.emplace_back("Mcp-Method", "something/else");
  EXPECT_EQ(Send(request)->status, 200u);
}

TEST_F(HttpSessionTest, NotificationsAndResponsesAreAccepted) {
  const std::string session = OpenSession();
  for (const std::string body : {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                                 R"({"jsonrpc":"2.0","id":99,"result":{}})"}) {
    const Exchange exchange = Send(Legacy(session, body));
    EXPECT_EQ(exchange->status, 202u);
    EXPECT_EQ(exchange->sent, "");
    EXPECT_EQ(Send(Legacy("unknown", body))->status, 404u);
    EXPECT_EQ(Send(Post(body))->status, 400u);
  }
}

TEST_F(HttpSessionTest, ErrorsStayInBand) {
  const std::string session = OpenSession();
  const Exchange unknown =
      Send(Legacy(session, R"({"jsonrpc":"2.0","id":1,"method":"no/such/method"})"));
  EXPECT_EQ(unknown->status, 200u);
  EXPECT_EQ(CodeOf(unknown), kMethodNotFound);
  EXPECT_EQ(Send(LegacyTool(session, "fails"))->status, 200u);
}

TEST_F(HttpSessionTest, Batches) {
  const std::string old_session = OpenSession("2025-03-26");
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const std::string note = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
  const Exchange answers = Send(Legacy(old_session, "[" + ping + "," + note + ",5]"));
  EXPECT_EQ(answers->status, 200u);
  EXPECT_EQ(json::parse(answers->sent).as_array().size(), 2u);
  EXPECT_EQ(Send(Legacy(old_session, "[" + note + "]"))->status, 202u);
  EXPECT_EQ(Send(Legacy(old_session, "[]"))->status, 400u);
  EXPECT_EQ(Send(Post("[" + ping + "]"))->status, 400u) << "without a session";

  const Exchange refused = Send(Legacy(OpenSession(), "[" + ping + "]"));
  EXPECT_EQ(refused->status, 400u);
  EXPECT_EQ(CodeOf(refused), kInvalidRequest);
}

// Bounds.

TEST_F(HttpSessionTest, IdleSessionsEnd) {
  HttpEndpointOptions options = Options();
  options.session_idle_max = milliseconds(200);
  endpoint_.emplace(server_, options);
  const std::string idle = OpenSession();
  const std::string listening = OpenSession();
  const std::string working = OpenSession();
  const Exchange stream = Send(Listen(listening));
  Send(LegacyTool(working, "later"));
  EXPECT_TRUE(RunUntil([&] { return endpoint_->sessions() == 2; }));
  EXPECT_EQ(Send(LegacyTool(idle, "echo"))->status, 404u);
  EXPECT_EQ(Send(LegacyTool(listening, "echo"))->status, 200u);
  stream->Disconnect();
  held_[0].Reply({});
  EXPECT_EQ(Send(LegacyTool(working, "echo"))->status, 200u) << "the time begins with the silence";
  EXPECT_TRUE(RunUntil([&] { return endpoint_->sessions() == 0; }));
}

TEST_F(HttpSessionTest, AnIdleSessionIsOverBeforeItIsSweptUp) {
  HttpEndpointOptions options = Options();
  options.session_idle_max = milliseconds(10);
  endpoint_.emplace(server_, options);
  const std::string session = OpenSession();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(Send(LegacyTool(session, "echo"))->status, 404u);
}

TEST_F(HttpSessionTest, TheLongestIdleSessionMakesRoom) {
  HttpEndpointOptions options = Options();
  options.sessions_max = 3;
  endpoint_.emplace(server_, options);
  const std::string busy = OpenSession();
  Send(LegacyTool(busy, "later"));
  const std::string unused = OpenSession();
  const std::string used = OpenSession();
  Send(LegacyTool(unused, "echo"));
  Send(LegacyTool(used, "echo"));
  OpenSession();
  EXPECT_EQ(endpoint_->sessions(), 3u);
  EXPECT_EQ(Send(LegacyTool(busy, "echo", 2))->status, 200u);
  EXPECT_EQ(Send(LegacyTool(unused, "echo"))->status, 404u);
  EXPECT_EQ(Send(LegacyTool(used, "echo"))->status, 200u);
}

TEST_F(HttpSessionTest, BusySessionsMakeNoRoom) {
  HttpEndpointOptions options = Options();
  options.sessions_max = 1;
  endpoint_.emplace(server_, options);
  Send(LegacyTool(OpenSession(), "later"));
  const Exchange exchange = Send(Post(Initialize()));
  EXPECT_EQ(exchange->status, 503u);
  EXPECT_NE(exchange->sent.find("limit 1"), std::string::npos);
}

TEST_F(HttpSessionTest, AClientMakesRoomForItselfFromItsOwn) {
  HttpEndpointOptions options = Options();
  options.sessions_per_client_max = 2;
  endpoint_.emplace(server_, options);
  HttpRequest other = Post(Initialize());
  other.peer = "192.0.2.1";
  const std::string others(Send(other)->HeaderOf("mcp-session-id"));
  const std::string first = OpenSession();
  OpenSession();
  OpenSession();
  EXPECT_EQ(endpoint_->sessions(), 3u);
  EXPECT_EQ(Send(LegacyTool(first, "echo"))->status, 404u);
  HttpRequest request = LegacyTool(others, "echo");
  request.peer = "192.0.2.1";
  EXPECT_EQ(Send(request)->status, 200u);
}

TEST_F(HttpSessionTest, TheEndpointMayEndBeforeItsRequests) {
  const std::string session = OpenSession();
  const Exchange exchange = Send(LegacyTool(session, "later"));
  const Exchange modern = Send(ModernTool("later"));
  RunUntilStreaming(modern);
  endpoint_.reset();
  EXPECT_TRUE(exchange->is_ended);
  EXPECT_EQ(cancelled_, 1);
  held_[1].Reply({});
  EXPECT_TRUE(modern->is_ended);
  RunFor(milliseconds(30));
}

}  // namespace
}  // namespace glovebox::mcp
