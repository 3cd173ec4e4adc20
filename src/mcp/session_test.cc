#include "mcp/session.h"

#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

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

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    router_.Handle<SlowParams, SlowResult>(
        "slow", [this](const SlowParams& params, Responder<SlowResult> responder) {
          responder.OnCancel([this, name = params.name] { cancelled_.push_back(name); });
          waiting_.emplace(params.name, std::move(responder));
        });
    router_.Handle<EmptyParams, SlowResult>("forgetful", [](EmptyParams, auto) {});
    router_.Handle<EmptyParams, SlowResult>(
        "throws", [](EmptyParams, auto) { throw std::runtime_error("oops"); });
    Restart({});
  }

  void Restart(SessionOptions options) {
    options.server_info = {"tester", "", "1.2"};
    options.capabilities["tools"] = json::object();
    session_.reset();
    transport_.sent.clear();
    session_ =
        std::make_unique<Session>(context_.get_executor(), transport_, router_, std::move(options),
                                  [this](const Status& reason) { End(reason); });
    session_->Start();
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
  Router router_;
  FakeTransport transport_;
  std::multimap<std::string, Responder<SlowResult>> waiting_;
  std::vector<std::string> cancelled_;
  std::string ended_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, NegotiatesTheVersion) {
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

TEST_F(SessionTest, IntroducesItself) {
  EXPECT_EQ(
      Ask(R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"x"}})"),
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25",)"
          R"("capabilities":{"tools":{}},"serverInfo":{"name":"tester","version":"1.2"}}})"});
}

TEST_F(SessionTest, AllowsOnlyPingBeforeInitialize) {
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

TEST_F(SessionTest, RefusesASecondInitialize) {
  Initialize();
  EXPECT_EQ(
      Ask(R"({"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"x"}})"),
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"already initialized"}})"});
}

TEST_F(SessionTest, AnswersLaterAndOutOfOrder) {
  Initialize();
  AskSlow(1, "a");
  AskSlow(2, "b");
  EXPECT_TRUE(transport_.sent.empty());
  EXPECT_EQ(session_->in_flight(), 2u);
  waiting_.find("b")->second.Reply({"second"});
  waiting_.find("a")->second.Reply({"first"});
  EXPECT_EQ(transport_.sent,
            (std::vector<std::string>{R"({"jsonrpc":"2.0","id":2,"result":{"text":"second"}})",
                                      R"({"jsonrpc":"2.0","id":1,"result":{"text":"first"}})"}));
  waiting_.find("a")->second.Reply({"again"});
  EXPECT_EQ(transport_.sent.size(), 2u);
  EXPECT_EQ(session_->in_flight(), 0u);
  EXPECT_TRUE(cancelled_.empty());
}

TEST_F(SessionTest, IsSilentAboutACancelledRequest) {
  Initialize();
  AskSlow(1, "a");
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                  R"("params":{"requestId":1,"reason":"no"}})")
                  .empty());
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  waiting_.find("a")->second.Reply({"late"});
  EXPECT_TRUE(transport_.sent.empty());
  EXPECT_EQ(session_->in_flight(), 0u);
}

TEST_F(SessionTest, IgnoresCancellationsOfNothing) {
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

TEST_F(SessionTest, RunsACancelHookThatComesTooLate) {
  Initialize();
  AskSlow(1, "a");
  transport_.Receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  bool ran = false;
  waiting_.find("a")->second.OnCancel([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST_F(SessionTest, ReportsProgressToThoseWhoAsked) {
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

TEST_F(SessionTest, AnswersForHandlersThatForgetOrThrow) {
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

TEST_F(SessionTest, RefusesAnIdInUseWithoutTouchingTheFirst) {
  Initialize();
  AskSlow(1, "a");
  const auto sent = Ask(R"({"jsonrpc":"2.0","id":1,"method":"slow","params":{"name":"b"}})");
  EXPECT_EQ(sent, std::vector<std::string>{R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                                           R"("message":"id 1 belongs to a request in flight"}})"});
  transport_.Receive(R"({"jsonrpc":"2.0","id":"1","method":"slow","params":{"name":"c"}})");
  EXPECT_EQ(session_->in_flight(), 2u);
}

TEST_F(SessionTest, BoundsTheRequestsInFlight) {
  SessionOptions options;
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

TEST_F(SessionTest, SaysNothingToNotificationsAndResponses) {
  Initialize();
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","method":"no/such"})").empty());
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","id":5,"result":{}})").empty());
  EXPECT_TRUE(Ask(R"({"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}})").empty());
}

TEST_F(SessionTest, AnswersABatchWithOneArray) {
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

TEST_F(SessionTest, IsSilentAboutABatchOfNotifications) {
  Initialize("2025-03-26");
  EXPECT_TRUE(Ask(R"([{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}])").empty());
}

TEST_F(SessionTest, RefusesBatchesWhereTheRevisionHasNone) {
  Initialize("2025-06-18");
  const auto sent = Ask(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_NE(sent[0].find("batches are not part of protocol version 2025-06-18"), std::string::npos);
}

TEST_F(SessionTest, TellsOfAMessageThatWasTooLong) {
  transport_.receiver().OnRefusedMessage(Error(Errc::kLimit, "message longer than 5 bytes"));
  EXPECT_EQ(transport_.sent,
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                                     R"("message":"message longer than 5 bytes"}})"});
}

TEST_F(SessionTest, ClosesAtTheEndOfInput) {
  Initialize();
  transport_.receiver().OnEndOfInput();
  EXPECT_EQ(transport_.closes, 1);
  transport_.receiver().OnClosed({});
  EXPECT_EQ(ended_, "ok");
}

TEST_F(SessionTest, LetsAnswersUnderWayFinishAfterTheEndOfInput) {
  Initialize();
  AskSlow(1, "a");
  transport_.receiver().OnEndOfInput();
  EXPECT_EQ(transport_.closes, 0);
  waiting_.find("a")->second.Reply({"x"});
  EXPECT_EQ(transport_.sent.size(), 1u);
  EXPECT_EQ(transport_.closes, 1);
}

TEST_F(SessionTest, CancelsWhatDoesNotFinishAfterTheEndOfInput) {
  SessionOptions options;
  options.drain_max = std::chrono::milliseconds(20);
  Restart(options);
  Initialize();
  AskSlow(1, "a");
  transport_.receiver().OnEndOfInput();
  context_.run();
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  EXPECT_EQ(transport_.closes, 1);
}

TEST_F(SessionTest, CancelsEverythingWhenTheClientIsLost) {
  Initialize();
  AskSlow(1, "a");
  AskSlow(2, "b");
  transport_.receiver().OnClosed(Error(Errc::kSystem, "gone"));
  EXPECT_EQ(cancelled_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(ended_, "gone");
}

TEST_F(SessionTest, OutlivedByItsCalls) {
  Initialize();
  AskSlow(1, "a", R"(,"_meta":{"progressToken":1})");
  session_.reset();
  EXPECT_EQ(cancelled_, std::vector<std::string>{"a"});
  waiting_.find("a")->second.Report({1, std::nullopt, "x"});
  waiting_.find("a")->second.Reply({"x"});
  EXPECT_TRUE(transport_.sent.empty());
}

}  // namespace
}  // namespace glovebox::mcp
