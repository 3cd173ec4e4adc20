#include "mcp/stream_connection.h"

#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

// A client in memory: Receive() is what it sends, `sent` is what it got.
class FakeTransport final : public Transport {
 public:
  void Start(Receiver& receiver) override { receiver_ = &receiver; }
  void Send(std::string message) override { sent.push_back(std::move(message)); }
  bool congested() const override { return is_congested; }
  void Close() override { ++closes; }

  void Receive(std::string_view message) { receiver_->OnMessage(message); }
  Receiver& receiver() { return *receiver_; }

  std::vector<std::string> sent;
  bool is_congested = false;
  int closes = 0;

 private:
  Receiver* receiver_ = nullptr;
};

struct SlowParams {
  std::string name;
};
struct SlowResult {
  std::string text;
};
json::object ToJson(const SlowResult& result, ProtocolVersion) { return {{"text", result.text}}; }

}  // namespace

template <>
Result<SlowParams> ParamsFromJson(const json::object& params) {
  const json::value* name = params.if_contains("name");
  if (name == nullptr) return Error(Errc::kInvalidArgument, "params.name must be given");
  return SlowParams{std::string(name->as_string())};
}

namespace {

class StreamConnectionTest : public testing::Test {
 protected:
  StreamConnectionTest() { Restart({}); }
  ~StreamConnectionTest() override { Forget(); }

  void Restart(ServerOptions options) {
    Forget();
    options.info = {"tester", "", "1.2", "", {}};
    server_ = std::make_unique<Server>(context_.get_executor(), std::move(options));
    AddMethods();
    server_->Open();
    connection_ = std::make_unique<StreamConnection>(*server_, transport_, "client",
                                                     [this](const Status& reason) { End(reason); });
    connection_->Start();
  }

  void AddMethods() {
    ToolDefinition echo;
    echo.name = "ask_name";
    server_->tools().Add(echo, [](const json::object&, const ToolResponder& responder) {
      const json::object* form = responder.context().inputs.Accepted("who");
      if (form == nullptr) {
        return responder.NeedInput(
            {{{"who", FormElicitation{"Your name?", {{"type", "object"}}}}}, "round 1"});
      }
      CallToolResult result;
      result.content.push_back(
          Text(std::string(form->at("name").as_string()) + ", " + responder.context().state));
      responder.Reply(result);
    });
    Router& router = server_->router();
    router.Handle<SlowParams, SlowResult>(
        "slow", [this](const SlowParams& params, Responder<SlowResult> responder) {
          responder.OnCancel([this, name = params.name] { cancelled_.push_back(name); });
          waiting_.emplace(params.name, std::move(responder));
        });
    router.Handle<EmptyParams, SlowResult>("forgetful", [](EmptyParams, auto) {});
    router.Handle<EmptyParams, SlowResult>(
        "throws", [](EmptyParams, auto) { throw std::runtime_error("oops"); });
  }

  // Calls may not outlive the server.
  void Forget() {
    connection_.reset();
    waiting_.clear();
    server_.reset();
    transport_.sent.clear();
  }
  void End(const Status& reason) { ended_ = reason.ok() ? "ok" : reason.error().message(); }

  void Initialize(const std::string& version = "2025-11-25") {
    transport_.Receive(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + version +
        R"(","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
    transport_.Receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    transport_.sent.clear();
  }
  // Asks, and returns what was sent because of it.
  std::vector<std::string> Ask(std::string_view message) {
    transport_.sent.clear();
    transport_.Receive(message);
    return transport_.sent;
  }
  void AskSlow(int id, const std::string& name, const std::string& meta = "") {
    transport_.Receive(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                       R"(,"method":"slow","params":{"name":")" + name + "\"" + meta + "}}");
  }

  boost::asio::io_context context_;
  FakeTransport transport_;
  std::unique_ptr<Server> server_;
  std::multimap<std::string, Responder<SlowResult>> waiting_;
  std::vector<std::string> cancelled_;
  std::string ended_;
  std::unique_ptr<StreamConnection> connection_;
};

TEST_F(StreamConnectionTest, NegotiatesTheVersion) {
  const auto negotiate = [this](const std::string& asked) {
    Restart({});
    const auto sent =
        Ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
            asked + R"("}})");
    return json::parse(sent.at(0)).at("result").at("protocolVersion").as_string();
  };
  EXPECT_EQ(negotiate("2025-11-25"), "2025-11-25");
  EXPECT_EQ(negotiate("2025-06-18"), "2025-06-18");
  EXPECT_EQ(negotiate("2025-03-26"), "2025-03-26");
  EXPECT_EQ(negotiate("2024-11-05"), "2024-11-05");
  EXPECT_EQ(negotiate("2026-07-28"), "2025-11-25");
  EXPECT_EQ(negotiate("nonsense"), "2025-11-25");
}

TEST_F(StreamConnectionTest, IntroducesItself) {
  EXPECT_EQ(
      Ask(R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"x"}})"),
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25",)"
          R"("capabilities":{"tools":{}},"serverInfo":{"name":"tester","version":"1.2"}}})"});
}

TEST_F(StreamConnectionTest, AllowsOnlyPingBeforeInitialize) {
  EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":1,"result":{}})"});
  EXPECT_EQ(
      Ask(R"({"jsonrpc":"2.0","id":2,"method":"slow","params":{"name":"a"}})"),
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"send initialize first"}})"});
  EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","id":3,"method":"server/discover"})"),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,)"
                                     R"("message":"Method not found: server/discover"}})"});
}

TEST_F(StreamConnectionTest, RefusesASecondInitialize) {
  Initialize();
  EXPECT_EQ(
      Ask(R"({"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"x"}})"),
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"already initialized"}})"});
}

TEST_F(StreamConnectionTest, AnswersLaterAndOutOfOrder) {
  Initialize();
  AskSlow(1, "a");
  AskSlow(2, "b");
  EXPECT_TRUE(transport_.sent.empty());
  EXPECT_EQ(connection_->in_flight(), 2u);
  waiting_.find("b")->second.Reply({"second"});
  waiting_.find("a")->second.Reply({"first"});
  EXPECT_EQ(transport_.sent,
            (std::vector<std::string>{R"({"jsonrpc":"2.0","id":2,"result":{"text":"second"}})",
                                      R"({"jsonrpc":"2.0","id":1,"result":{"text":"first"}})"}));
  waiting_.find("a")->second.Reply({"again"});
  EXPECT_EQ(transport_.sent.size(), 2u);
  EXPECT_EQ(connection_->in_flight(), 0u);
  EXPECT_TRUE(cancelled_.empty());
}

TEST_F(StreamConnectionTest, IsSilentAboutACancelledRequest) {
  Initialize();
  AskSlow(1, "a");
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                  R"("params":{"requestId":1,"reason":"no"}})")
                  .empty());
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  waiting_.find("a")->second.Reply({"late"});
  EXPECT_TRUE(transport_.sent.empty());
  EXPECT_EQ(connection_->in_flight(), 0u);
}

TEST_F(StreamConnectionTest, IgnoresCancellationsOfNothing) {
  Initialize();
  AskSlow(1, "a");
  for (const char* params :
       {R"({"requestId":2})", R"({"requestId":"1"})", "{}", R"({"requestId":[]})"}) {
    EXPECT_TRUE(
        Ask(std::string(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)") +
            params + "}")
            .empty());
  }
  EXPECT_TRUE(cancelled_.empty());
}

TEST_F(StreamConnectionTest, RunsACancelHookThatComesTooLate) {
  Initialize();
  AskSlow(1, "a");
  transport_.Receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  bool ran = false;
  waiting_.find("a")->second.OnCancel([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST_F(StreamConnectionTest, ReportsProgressToThoseWhoAsked) {
  Initialize();
  AskSlow(1, "asked", R"(,"_meta":{"progressToken":"t"})");
  AskSlow(2, "silent");
  waiting_.find("silent")->second.Report({1, std::nullopt, "x"});
  EXPECT_TRUE(transport_.sent.empty());
  const auto& call = waiting_.find("asked")->second;
  EXPECT_TRUE(call.wants_progress());
  call.Report({1, 3.0, "hello"});
  EXPECT_EQ(transport_.sent,
            std::vector<std::string>{
                R"({"jsonrpc":"2.0","method":"notifications/progress","params":)"
                R"({"progressToken":"t","progress":1.0,"total":3.0,"message":"hello"}})"});
  transport_.is_congested = true;
  call.Report({2, 3.0, "dropped"});
  transport_.is_congested = false;
  call.Reply({"done"});
  call.Report({3, 3.0, "too late"});
  EXPECT_EQ(transport_.sent.size(), 2u);
}

TEST_F(StreamConnectionTest, AnswersForHandlersThatForgetOrThrow) {
  Initialize();
  EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","id":1,"method":"forgetful"})"),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":1,"error":)"
                                     R"({"code":-32603,"message":"the request was dropped"}})"});
  EXPECT_EQ(
      Ask(R"({"jsonrpc":"2.0","id":1,"method":"throws"})"),
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error: oops"}})"});
  EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","id":1,"method":"slow"})"),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":1,"error":)"
                                     R"({"code":-32602,"message":"params.name must be given"}})"});
}

TEST_F(StreamConnectionTest, RefusesAnIdInUseWithoutTouchingTheFirst) {
  Initialize();
  AskSlow(1, "a");
  const auto sent = Ask(R"({"jsonrpc":"2.0","id":1,"method":"slow","params":{"name":"b"}})");
  EXPECT_EQ(sent, std::vector<std::string>{R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                                           R"("message":"id 1 belongs to a request in flight"}})"});
  transport_.Receive(R"({"jsonrpc":"2.0","id":"1","method":"slow","params":{"name":"c"}})");
  EXPECT_EQ(connection_->in_flight(), 2u);
}

TEST_F(StreamConnectionTest, BoundsTheRequestsInFlight) {
  ServerOptions options;
  options.in_flight_max = 2;
  Restart(options);
  Initialize();
  AskSlow(1, "a");
  AskSlow(2, "b");
  AskSlow(3, "c");
  EXPECT_EQ(transport_.sent,
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":3,"error":{"code":-32603,)"
                                     R"x("message":"too many requests in flight (limit 2)"}})x"});
}

TEST_F(StreamConnectionTest, SaysNothingToNotificationsAndResponses) {
  Initialize();
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","method":"no/such"})").empty());
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","id":5,"result":{}})").empty());
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}})").empty());
}

TEST_F(StreamConnectionTest, AnswersABatchWithOneArray) {
  Initialize("2025-03-26");
  transport_.Receive(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)"
      R"({"jsonrpc":"2.0","id":2,"method":"slow","params":{"name":"a"}},)"
      R"({"jsonrpc":"2.0","id":3,"method":"slow","params":{"name":"b"}},)"
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}},4])");
  EXPECT_TRUE(transport_.sent.empty());
  waiting_.find("a")->second.Reply({"x"});
  ASSERT_EQ(transport_.sent.size(), 1u);
  EXPECT_EQ(transport_.sent[0],
            R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":)"
            R"({"code":-32600,"message":"a message must be a JSON object"}},)"
            R"({"jsonrpc":"2.0","id":2,"result":{"text":"x"}}])");
}

TEST_F(StreamConnectionTest, IsSilentAboutABatchOfNotifications) {
  Initialize("2025-03-26");
  EXPECT_TRUE(Ask(R"([{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}])").empty());
}

TEST_F(StreamConnectionTest, RefusesBatchesWhereTheRevisionHasNone) {
  Initialize("2025-06-18");
  const auto sent = Ask(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_NE(sent[0].find("batches are not part of protocol version 2025-06-18"), std::string::npos);
}

TEST_F(StreamConnectionTest, TellsOfAMessageThatWasTooLong) {
  transport_.receiver().OnRefusedMessage(Error(Errc::kLimit, "message longer than 5 bytes"));
  EXPECT_EQ(transport_.sent,
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                                     R"("message":"message longer than 5 bytes"}})"});
}

TEST_F(StreamConnectionTest, ClosesAtTheEndOfInput) {
  Initialize();
  transport_.receiver().OnEndOfInput();
  EXPECT_EQ(transport_.closes, 1);
  transport_.receiver().OnClosed({});
  EXPECT_EQ(ended_, "ok");
}

TEST_F(StreamConnectionTest, LetsAnswersUnderWayFinishAfterTheEndOfInput) {
  Initialize();
  AskSlow(1, "a");
  transport_.receiver().OnEndOfInput();
  EXPECT_EQ(transport_.closes, 0);
  waiting_.find("a")->second.Reply({"x"});
  EXPECT_EQ(transport_.sent.size(), 1u);
  EXPECT_EQ(transport_.closes, 1);
}

TEST_F(StreamConnectionTest, CancelsWhatDoesNotFinishAfterTheEndOfInput) {
  ServerOptions options;
  options.drain_max = std::chrono::milliseconds(20);
  Restart(options);
  Initialize();
  AskSlow(1, "a");
  transport_.receiver().OnEndOfInput();
  context_.run();
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  EXPECT_EQ(transport_.closes, 1);
}

TEST_F(StreamConnectionTest, CancelsEverythingWhenTheClientIsLost) {
  Initialize();
  AskSlow(1, "a");
  AskSlow(2, "b");
  transport_.receiver().OnClosed(Error(Errc::kSystem, "gone"));
  EXPECT_EQ(cancelled_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(ended_, "gone");
}

TEST_F(StreamConnectionTest, OutlivedByItsCalls) {
  Initialize();
  AskSlow(1, "a", R"(,"_meta":{"progressToken":1})");
  connection_.reset();
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  waiting_.find("a")->second.Report({1, std::nullopt, "x"});
  waiting_.find("a")->second.Reply({"x"});
  EXPECT_TRUE(transport_.sent.empty());
}

// --- the modern era on the same pipe ---

// A modern request; `params` without braces, `capabilities` of the client.
std::string Modern(int id, const std::string& method, const std::string& params = "",
                   const std::string& capabilities = "{}",
                   const std::string& version = "2026-07-28") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
         R"(","params":{)" + params + (params.empty() ? "" : ",") +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
         R"(","io.modelcontextprotocol/clientCapabilities":)" + capabilities + "}}}";
}
json::value One(const std::vector<std::string>& sent) {
  return sent.size() == 1 ? json::parse(sent[0]) : json::value(sent.size());
}

TEST_F(StreamConnectionTest, DiscoversWithoutAHandshake) {
  const json::value answer = One(Ask(Modern(1, "server/discover")));
  const json::object& result = answer.at("result").as_object();
  EXPECT_EQ(result.at("resultType").as_string(), "complete");
  EXPECT_EQ(result.at("supportedVersions").as_array().at(0).as_string(), "2026-07-28");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name").as_string(),
            "tester");
  EXPECT_TRUE(result.at("ttlMs").is_int64());
  EXPECT_TRUE(result.at("capabilities")
                  .at("extensions")
                  .as_object()
                  .contains("io.modelcontextprotocol/tasks"));
}

TEST_F(StreamConnectionTest, StaysOpenToInitializeAfterDiscovery) {
  Ask(Modern(1, "server/discover"));
  const auto initialize =
      R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})";
  EXPECT_TRUE(One(Ask(initialize)).as_object().contains("result"));
}

TEST_F(StreamConnectionTest, RefusesInitializeAfterModernRequests) {
  Ask(Modern(1, "tools/list"));
  const json::value answer = One(
      Ask(R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"x"}})"));
  EXPECT_EQ(answer.at("error").at("code").as_int64(), kUnsupportedVersion);
}

TEST_F(StreamConnectionTest, ChecksTheEnvelope) {
  const auto error = [this](const std::string& message) {
    return One(Ask(message)).at("error").as_object();
  };
  EXPECT_EQ(error(Modern(1, "tools/list", "", "7")).at("code").as_int64(), kInvalidParams);
  const json::object version = error(Modern(1, "tools/list", "", "{}", "v999"));
  EXPECT_EQ(version.at("code").as_int64(), kUnsupportedVersion);
  EXPECT_EQ(version.at("data").at("requested").as_string(), "v999");
  EXPECT_EQ(error(Modern(1, "initialize")).at("code").as_int64(), kMethodNotFound);
  EXPECT_EQ(error(Modern(1, "ping")).at("code").as_int64(), kMethodNotFound);
}

TEST_F(StreamConnectionTest, CancelsModernRequests) {
  EXPECT_TRUE(Ask(Modern(1, "slow", R"("name":"a")")).empty());
  EXPECT_EQ(connection_->in_flight(), 1u);
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                  R"("params":{"requestId":1}})")
                  .empty());
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  EXPECT_EQ(connection_->in_flight(), 0u);
}

TEST_F(StreamConnectionTest, AsksByAResultInTheModernEra) {
  const std::string call = R"("name":"ask_name","arguments":{})";
  const std::string form = R"({"elicitation":{}})";
  EXPECT_EQ(One(Ask(Modern(1, "tools/call", call))).at("error").at("code").as_int64(),
            kMissingClientCapability);

  const json::value asked = One(Ask(Modern(2, "tools/call", call, form)));
  const json::object& result = asked.at("result").as_object();
  EXPECT_EQ(result.at("resultType").as_string(), "input_required");
  EXPECT_EQ(result.at("inputRequests").at("who").at("method").as_string(), "elicitation/create");
  const std::string state(result.at("requestState").as_string());

  const std::string answers =
      R"(,"inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}},"requestState":")";
  const json::value done = One(Ask(Modern(3, "tools/call", call + answers + state + "\"", form)));
  EXPECT_EQ(done.at("result").at("content").at(0).at("text").as_string(), "Ada, round 1");
  const json::value forged =
      One(Ask(Modern(4, "tools/call", call + answers + state + "x\"", form)));
  EXPECT_EQ(forged.at("error").at("code").as_int64(), kInvalidParams);
}

TEST_F(StreamConnectionTest, AsksByARequestInTheLegacyEra) {
  transport_.Receive(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}}}})");
  const json::value question =
      One(Ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_name"}})"));
  EXPECT_EQ(question.at("method").as_string(), "elicitation/create");
  const std::string id = WriteJson(question.at("id"));
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","id":"nobody","result":{}})").empty());
  const json::value done = One(Ask(R"({"jsonrpc":"2.0","id":)" + id +
                                   R"(,"result":{"action":"accept","content":{"name":"Ada"}}})"));
  EXPECT_EQ(done.at("id").as_int64(), 1);
  EXPECT_EQ(done.at("result").at("content").at(0).at("text").as_string(), "Ada, round 1");
}

TEST_F(StreamConnectionTest, PassesOnThatTheClientCouldNotAnswer) {
  transport_.Receive(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}}}})");
  const json::value question =
      One(Ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_name"}})"));
  const json::value failed = One(Ask(R"({"jsonrpc":"2.0","id":)" + WriteJson(question.at("id")) +
                                     R"(,"error":{"code":-1,"message":"no user"}})"));
  EXPECT_EQ(failed.at("error").at("message").as_string(), "the client could not answer: no user");
  EXPECT_EQ(connection_->in_flight(), 0u);
}

TEST_F(StreamConnectionTest, ForgetsQuestionsOfAWithdrawnRequest) {
  transport_.Receive(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{"elicitation":{}}}})");
  const json::value question =
      One(Ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_name"}})"));
  Ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","id":)" + WriteJson(question.at("id")) +
                  R"(,"result":{"action":"accept","content":{"name":"Ada"}}})")
                  .empty());
}

TEST_F(StreamConnectionTest, TellsAGreedyClientWhenToComeBack) {
  ServerOptions options;
  options.admission.concurrent_max = 1;
  Restart(options);
  Initialize();
  AskSlow(1, "a");
  AskSlow(2, "b");
  const json::value refusal = One(transport_.sent);
  EXPECT_EQ(refusal.at("id").as_int64(), 2);
  EXPECT_TRUE(refusal.at("error").at("data").at("retryAfterMs").is_int64());
  waiting_.find("a")->second.Reply({"done"});
  AskSlow(3, "c");
  EXPECT_EQ(connection_->in_flight(), 1u);
}

TEST_F(StreamConnectionTest, DoesNotWaitForSubscriptionsAtTheEndOfInput) {
  ServerOptions options;
  options.changes.tools = true;
  Restart(options);
  const json::value acknowledged =
      One(Ask(Modern(7, "subscriptions/listen", R"("notifications":{"toolsListChanged":true})")));
  EXPECT_EQ(acknowledged.at("method").as_string(), "notifications/subscriptions/acknowledged");
  transport_.receiver().OnEndOfInput();
  EXPECT_EQ(transport_.closes, 1);
}

}  // namespace
}  // namespace glovebox::mcp
