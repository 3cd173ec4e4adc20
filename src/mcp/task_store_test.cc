#include "mcp/task_store.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/fake_call.h"
#include "mcp/json_writer.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

class TaskStoreTest : public testing::Test {
 protected:
  TaskStoreTest() { Restart({}); }

  void Restart(TaskOptions options) {
    store_.reset();
    router_ = {};
    store_ = std::make_unique<TaskStore>(io_.get_executor(), options);
    store_->Register(router_);
  }

  static CallContext ContextOf(const std::string& principal) {
    CallContext context;
    context.version = kModernVersion;
    context.capabilities.tasks = true;
    context.capabilities.elicitation_form = true;
    context.principal = principal;
    return context;
  }

  // A task of alice's whose handler is `again`; its name.
  std::string Start(TaskStore::Handler again = [](const auto&) {}) {
    auto created = store_->Create(ContextOf("alice"), std::move(again));
    EXPECT_TRUE(created.ok());
    call_ = created->call;
    return std::string(created->answer.at("taskId").as_string());
  }

  std::shared_ptr<FakeCall> Request(const char* method, const std::string& params,
                                    const CallContext& context) {
    auto call = std::make_shared<FakeCall>(kModernVersion);
    call->call_context = context;
    Ask(router_, method, params, call);
    EXPECT_EQ(call->replies.size() + call->failures.size(), 1u) << method;
    return call;
  }
  std::shared_ptr<FakeCall> Request(const char* method, const std::string& id) {
    return Request(method, R"({"taskId":")" + id + R"("})", ContextOf("alice"));
  }
  json::object Get(const std::string& id) {
    const auto call = Request("tasks/get", id);
    return call->replies.empty() ? json::object() : call->replies[0];
  }
  std::string StatusOf(const std::string& id) {
    const json::object task = Get(id);
    return task.empty() ? "unknown" : std::string(task.at("status").as_string());
  }
  // Answers questions; what became of the answer.
  std::shared_ptr<FakeCall> Update(const std::string& id, const std::string& answers) {
    return Request("tasks/update", R"({"taskId":")" + id + R"(","inputResponses":)" + answers + "}",
                   ContextOf("alice"));
  }
  void Settle() {
    io_.restart();
    io_.poll();
  }

  static InputRequired Ask2(std::string state = "") {
    InputRequired input;
    input.requests["name"] = FormElicitation{"Who?", {}};
    input.requests["place"] = FormElicitation{"Where?", {}};
    input.state = std::move(state);
    return input;
  }

  boost::asio::io_context io_;
  Router router_;
  std::unique_ptr<TaskStore> store_;
  std::shared_ptr<Call> call_;  // the newest task's
};

TEST_F(TaskStoreTest, ATaskIsKnownBeforeItsNameIsTold) {
  const auto created = store_->Create(ContextOf("alice"), [](const auto&) {});
  ASSERT_TRUE(created.ok());
  const json::object& answer = created->answer;
  EXPECT_EQ(answer.at("resultType"), "task");
  EXPECT_EQ(answer.at("status"), "working");
  EXPECT_EQ(answer.at("ttlMs"), 600'000);
  EXPECT_EQ(answer.at("pollIntervalMs"), 500);
  const std::string created_at(answer.at("createdAt").as_string());
  EXPECT_THAT(created_at, MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z"));
  EXPECT_EQ(answer.at("lastUpdatedAt"), answer.at("createdAt"));
  for (const char* field : {"result", "error", "inputRequests", "requestState", "task", "ttl"}) {
    EXPECT_FALSE(answer.contains(field)) << field;
  }
  const json::object task = Get(std::string(answer.at("taskId").as_string()));
  EXPECT_EQ(task.at("taskId"), answer.at("taskId"));
  EXPECT_EQ(task.at("status"), "working");
  EXPECT_FALSE(task.contains("resultType")) << "the carrier's matter";
}

TEST_F(TaskStoreTest, TheCallIsTheTasks) {
  const std::string id = Start();
  EXPECT_EQ(call_->id(), RequestId(id));
  EXPECT_EQ(call_->ContinueAsTask(), call_);
  EXPECT_TRUE(call_->wants_progress());
  EXPECT_EQ(call_->context().principal, "alice");
}

TEST_F(TaskStoreTest, TheFirstRoundKeepsWhatTheRequestBrought) {
  CallContext context = ContextOf("alice");
  context.inputs = InputResponses({{"user_name", {{"action", "accept"}}}});
  context.state = "round 2";
  const auto created = store_->Create(context, [](const auto&) {});
  EXPECT_TRUE(created->call->context().inputs.Find("user_name") != nullptr);
  EXPECT_EQ(created->call->context().state, "round 2");
}

TEST_F(TaskStoreTest, AReplyCompletesIt) {
  const std::string id = Start();
  call_->Reply({{"content", json::array()}, {"isError", true}});
  const json::object task = Get(id);
  EXPECT_EQ(task.at("status"), "completed");
  EXPECT_EQ(WriteJson(task.at("result")),
            R"({"content":[],"isError":true,"resultType":"complete"})");
  EXPECT_FALSE(task.contains("error"));
  EXPECT_FALSE(task.contains("statusMessage"));
}

TEST_F(TaskStoreTest, AFailureIsAnError) {
  const std::string id = Start();
  call_->Fail({-32603, "the disk is full", json::value("sda")});
  const json::object task = Get(id);
  EXPECT_EQ(task.at("status"), "failed");
  EXPECT_EQ(WriteJson(task.at("error")),
            R"({"code":-32603,"message":"the disk is full","data":"sda"})");
  EXPECT_EQ(task.at("statusMessage"), "the disk is full");
  EXPECT_FALSE(task.contains("result"));
}

TEST_F(TaskStoreTest, TheFirstAnswerCounts) {
  const std::string id = Start();
  call_->Reply({{"n", 1}});
  call_->Reply({{"n", 2}});
  call_->Fail({});
  call_->NeedInput(Ask2());
  EXPECT_EQ(Get(id).at("result").at("n"), 1);
}

TEST_F(TaskStoreTest, ADroppedCallIsAFailure) {
  const std::string id = Start();
  call_.reset();
  EXPECT_EQ(Get(id).at("error").at("message"), "the request was dropped");
}

TEST_F(TaskStoreTest, TheLastReportIsTheStatusMessage) {
  const std::string id = Start();
  call_->Report({1, 3, "one of three"});
  call_->Report({2, 3, ""});
  EXPECT_EQ(Get(id).at("statusMessage"), "one of three");
  call_->Report({3, 3, std::string(1000, 'x') + "\xff"});
  EXPECT_EQ(Get(id).at("statusMessage"), json::value(std::string(500, 'x')));
  call_->Reply({});
  EXPECT_FALSE(Get(id).contains("statusMessage"));
  call_->Report({4, 3, "late"});
  EXPECT_FALSE(Get(id).contains("statusMessage"));
}

TEST_F(TaskStoreTest, ATaskIsItsCallersOnly) {
  const std::string id = Start();
  const std::string params = R"({"taskId":")" + id + R"(","inputResponses":{}})";
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const auto foreign = Request(method, params, ContextOf("bob"));
    const auto unknown =
        Request(method, R"({"taskId":"x","inputResponses":{}})", ContextOf("alice"));
    ASSERT_EQ(foreign->failures.size(), 1u) << method;
    ASSERT_EQ(unknown->failures.size(), 1u) << method;
    EXPECT_EQ(foreign->failures[0].code, kInvalidParams);
    EXPECT_EQ(foreign->failures[0].message, unknown->failures[0].message);
    EXPECT_THAT(unknown->failures[0].message, HasSubstr("params.taskId"));
  }
  EXPECT_EQ(StatusOf(id), "working");
}

TEST_F(TaskStoreTest, WhoDidNotDeclareTasksIsToldSo) {
  const std::string id = Start();
  CallContext context = ContextOf("alice");
  context.capabilities.tasks = false;
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const auto call = Request(method, R"({"taskId":")" + id + R"(","inputResponses":{}})", context);
    ASSERT_EQ(call->failures.size(), 1u) << method;
    EXPECT_EQ(call->failures[0].code, kMissingClientCapability);
    EXPECT_EQ(WriteJson(*call->failures[0].data),
              R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})");
  }
  EXPECT_EQ(StatusOf(id), "working");
}

TEST_F(TaskStoreTest, MethodsExistInTheModernEraOnly) {
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    EXPECT_EQ(router_.Find(method, kNewestLegacyVersion), nullptr);
  }
}

TEST_F(TaskStoreTest, BadParamsAreNamed) {
  const auto refusal = [this](const char* method, const char* params) {
    const auto call = Request(method, params, ContextOf("alice"));
    return call->failures.empty() ? "taken" : call->failures[0].message;
  };
  EXPECT_THAT(refusal("tasks/get", "{}"), HasSubstr("params.taskId"));
  EXPECT_THAT(refusal("tasks/cancel", R"({"taskId":1})"), HasSubstr("params.taskId"));
  EXPECT_THAT(refusal("tasks/update", R"({"taskId":"x"})"), HasSubstr("params.inputResponses"));
  EXPECT_THAT(refusal("tasks/update", R"({"taskId":"x","inputResponses":[]})"),
              HasSubstr("params.inputResponses"));
}

TEST_F(TaskStoreTest, CancellingRunsTheHookAndSilencesTheCall) {
  const std::string id = Start();
  int stopped = 0;
  call_->OnCancel([&stopped] { ++stopped; });
  const auto ack = Request("tasks/cancel", id);
  EXPECT_EQ(WriteJson(ack->replies.at(0)), "{}");
  EXPECT_EQ(stopped, 1);
  call_->Reply({});
  const json::object task = Get(id);
  EXPECT_EQ(task.at("status"), "cancelled");
  EXPECT_FALSE(task.contains("result") || task.contains("error"));
  EXPECT_EQ(WriteJson(Request("tasks/cancel", id)->replies.at(0)), "{}") << "as often as you like";
  EXPECT_EQ(stopped, 1);
}

TEST_F(TaskStoreTest, AHookThatComesLateRunsAtOnce) {
  const std::string id = Start();
  Request("tasks/cancel", id);
  int stopped = 0;
  call_->OnCancel([&stopped] { ++stopped; });
  EXPECT_EQ(stopped, 1);
}

TEST_F(TaskStoreTest, NothingIsCancelledAfterTheAnswer) {
  const std::string id = Start();
  int stopped = 0;
  call_->OnCancel([&stopped] { ++stopped; });
  call_->Reply({});
  call_->OnCancel([&stopped] { ++stopped; });
  EXPECT_EQ(WriteJson(Request("tasks/cancel", id)->replies.at(0)), "{}");
  EXPECT_EQ(stopped, 0);
  EXPECT_EQ(StatusOf(id), "completed");
}

TEST_F(TaskStoreTest, AHookMayHoldTheCallAndAnswerIt) {
  const std::string id = Start();
  call_->OnCancel([call = call_] { call->Fail({kInternalError, "stopped"}); });
  const std::weak_ptr<Call> weak = std::exchange(call_, nullptr);
  EXPECT_EQ(StatusOf(id), "working");
  Request("tasks/cancel", id);
  EXPECT_EQ(StatusOf(id), "cancelled");
  EXPECT_TRUE(weak.expired());
}

TEST_F(TaskStoreTest, AnEndedTaskHoldsNothingOfItsWork) {
  const auto ticket = std::make_shared<int>(1);
  Start([ticket](const auto&) {});
  call_->OnCancel([ticket] {});
  EXPECT_EQ(ticket.use_count(), 3);
  call_->Reply({});
  EXPECT_EQ(ticket.use_count(), 1);
}

TEST_F(TaskStoreTest, QuestionsAreAskedAndTheHandlerRunsAgainWithTheAnswers) {
  std::vector<std::string> rounds;
  const std::string id = Start([&rounds](const std::shared_ptr<Call>& call) {
    const CallContext& context = call->context();
    rounds.push_back(WriteJson(context.inputs.all()) + context.state);
    call->Reply({{"done", true}});
  });
  call_->NeedInput(Ask2("step 2"));
  call_.reset();
  const json::object parked = Get(id);
  EXPECT_EQ(parked.at("status"), "input_required");
  EXPECT_EQ(parked.at("inputRequests").at("name").at("method"), "elicitation/create");
  EXPECT_EQ(parked.at("inputRequests").at("name").at("params").at("message"), "Who?");
  EXPECT_FALSE(parked.contains("requestState"));

  const auto ack = Update(id, R"({"name":{"action":"accept","content":{"name":"Ann"}}})");
  EXPECT_EQ(WriteJson(ack->replies.at(0)), "{}");
  const json::object half = Get(id);
  EXPECT_EQ(half.at("status"), "input_required");
  EXPECT_FALSE(half.at("inputRequests").as_object().contains("name"));
  EXPECT_TRUE(half.at("inputRequests").as_object().contains("place"));

  Update(id, R"({"place":{"action":"decline"},"name":{"action":"cancel"},"other":1})");
  EXPECT_TRUE(rounds.empty()) << "never inside the request that answers";
  EXPECT_EQ(StatusOf(id), "working");
  Settle();
  EXPECT_THAT(rounds, ElementsAre(R"({"name":{"action":"accept","content":{"name":"Ann"}},)"
                                  R"("place":{"action":"decline"}}step 2)"));
  EXPECT_EQ(StatusOf(id), "completed");
}

TEST_F(TaskStoreTest, EachRoundHasItsOwnAnswersAndQuestionsNewNames) {
  std::vector<std::string> rounds;
  const std::string id = Start([&rounds](const std::shared_ptr<Call>& call) {
    rounds.push_back(WriteJson(call->context().inputs.all()));
    if (rounds.size() == 3) return call->Reply({});
    InputRequired input;
    input.requests["name"] = FormElicitation{"Once more?", {}};
    call->NeedInput(std::move(input));
  });
  call_->NeedInput(Ask2());
  Update(id, R"({"name":{"n":1},"place":{"n":2}})");
  Settle();
  EXPECT_EQ(Get(id).at("inputRequests").as_object().begin()->key(), "name#2");
  Update(id, R"({"name":{"n":3}})");  // of the round before
  Settle();
  EXPECT_EQ(StatusOf(id), "input_required");
  Update(id, R"({"name#2":{"n":4}})");
  Settle();
  Update(id, R"({"name#3":{"n":5}})");
  Settle();
  EXPECT_EQ(StatusOf(id), "completed");
  EXPECT_THAT(rounds, ElementsAre(R"({"name":{"n":1},"place":{"n":2}})", R"({"name":{"n":4}})",
                                  R"({"name":{"n":5}})"));
}

TEST_F(TaskStoreTest, AnAnswerThatIsNoObjectIsRefusedWhole) {
  const std::string id = Start();
  call_->NeedInput(Ask2());
  const auto refused = Update(id, R"({"name":{"n":1},"place":12345})");
  ASSERT_EQ(refused->failures.size(), 1u);
  EXPECT_EQ(refused->failures[0].code, kInvalidParams);
  EXPECT_THAT(refused->failures[0].message, HasSubstr("params.inputResponses.place"));
  EXPECT_EQ(Get(id).at("inputRequests").as_object().size(), 2u);
}

TEST_F(TaskStoreTest, AnswersNobodyWaitsForAreIgnored) {
  const std::string id = Start();
  EXPECT_EQ(WriteJson(Update(id, R"({"name":{}})")->replies.at(0)), "{}");
  EXPECT_EQ(StatusOf(id), "working");
  call_->Reply({});
  EXPECT_EQ(WriteJson(Update(id, R"({"name":{}})")->replies.at(0)), "{}");
  Settle();
  EXPECT_EQ(StatusOf(id), "completed");
}

TEST_F(TaskStoreTest, AQuestionTheClientDidNotDeclareIsAnError) {
  const std::string id = Start();
  InputRequired input;
  input.requests["url"] = UrlElicitation{"Look", "https://example.org", "1"};
  input.requests["model"] = SamplingRequest{};
  call_->NeedInput(std::move(input));
  const json::object task = Get(id);
  EXPECT_EQ(task.at("status"), "failed");
  EXPECT_EQ(task.at("error").at("code"), kMissingClientCapability);
  EXPECT_EQ(WriteJson(task.at("error").at("data")),
            R"({"requiredCapabilities":{"sampling":{},"elicitation":{"url":{}}}})");
}

TEST_F(TaskStoreTest, StateAloneRunsTheHandlerAgain) {
  std::string state;
  const std::string id = Start([&state](const std::shared_ptr<Call>& call) {
    state = call->context().state;
    call->Reply({});
  });
  call_->NeedInput({{}, "step 2"});
  Settle();
  EXPECT_EQ(state, "step 2");
  EXPECT_EQ(StatusOf(id), "completed");
}

TEST_F(TaskStoreTest, AParkedTaskCanBeCancelled) {
  int runs = 0;
  int stopped = 0;
  const std::string id = Start([&runs](const auto&) { ++runs; });
  call_->OnCancel([&stopped] { ++stopped; });
  call_->NeedInput(Ask2());
  Request("tasks/cancel", id);
  EXPECT_EQ(StatusOf(id), "cancelled");
  EXPECT_FALSE(Get(id).contains("inputRequests"));
  Update(id, R"({"name":{},"place":{}})");
  Settle();
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(stopped, 0) << "nothing was at work";
}

TEST_F(TaskStoreTest, ACancellationBetweenAnswerAndRunWins) {
  int runs = 0;
  const std::string id = Start([&runs](const auto&) { ++runs; });
  call_->NeedInput(Ask2());
  Update(id, R"({"name":{},"place":{}})");
  Request("tasks/cancel", id);
  Settle();
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(StatusOf(id), "cancelled");
}

TEST_F(TaskStoreTest, AnExceptionOfTheHandlerIsAFailure) {
  const std::string id =
      Start([](const auto&) -> void { throw std::runtime_error("no such thing"); });
  call_->NeedInput({{}, "again"});
  Settle();
  EXPECT_THAT(std::string(Get(id).at("error").at("message").as_string()),
              HasSubstr("no such thing"));
}

TEST_F(TaskStoreTest, NothingMakesRoomBeforeItsTime) {
  Restart({.tasks_max = 3, .tasks_per_client_max = 2});
  const std::string first = Start();
  call_->Reply({});
  Start();
  const auto refused = store_->Create(ContextOf("alice"), [](const auto&) {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::kLimit);
  EXPECT_THAT(refused.error().message(), HasSubstr("at most 2 for each client"));
  EXPECT_EQ(StatusOf(first), "completed");
  EXPECT_TRUE(store_->Create(ContextOf("bob"), [](const auto&) {}).ok());
  EXPECT_FALSE(store_->Create(ContextOf("carol"), [](const auto&) {}).ok()) << "three in all";
}

TEST_F(TaskStoreTest, ResultsAreBoundedTogether) {
  Restart({.ttl = milliseconds(100), .result_bytes_max = 10'000});
  Start();
  call_->Reply({{"text", std::string(10'000, 'x')}});
  EXPECT_FALSE(store_->Create(ContextOf("alice"), [](const auto&) {}).ok());
  io_.restart();
  io_.run_for(milliseconds(300));
  EXPECT_TRUE(store_->Create(ContextOf("alice"), [](const auto&) {}).ok());
}

TEST_F(TaskStoreTest, LivesForItsTimeAndNoLonger) {
  Restart({.ttl = milliseconds(200), .tasks_per_client_max = 2});
  const std::string ended = Start();
  call_->Reply({});
  const std::string at_work = Start();
  int stopped = 0;
  call_->OnCancel([&stopped] { ++stopped; });
  io_.run_for(milliseconds(50));
  EXPECT_EQ(StatusOf(ended), "completed");
  EXPECT_EQ(store_->size(), 2u);
  io_.restart();
  io_.run_for(milliseconds(400));
  EXPECT_EQ(StatusOf(ended), "unknown");
  EXPECT_EQ(StatusOf(at_work), "unknown");
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(store_->size(), 0u);
  call_->Reply({});
  EXPECT_TRUE(store_->Create(ContextOf("alice"), [](const auto&) {}).ok());
}

TEST_F(TaskStoreTest, CancelAllStopsWorkAndTheClock) {
  const std::string ended = Start();
  call_->Reply({});
  const std::string at_work = Start();
  int stopped = 0;
  call_->OnCancel([&stopped] { ++stopped; });
  store_->CancelAll();
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(StatusOf(ended), "completed");
  EXPECT_EQ(StatusOf(at_work), "cancelled");
  EXPECT_FALSE(store_->Create(ContextOf("alice"), [](const auto&) {}).ok());
  io_.restart();
  io_.run();  // would wait for ten minutes with the timer
}

TEST_F(TaskStoreTest, CallsMayOutliveTheStore) {
  Start();
  const auto answered = call_;
  Start();
  int stopped = 0;
  call_->OnCancel([&stopped] { ++stopped; });
  store_.reset();
  io_.restart();
  io_.run();
  EXPECT_EQ(stopped, 0);
  answered->Reply({});
  EXPECT_EQ(answered->context().principal, "alice");
  call_->OnCancel([&stopped] { ++stopped; });
  EXPECT_EQ(stopped, 1) << "the client is gone";
}

}  // namespace
}  // namespace glovebox::mcp
