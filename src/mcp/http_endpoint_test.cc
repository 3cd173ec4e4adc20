#include "mcp/http_endpoint.h"

#include <string>
#include <vector>

#include <boost/json/array.hpp>

#include "mcp/http_endpoint_fixture.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

const json::object kRoots = {
    {"io.modelcontextprotocol/clientCapabilities", {{"roots", json::object()}}}};

class HttpEndpointTest : public HttpEndpointFixture {};

// Screening.

TEST_F(HttpEndpointTest, ForeignHostsAndOriginsAreRefusedFirst) {
  HttpRequest request = Http("PUT", {{"Content-Type", "text/plain"}});
  request.headers.back().second = "evil.example.com";
  EXPECT_EQ(Send(request)->status, 403u);
  request = ModernTool("echo");
  request.headers.emplace_back("Origin", "http://evil.example.com");
  EXPECT_EQ(Send(request)->status, 403u);
  request.headers.back().second = "http://localhost:6274";
  EXPECT_EQ(Send(request)->status, 200u);
}

TEST_F(HttpEndpointTest, OtherPathsAreScreenedForOriginOnly) {
  endpoint_.emplace(server_, Options(), [](const HttpRequest& request) {
    return HttpResponse{200, {}, std::string(request.path())};
  });
  HttpRequest request = Http("GET");
  request.target = "/healthz?verbose";
  EXPECT_EQ(Send(request)->sent, "/healthz");
  request.headers.back().second = "evil.example.com";
  EXPECT_EQ(Send(request)->status, 403u);
}

TEST_F(HttpEndpointTest, WithoutOthersAnotherPathIsNotFound) {
  HttpRequest request = Http("GET");
  request.target = "/mcp/";
  EXPECT_EQ(Send(request)->status, 404u);
}

TEST_F(HttpEndpointTest, AuthenticationComesBeforeEverythingOfMcp) {
  HttpEndpointOptions options = Options();
  options.authenticate = [](const HttpRequest& head) -> std::optional<std::string> {
    if (head.Header("authorization") != "Bearer sesame") return std::nullopt;
    return "somebody";
  };
  endpoint_.emplace(server_, options);
  const Exchange refused = Send(Http("POST", {{"Content-Type", "text/plain"}}));
  EXPECT_EQ(refused->status, 401u);
  EXPECT_EQ(refused->sent, R"({"error":"Unauthorized"})");
  EXPECT_EQ(refused->HeaderOf("www-authenticate"), "Bearer");
  HttpRequest request = ModernTool("later");
  request.headers.emplace_back("Authorization", "Bearer sesame");
  Send(request);
  ASSERT_EQ(held_.size(), 1u);
  EXPECT_EQ(held_[0].context().principal, "somebody");
}

TEST_F(HttpEndpointTest, WithoutAuthenticationThePeerIsThePrincipal) {
  Send(ModernTool("later"));
  ASSERT_EQ(held_.size(), 1u);
  EXPECT_EQ(held_[0].context().principal, "127.0.0.1");
}

TEST_F(HttpEndpointTest, ContentTypes) {
  const std::vector<std::pair<std::string, unsigned>> cases = {
      {"application/json", 200},       {"application/json; charset=utf-8", 200},
      {"Application/JSON;x=y", 200},   {"text/plain", 415},
      {"application/json-patch", 415}, {"", 415},
  };
  for (const auto& [type, status] : cases) {
    HttpRequest request = ModernTool("echo");
    for (auto& header : request.headers) {
      if (header.first == "Content-Type") header.second = type;
    }
    EXPECT_EQ(Send(request)->status, status) << type;
  }
  HttpRequest request = ModernTool("echo");
  std::erase_if(request.headers, [](const auto& header) { return header.first == "Content-Type"; });
  EXPECT_EQ(Send(request)->status, 415u);
}

TEST_F(HttpEndpointTest, OnlyAnAcceptThatExcludesBothIsRefused) {
  const std::vector<std::pair<std::string, unsigned>> cases = {
      {"application/json, text/event-stream", 200},
      {"text/event-stream;q=0.5", 200},
      {"Application/Json", 200},
      {"*/*", 200},
      {"text/html, application/*", 200},
      {"text/html", 406},
      {"text/html, image/*", 406},
      {"", 406},
  };
  for (const auto& [accept, status] : cases) {
    HttpRequest request = ModernTool("echo");
    for (auto& header : request.headers) {
      if (header.first == "Accept") header.second = accept;
    }
    EXPECT_EQ(Send(request)->status, status) << accept;
  }
  HttpRequest request = ModernTool("echo");
  std::erase_if(request.headers, [](const auto& header) { return header.first == "Accept"; });
  EXPECT_EQ(Send(request)->status, 200u);
}

TEST_F(HttpEndpointTest, OtherHttpMethods) {
  for (const char* method : {"PUT", "PATCH", "OPTIONS", "HEAD"}) {
    const Exchange exchange = Send(Http(method));
    EXPECT_EQ(exchange->status, 405u) << method;
    EXPECT_EQ(exchange->HeaderOf("allow"), "GET, POST, DELETE");
  }
  for (const char* method : {"GET", "DELETE"}) {
    const Exchange exchange = Send(Http(method, {{"MCP-Protocol-Version", "2026-07-28"}}));
    EXPECT_EQ(exchange->status, 405u) << method;
    EXPECT_EQ(exchange->HeaderOf("allow"), "POST");
  }
}

// What is not one message.

TEST_F(HttpEndpointTest, BodiesThatAreNoMessage) {
  const Exchange broken = Send(Post("{"));
  EXPECT_EQ(broken->status, 400u);
  EXPECT_EQ(CodeOf(broken), kParseError);
  EXPECT_TRUE(json::parse(broken->sent).at("id").is_null());

  const Exchange foreign = Send(Post(R"({"id":3,"method":"ping"})"));
  EXPECT_EQ(foreign->status, 400u);
  EXPECT_EQ(CodeOf(foreign), kInvalidRequest);
  EXPECT_EQ(json::parse(foreign->sent).at("id"), 3);
}

TEST_F(HttpEndpointTest, ModernBatchesAndResponsesAreRefused) {
  const std::string legacy = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const std::string modern = json::serialize(ModernBody("tools/list"));
  const Exchange batch = Send(Post("[" + legacy + "," + modern + "]"));
  EXPECT_EQ(batch->status, 400u);
  EXPECT_EQ(CodeOf(batch), kInvalidRequest);

  const HttpHeaders header = {{"MCP-Protocol-Version", "2026-07-28"}};
  EXPECT_EQ(Send(Post("[" + legacy + "]", header))->status, 400u);

  const Exchange response = Send(Post(R"({"jsonrpc":"2.0","id":1,"result":{}})", header));
  EXPECT_EQ(response->status, 400u);
  EXPECT_EQ(CodeOf(response), kInvalidRequest);
}

TEST_F(HttpEndpointTest, ModernNotificationsAreAcceptedAndForgotten) {
  const std::string bare = R"({"jsonrpc":"2.0","method":"notifications/cancelled"})";
  EXPECT_EQ(Send(Post(bare, {{"MCP-Protocol-Version", "2026-07-28"}}))->status, 202u);
  const std::string claim =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":)"
      R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})";
  const Exchange exchange = Send(Post(claim, {{"MCP-Protocol-Version", "2025-11-25"}}));
  EXPECT_EQ(exchange->status, 202u);
  EXPECT_EQ(exchange->sent, "");
}

// Modern requests: the envelope and the headers that repeat it.

TEST_F(HttpEndpointTest, AResultIsOneJsonBody) {
  const Exchange exchange = Send(ModernTool("echo"));
  EXPECT_EQ(exchange->status, 200u);
  EXPECT_EQ(exchange->HeaderOf("content-type"), "application/json");
  const auto body = json::parse(exchange->sent);
  EXPECT_EQ(body.at("id"), 7);
  EXPECT_EQ(body.at("result").at("content").at(0).at("text"), "hello");
  EXPECT_EQ(exchange->HeaderOf("mcp-session-id"), "") << "the modern era has no sessions";
}

TEST_F(HttpEndpointTest, BrokenEnvelopes) {
  const std::string version = "io.modelcontextprotocol/protocolVersion";
  const std::string capabilities = "io.modelcontextprotocol/clientCapabilities";
  const std::vector<json::object> metas = {
      {{version, "2026-07-28"}},
      {{version, 5}, {capabilities, json::object()}},
      {{version, "2026-07-28"}, {capabilities, json::array()}},
      {{version, "2026-07-28"},
       {capabilities, json::object()},
       {"io.modelcontextprotocol/logLevel", "loud"}},
      // Without a claim the header says that one was due.
      {{capabilities, json::object()}},
      {},
  };
  for (const json::object& meta : metas) {
    json::object body = ModernBody("tools/list");
    body["params"].as_object()["_meta"] = meta;
    const Exchange exchange = Send(Modern(body));
    EXPECT_EQ(exchange->status, 400u) << json::serialize(meta);
    EXPECT_EQ(CodeOf(exchange), kInvalidParams) << json::serialize(meta);
    EXPECT_EQ(json::parse(exchange->sent).at("id"), 7);
  }
  json::object body = ModernBody("tools/list");
  body.erase("params");
  EXPECT_EQ(CodeOf(Send(Modern(body))), kInvalidParams);
}

TEST_F(HttpEndpointTest, VersionsAndTheirHeader) {
  struct Case {
    std::string body;
    std::vector<std::string> headers;
    int code;
  };
  const std::vector<Case> cases = {
      {"2026-07-28", {"2026-07-28"}, 0},
      {"2026-07-28", {}, kHeaderMismatch},
      {"2026-07-28", {"2025-11-25"}, kHeaderMismatch},
      {"2026-07-28", {"2026-07-28", "2026-07-28"}, kHeaderMismatch},
      // The pair that tells the order of the two checks.
      {"v999.0.0", {"2026-07-28"}, kHeaderMismatch},
      {"v999.0.0", {"v999.0.0"}, kUnsupportedVersion},
      {"v999.0.0", {}, kUnsupportedVersion},
      {"2025-11-25", {"2025-11-25"}, kUnsupportedVersion},
  };
  for (const Case& test : cases) {
    HttpHeaders headers = {{"Mcp-Method", "tools/list"}};
    for (const std::string& value : test.headers) {
      headers.emplace_back("MCP-Protocol-Version", value);
    }
    const auto body =
        ModernBody("tools/list", {}, {{"io.modelcontextprotocol/protocolVersion", test.body}});
    const Exchange exchange = Send(Post(json::serialize(body), headers));
    EXPECT_EQ(CodeOf(exchange), test.code) << test.body << " " << exchange->sent;
    EXPECT_EQ(exchange->status, test.code == 0 ? 200u : 400u);
  }
}

TEST_F(HttpEndpointTest, AnUnsupportedVersionNamesTheServedOnes) {
  const auto body =
      ModernBody("tools/list", {}, {{"io.modelcontextprotocol/protocolVersion", "v999.0.0"}});
  const Exchange exchange = Send(Post(json::serialize(body)));
  const auto data = json::parse(exchange->sent).at("error").at("data");
  EXPECT_EQ(data.at("requested"), "v999.0.0");
  EXPECT_EQ(data.at("supported").at(0), "2026-07-28");
}

TEST_F(HttpEndpointTest, TheOrderOfChecks) {
  // Each case breaks one rule more than the one before; the earliest broken one is told.
  auto body = ModernBody("tools/call", {{"name", "region"}, {"arguments", {{"region", "eu"}}}});
  const auto code = [&](HttpHeaders headers) {
    return CodeOf(Send(Post(json::serialize(body), std::move(headers))));
  };
  EXPECT_EQ(code({{"MCP-Protocol-Version", "2026-07-28"},
                  {"Mcp-Method", "tools/call"},
                  {"Mcp-Name", "region"},
                  {"Mcp-Param-Region", "eu"}}),
            0);
  body["params"].at("_meta").as_object()["io.modelcontextprotocol/protocolVersion"] = "v2";
  EXPECT_EQ(code({{"MCP-Protocol-Version", "v2"}, {"Mcp-Method", "tools/call"}}),
            kUnsupportedVersion)
      << "the version comes before Mcp-Name";
  EXPECT_EQ(code({{"MCP-Protocol-Version", "v2"}, {"Mcp-Method", "tools/list"}}), kHeaderMismatch)
      << "Mcp-Method comes before the version";
  body["params"].at("_meta").as_object().erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(code({{"MCP-Protocol-Version", "v2"}, {"Mcp-Method", "tools/list"}}), kInvalidParams)
      << "the envelope comes first";
}

TEST_F(HttpEndpointTest, InitializeWithoutAClaimUnderAModernHeader) {
  const Exchange exchange = Send(Post(Initialize(), {{"MCP-Protocol-Version", "2026-07-28"}}));
  EXPECT_EQ(exchange->status, 400u);
  EXPECT_EQ(CodeOf(exchange), kHeaderMismatch);
  EXPECT_EQ(json::parse(exchange->sent).at("id"), 0);
}

// Modern requests: statuses of answers.

TEST_F(HttpEndpointTest, UnknownAndRemovedMethodsAreNotFound) {
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe",
                             "resources/unsubscribe", "no/such/method"}) {
    const Exchange exchange = Send(Modern(ModernBody(method)));
    EXPECT_EQ(exchange->status, 404u) << method;
    EXPECT_EQ(CodeOf(exchange), kMethodNotFound) << method;
    EXPECT_EQ(json::parse(exchange->sent).at("id"), 7);
  }
}

TEST_F(HttpEndpointTest, ErrorsOfHandlersStayInBand) {
  for (const char* tool : {"fails", "no_such_tool"}) {
    const Exchange exchange = Send(ModernTool(tool));
    EXPECT_EQ(exchange->status, 200u) << tool;
    EXPECT_EQ(CodeOf(exchange), kInvalidParams) << tool;
  }
}

TEST_F(HttpEndpointTest, AMissingCapabilityIsABadRequest) {
  const Exchange refused = Send(ModernTool("asks"));
  EXPECT_EQ(refused->status, 400u);
  EXPECT_EQ(CodeOf(refused), kMissingClientCapability);
  const Exchange asked = Send(ModernTool("asks", kRoots));
  EXPECT_EQ(asked->status, 200u);
  EXPECT_EQ(json::parse(asked->sent).at("result").at("resultType"), "input_required");
}

class HttpAdmissionTest : public HttpEndpointFixture {
 protected:
  HttpAdmissionTest() : HttpEndpointFixture(Options(), OnePlace()) {}

  static ServerOptions OnePlace() {
    ServerOptions options;
    options.admission.concurrent_max = 1;
    return options;
  }
};

TEST_F(HttpAdmissionTest, OverItsShareAClientIsToldWhenToComeBack) {
  const std::string session = OpenSession();
  Send(ModernTool("later"));
  for (const Exchange& exchange : {Send(ModernTool("echo")), Send(LegacyTool(session, "echo"))}) {
    EXPECT_EQ(exchange->status, 429u);
    EXPECT_GE(std::stoi(std::string(exchange->HeaderOf("retry-after"))), 1);
    EXPECT_EQ(CodeOf(exchange), kInternalError);
  }
  HttpRequest other = ModernTool("echo");
  other.peer = "127.0.0.2";
  EXPECT_EQ(Send(other)->status, 200u);
}

// Modern requests: streams.

TEST_F(HttpEndpointTest, ANotificationMakesAStream) {
  const Exchange exchange = Send(ModernTool("reports", {{"progressToken", "p"}}));
  EXPECT_EQ(exchange->status, 200u);
  EXPECT_EQ(exchange->HeaderOf("content-type"), "text/event-stream");
  EXPECT_EQ(exchange->HeaderOf("cache-control"), "no-cache, no-transform");
  EXPECT_EQ(exchange->HeaderOf("x-accel-buffering"), "no");
  EXPECT_TRUE(exchange->is_ended);
  const std::string& sent = exchange->sent;
  EXPECT_TRUE(sent.starts_with("event: message\ndata: {")) << sent;
  EXPECT_NE(sent.find("notifications/progress"), std::string::npos);
  EXPECT_LT(sent.find("notifications/progress"), sent.find("\"result\""));
  EXPECT_EQ(sent.find("\nid:"), std::string::npos) << "modern streams cannot be resumed";
}

TEST_F(HttpEndpointTest, AnAnswerInTimeIsStillOneBody) {
  const Exchange exchange = Send(ModernTool("later"));
  EXPECT_FALSE(exchange->is_started);
  held_[0].Reply({});
  EXPECT_FALSE(exchange->streams());
  EXPECT_TRUE(exchange->is_ended);
  RunFor(milliseconds(20));
  EXPECT_EQ(exchange->status, 200u);
}

TEST_F(HttpEndpointTest, ASlowAnswerGetsAStream) {
  const Exchange exchange = Send(ModernTool("later"));
  EXPECT_FALSE(exchange->is_started);
  RunUntilStreaming(exchange);
  EXPECT_TRUE(exchange->streams());
  EXPECT_EQ(exchange->Take(), "");
  held_[0].Fail(RpcError{kMethodNotFound, "too late for a status"});
  EXPECT_EQ(exchange->status, 200u);
  EXPECT_TRUE(exchange->Take().starts_with("event: message\ndata: {"));
  EXPECT_TRUE(exchange->is_ended);
}

TEST_F(HttpEndpointTest, QuietStreamsAreKeptAlive) {
  endpoint_.emplace(server_, KeepAliveOptions());
  const Exchange exchange = Send(ModernTool("later"));
  EXPECT_TRUE(RunUntil([&] { return exchange->sent == ":\n\n:\n\n:\n\n"; }));
  exchange->is_congested = true;
  exchange->Take();
  RunFor(milliseconds(30));
  EXPECT_EQ(exchange->Take(), "") << "not for a peer that does not read";
  exchange->is_congested = false;
  EXPECT_TRUE(RunUntil([&] { return exchange->sent == ":\n\n"; }));
  held_[0].Reply({});
  exchange->Take();
  RunFor(milliseconds(30));
  EXPECT_EQ(exchange->Take(), "") << "nothing after the end";
}

TEST_F(HttpEndpointTest, GoingAwayCancels) {
  for (const bool streaming : {false, true}) {
    cancelled_ = 0;
    held_.clear();
    const Exchange exchange = Send(ModernTool("later", {{"progressToken", "p"}}));
    if (streaming) held_[0].Report({1, std::nullopt, ""});
    exchange->Disconnect();
    EXPECT_EQ(cancelled_, 1) << streaming;
    held_[0].Report({2, std::nullopt, ""});
    held_[0].Reply({});
  }
}

TEST_F(HttpEndpointTest, AHalfClosedPeerIsWrittenTo) {
  const Exchange exchange = Send(ModernTool("later"));
  exchange->HalfClose();
  EXPECT_TRUE(exchange->streams());
  EXPECT_EQ(exchange->sent, ":\n\n");
  EXPECT_EQ(cancelled_, 0) << "it may still be reading";
  held_[0].Reply({});
  EXPECT_NE(exchange->sent.find("\"result\""), std::string::npos);
}

TEST_F(HttpEndpointTest, SoIsOneThatHalfClosesUnderAStream) {
  const Exchange exchange = Send(ModernTool("later", {{"progressToken", "p"}}));
  held_[0].Report({1, std::nullopt, ""});
  exchange->Take();
  exchange->HalfClose();
  EXPECT_EQ(exchange->sent, ":\n\n");
}

TEST_F(HttpEndpointTest, ReportsAreLeftOutForASlowReader) {
  const Exchange exchange = Send(ModernTool("later", {{"progressToken", "p"}}));
  held_[0].Report({1, std::nullopt, ""});
  exchange->Take();
  exchange->is_congested = true;
  held_[0].Report({2, std::nullopt, ""});
  EXPECT_EQ(exchange->sent, "");
}

TEST_F(HttpEndpointTest, SubscriptionsStreamUntilTheServerDrains) {
  const auto body =
      ModernBody("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
  const Exchange exchange = Send(Modern(body));
  EXPECT_TRUE(exchange->streams());
  EXPECT_NE(exchange->Take().find("notifications/subscriptions/acknowledged"), std::string::npos);
  server_.changes().Publish({Change::Kind::kToolsList});
  EXPECT_NE(exchange->Take().find("notifications/tools/list_changed"), std::string::npos);
  endpoint_->Drain();
  EXPECT_NE(exchange->Take().find("\"result\""), std::string::npos);
  EXPECT_TRUE(exchange->is_ended);
}

TEST_F(HttpEndpointTest, AClosedSubscriptionIsForgotten) {
  const auto body =
      ModernBody("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
  const Exchange exchange = Send(Modern(body));
  exchange->Take();
  exchange->Disconnect();
  server_.changes().Publish({Change::Kind::kToolsList});
  EXPECT_EQ(exchange->sent, "");
}

TEST_F(HttpEndpointTest, TheSessionHeaderMeansNothingToAModernRequest) {
  HttpRequest request = ModernTool("echo");
  request.headers.emplace_back("Mcp-Session-Id", "no such session");
  EXPECT_EQ(Send(request)->status, 200u);
}

}  // namespace
}  // namespace glovebox::mcp
