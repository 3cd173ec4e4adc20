#include "mcp/change_feed.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/fake_call.h"
#include "mcp/json_writer.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Change::Kind;

constexpr const char* kAll =
    R"({"notifications":{"toolsListChanged":true,"promptsListChanged":true,)"
    R"("resourcesListChanged":true,"resourceSubscriptions":["test://a","test://b"]}})";

TEST(ChangeTest, HasAMethodAndParams) {
  EXPECT_EQ(MethodOf(Kind::kToolsList), "notifications/tools/list_changed");
  EXPECT_EQ(MethodOf(Kind::kPromptsList), "notifications/prompts/list_changed");
  EXPECT_EQ(MethodOf(Kind::kResourcesList), "notifications/resources/list_changed");
  EXPECT_EQ(MethodOf(Kind::kResourceUpdated), "notifications/resources/updated");
  EXPECT_TRUE(ParamsOf({Kind::kToolsList}).empty());
  EXPECT_EQ(WriteJson(ParamsOf({Kind::kResourceUpdated, "test://a"})), R"({"uri":"test://a"})");
}

TEST(ChangeFeedTest, ListenersHearChangesUntilTheirSubscriptionEnds) {
  ChangeFeed feed;
  std::vector<std::string> heard;
  std::optional<ChangeFeed::Subscription> first =
      feed.Listen([&](const Change&) { heard.emplace_back("first"); });
  const auto second = feed.Listen([&](const Change&) { heard.emplace_back("second"); });
  feed.Publish({Kind::kToolsList});
  EXPECT_THAT(heard, ElementsAre("first", "second"));
  first.reset();
  feed.Publish({Kind::kToolsList});
  EXPECT_THAT(heard, ElementsAre("first", "second", "second"));
}

TEST(ChangeFeedTest, ASubscriptionCanBeMovedAndReplaced) {
  ChangeFeed feed;
  int first = 0;
  int second = 0;
  ChangeFeed::Subscription a = feed.Listen([&](const Change&) { ++first; });
  ChangeFeed::Subscription b = std::move(a);
  feed.Publish({Kind::kToolsList});
  b = feed.Listen([&](const Change&) { ++second; });
  feed.Publish({Kind::kToolsList});
  b = {};
  feed.Publish({Kind::kToolsList});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(ChangeFeedTest, AListenerMayEndItselfAndOthersAndStartNewOnes) {
  ChangeFeed feed;
  std::vector<std::string> heard;
  std::optional<ChangeFeed::Subscription> self;
  std::optional<ChangeFeed::Subscription> other;
  std::optional<ChangeFeed::Subscription> late;
  const auto text = std::make_shared<std::string>("self");  // used after the end of the listening
  self = feed.Listen([&, text](const Change&) {
    self.reset();
    other.reset();
    late = feed.Listen([&](const Change&) { heard.emplace_back("late"); });
    heard.push_back(*text);
  });
  other = feed.Listen([&](const Change&) { heard.emplace_back("other"); });
  feed.Publish({Kind::kToolsList});
  EXPECT_THAT(heard, ElementsAre("self"));
  feed.Publish({Kind::kToolsList});
  EXPECT_THAT(heard, ElementsAre("self", "late"));
}

class SubscriptionTest : public testing::Test {
 protected:
  SubscriptionTest() { feed_->Register(router_, {true, true, true, true}); }

  std::shared_ptr<FakeCall> Listen(const char* params, RequestId id = std::int64_t{7},
                                   const std::string& principal = "alice") {
    const auto call = std::make_shared<FakeCall>(kModernVersion);
    call->request_id = std::move(id);
    call->call_context.principal = principal;
    return Ask(router_, "subscriptions/listen", params, call);
  }
  // What the router's handler says about bad params.
  std::string Refusal(const char* params) {
    const auto call = Listen(params);
    if (call->failures.size() != 1 || !call->notifications.empty()) return "not refused";
    EXPECT_EQ(call->failures[0].code, kInvalidParams);
    return call->failures[0].message;
  }
  static std::string Last(const FakeCall& call) {
    if (call.notifications.empty()) return "";
    const auto& [method, params] = call.notifications.back();
    return method + " " + WriteJson(params);
  }

  Router router_;
  std::unique_ptr<ChangeFeed> feed_ = std::make_unique<ChangeFeed>();
};

TEST_F(SubscriptionTest, ExistsInTheModernEraOnly) {
  EXPECT_EQ(router_.Find("subscriptions/listen", kNewestLegacyVersion), nullptr);
}

TEST_F(SubscriptionTest, TheFirstMessageAcknowledges) {
  const auto call = Listen(kAll);
  ASSERT_EQ(call->notifications.size(), 1u);
  EXPECT_EQ(Last(*call),
            R"(notifications/subscriptions/acknowledged {"notifications":{"toolsListChanged":true,)"
            R"("promptsListChanged":true,"resourcesListChanged":true,)"
            R"("resourceSubscriptions":["test://a","test://b"]},)"
            R"("_meta":{"io.modelcontextprotocol/subscriptionId":7}})");
  EXPECT_TRUE(call->replies.empty());
}

TEST_F(SubscriptionTest, TheIdKeepsItsType) {
  const auto call = Listen(R"({"notifications":{}})", "7");
  EXPECT_EQ(Last(*call), R"(notifications/subscriptions/acknowledged {"notifications":{},)"
                         R"("_meta":{"io.modelcontextprotocol/subscriptionId":"7"}})");
}

TEST_F(SubscriptionTest, OnlyWhatIsOfferedAndAskedForIsAcknowledgedAndTold) {
  ChangeFeed feed;
  Router router;
  feed.Register(router, {.tools = true, .resources = true});
  const auto call = std::make_shared<FakeCall>(kModernVersion);
  Ask(router, "subscriptions/listen",
      R"({"notifications":{"toolsListChanged":true,"promptsListChanged":true,)"
      R"("resourcesListChanged":false,"resourceSubscriptions":["test://a"]}})",
      call);
  EXPECT_THAT(Last(*call), HasSubstr(R"({"notifications":{"toolsListChanged":true},)"));
  feed.Publish({Kind::kPromptsList});
  feed.Publish({Kind::kResourcesList});
  feed.Publish({Kind::kResourceUpdated, "test://a"});
  EXPECT_EQ(call->notifications.size(), 1u);
  feed.Publish({Kind::kToolsList});
  EXPECT_EQ(call->notifications.size(), 2u);
}

TEST_F(SubscriptionTest, EachChangeIsPassedOnWithTheSubscriptionsId) {
  const auto call = Listen(kAll);
  feed_->Publish({Kind::kToolsList});
  EXPECT_EQ(Last(*call), R"(notifications/tools/list_changed )"
                         R"({"_meta":{"io.modelcontextprotocol/subscriptionId":7}})");
  feed_->Publish({Kind::kResourceUpdated, "test://b"});
  EXPECT_EQ(Last(*call), R"(notifications/resources/updated {"uri":"test://b",)"
                         R"("_meta":{"io.modelcontextprotocol/subscriptionId":7}})");
  feed_->Publish({Kind::kResourceUpdated, "test://c"});
  EXPECT_EQ(call->notifications.size(), 3u) << "nobody asked for test://c";
}

TEST_F(SubscriptionTest, SeveralAtOnceAreToldApart) {
  const auto tools = Listen(R"({"notifications":{"toolsListChanged":true}})", std::int64_t{1});
  const auto prompts = Listen(R"({"notifications":{"promptsListChanged":true}})", std::int64_t{2});
  feed_->Publish({Kind::kToolsList});
  feed_->Publish({Kind::kPromptsList});
  EXPECT_THAT(Last(*tools), HasSubstr("tools/list_changed"));
  EXPECT_THAT(Last(*prompts), HasSubstr(R"("io.modelcontextprotocol/subscriptionId":2)"));
  EXPECT_EQ(tools->notifications.size() + prompts->notifications.size(), 4u);
}

TEST_F(SubscriptionTest, BadParamsAreNamed) {
  EXPECT_THAT(Refusal("{}"), HasSubstr("params.notifications must be given"));
  EXPECT_THAT(Refusal(R"({"notifications":[]})"), HasSubstr("params.notifications must be"));
  EXPECT_THAT(Refusal(R"({"notifications":{"toolsListChanged":1}})"),
              HasSubstr("params.notifications.toolsListChanged must be a boolean"));
  EXPECT_THAT(Refusal(R"({"notifications":{"promptsListChanged":"yes"}})"),
              HasSubstr("params.notifications.promptsListChanged"));
  EXPECT_THAT(Refusal(R"({"notifications":{"resourcesListChanged":null}})"),
              HasSubstr("params.notifications.resourcesListChanged"));
  for (const char* uris : {R"("test://a")", "[1]", "{}"}) {
    const std::string params =
        std::string(R"({"notifications":{"resourceSubscriptions":)") + uris + "}}";
    EXPECT_THAT(Refusal(params.c_str()),
                HasSubstr("params.notifications.resourceSubscriptions must be an array of URIs"));
  }
  EXPECT_EQ(feed_->stream_count(), 0u);
}

TEST_F(SubscriptionTest, UrisAreBounded) {
  const auto params = [](std::size_t count, std::size_t bytes) {
    json::array uris;
    for (std::size_t i = 0; i < count; ++i) uris.emplace_back(std::string(bytes, 'u'));
    return WriteJson(json::object{{"notifications", {{"resourceSubscriptions", uris}}}});
  };
  EXPECT_THAT(Refusal(params(ChangeFeed::kUrisMax + 1, 1).c_str()), HasSubstr("at most 1000 URIs"));
  EXPECT_THAT(Refusal(params(1, ChangeFeed::kUriBytesMax + 1).c_str()), HasSubstr("65536 bytes"));
  EXPECT_TRUE(Listen(params(ChangeFeed::kUrisMax, 65).c_str())->failures.empty());
}

TEST_F(SubscriptionTest, TasksAreForThoseWhoDeclareThem) {
  constexpr const char* kTasks = R"({"notifications":{"taskIds":["x"]}})";
  const auto refused = Listen(kTasks);
  ASSERT_EQ(refused->failures.size(), 1u);
  EXPECT_EQ(refused->failures[0].code, kMissingClientCapability);
  const auto call = std::make_shared<FakeCall>(kModernVersion);
  call->call_context.capabilities.tasks = true;
  Ask(router_, "subscriptions/listen", kTasks, call);
  EXPECT_THAT(Last(*call), HasSubstr(R"("notifications":{})")) << "to be asked for by tasks/get";
}

TEST_F(SubscriptionTest, EndsWhenTheClientCancels) {
  const auto call = Listen(kAll);
  EXPECT_EQ(feed_->stream_count(), 1u);
  std::exchange(call->cancel_hook, nullptr)();
  EXPECT_EQ(feed_->stream_count(), 0u);
  feed_->Publish({Kind::kToolsList});
  EXPECT_EQ(call->notifications.size(), 1u);
  EXPECT_TRUE(call->replies.empty());
  EXPECT_EQ(call.use_count(), 1) << "nothing holds the call any more";
}

TEST_F(SubscriptionTest, TheServerEndsItWithAnEmptyResult) {
  const auto call = Listen(kAll);
  feed_->EndStreams();
  ASSERT_EQ(call->replies.size(), 1u);
  EXPECT_EQ(WriteJson(call->replies[0]),
            R"({"_meta":{"io.modelcontextprotocol/subscriptionId":7}})");
  feed_->Publish({Kind::kToolsList});
  EXPECT_EQ(call->notifications.size(), 1u);
  EXPECT_EQ(feed_->stream_count(), 0u);
}

TEST_F(SubscriptionTest, WhoComesAfterTheEndIsAcknowledgedAndEnded) {
  feed_->EndStreams();
  const auto call = Listen(kAll);
  EXPECT_EQ(call->notifications.size(), 1u);
  EXPECT_EQ(call->replies.size(), 1u);
  EXPECT_EQ(feed_->stream_count(), 0u);
}

TEST_F(SubscriptionTest, OneClientCannotTakeAllPlaces) {
  std::vector<std::shared_ptr<FakeCall>> calls;
  for (std::size_t i = 0; i < ChangeFeed::kStreamsPerClientMax; ++i) calls.push_back(Listen(kAll));
  const auto refused = Listen(kAll);
  ASSERT_EQ(refused->failures.size(), 1u);
  EXPECT_EQ(refused->failures[0].code, kInternalError);
  EXPECT_THAT(refused->failures[0].message, HasSubstr("at most 128 for each client"));
  EXPECT_TRUE(Listen(kAll, std::int64_t{1}, "bob")->failures.empty());
  std::exchange(calls[0]->cancel_hook, nullptr)();
  EXPECT_TRUE(Listen(kAll)->failures.empty());
}

TEST_F(SubscriptionTest, AllClientsTogetherHaveABound) {
  for (std::size_t i = 0; i < ChangeFeed::kStreamsMax; ++i) {
    ASSERT_TRUE(Listen(kAll, std::int64_t{1}, std::to_string(i % 100))->failures.empty());
  }
  EXPECT_EQ(Listen(kAll, std::int64_t{1}, "late")->failures.size(), 1u);
}

TEST_F(SubscriptionTest, ACancellationAfterTheFeedIsGoneDoesNothing) {
  const auto call = Listen(kAll);
  feed_.reset();
  std::exchange(call->cancel_hook, nullptr)();
}

}  // namespace
}  // namespace glovebox::mcp
