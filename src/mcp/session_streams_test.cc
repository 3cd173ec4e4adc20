#include "mcp/session_streams.h"

#include <string>

#include "mcp/http_endpoint_fixture.h"

namespace glovebox::mcp {
namespace {

using std::chrono::milliseconds;

// The id of the last event in a stream's text.
std::string LastEventId(const std::string& events) {
  const std::size_t begin = events.rfind("id: ");
  if (begin == std::string::npos) return {};
  return events.substr(begin + 4, events.find('\n', begin) - begin - 4);
}

class SessionStreamsTest : public HttpEndpointFixture {
 protected:
  Exchange Resume(const std::string& session, const std::string& last) {
    return Send(Listen(session, {{"Last-Event-ID", last}}));
  }
};

// Replies.

TEST_F(SessionStreamsTest, ASlowAnswerGetsAResumableStream) {
  const Exchange exchange = Send(LegacyTool(OpenSession(), "later"));
  EXPECT_FALSE(exchange->is_started);
  RunUntilStreaming(exchange);
  EXPECT_TRUE(exchange->streams());
  EXPECT_EQ(exchange->Take(), "id: 0-0\ndata: \n\n") << "something to come back with";
  held_[0].Reply({});
  EXPECT_TRUE(exchange->sent.starts_with("event: message\nid: 0-1\ndata: {")) << exchange->sent;
  EXPECT_TRUE(exchange->is_ended);
}

TEST_F(SessionStreamsTest, OlderRevisionsHaveNoPrimingEvent) {
  const Exchange exchange = Send(LegacyTool(OpenSession("2025-06-18"), "reports"));
  EXPECT_TRUE(exchange->sent.starts_with("event: message\nid: 0-0\ndata: {")) << exchange->sent;
}

TEST_F(SessionStreamsTest, GoingAwayDoesNotCancel) {
  const std::string session = OpenSession();
  const Exchange exchange = Send(LegacyTool(session, "later"));
  held_[0].Report({1, std::nullopt, ""});
  const std::string last = LastEventId(exchange->Take());
  exchange->Disconnect();
  EXPECT_EQ(cancelled_, 0);
  held_[0].Report({2, std::nullopt, ""});

  const Exchange resumed = Resume(session, last);
  EXPECT_EQ(resumed->status, 200u);
  EXPECT_TRUE(resumed->streams());
  const std::string missed = resumed->Take();
  EXPECT_NE(missed.find("\"progress\":2"), std::string::npos) << missed;
  EXPECT_EQ(missed.find("\"progress\":1"), std::string::npos) << missed;
  held_[0].Reply({});
  EXPECT_NE(resumed->sent.find("\"result\""), std::string::npos) << "and live from there";
  EXPECT_TRUE(resumed->is_ended);
  EXPECT_EQ(exchange->sent, "");
}

TEST_F(SessionStreamsTest, AnAnswerWaitsForTheClient) {
  const std::string session = OpenSession();
  const Exchange exchange = Send(LegacyTool(session, "later"));
  RunUntilStreaming(exchange);
  const std::string last = LastEventId(exchange->sent);
  exchange->Disconnect();
  held_[0].Reply({});
  for (int times = 0; times < 2; ++times) {
    const Exchange resumed = Resume(session, last);
    EXPECT_NE(resumed->sent.find("\"result\""), std::string::npos);
    EXPECT_TRUE(resumed->is_ended);
  }
}

TEST_F(SessionStreamsTest, OnlyThatStreamIsReplayed) {
  const std::string session = OpenSession();
  const Exchange first = Send(LegacyTool(session, "later", 1));
  const Exchange second = Send(LegacyTool(session, "later", 2));
  RunUntilStreaming(second);
  const std::string last = LastEventId(first->sent);
  first->Disconnect();
  second->Disconnect();
  held_[0].Reply({});
  held_[1].Reply({});
  const Exchange resumed = Resume(session, last);
  EXPECT_NE(resumed->sent.find("\"id\":1"), std::string::npos);
  EXPECT_EQ(resumed->sent.find("\"id\":2"), std::string::npos);
}

TEST_F(SessionStreamsTest, AnotherSessionsEventsAreNotThere) {
  const std::string session = OpenSession();
  const Exchange exchange = Send(LegacyTool(session, "later"));
  RunUntilStreaming(exchange);
  EXPECT_EQ(Resume(OpenSession(), LastEventId(exchange->sent))->status, 400u);
}

TEST_F(SessionStreamsTest, BadEventIds) {
  const std::string session = OpenSession();
  for (const char* id : {"", "x", "0-0", "99-0", "-1-0", "0-0-0"}) {
    const Exchange exchange = Resume(session, id);
    EXPECT_EQ(exchange->status, 400u) << id;
    EXPECT_FALSE(exchange->streams());
  }
}

TEST_F(SessionStreamsTest, ResumingTakesTheStreamOver) {
  const std::string session = OpenSession();
  const Exchange stale = Send(LegacyTool(session, "later"));
  RunUntilStreaming(stale);
  const Exchange fresh = Resume(session, LastEventId(stale->Take()));
  EXPECT_TRUE(stale->is_ended);
  stale->Disconnect();
  held_[0].Reply({});
  EXPECT_NE(fresh->sent.find("\"result\""), std::string::npos);
}

TEST_F(SessionStreamsTest, AReleasedStreamIsPolled) {
  const std::string session = OpenSession();
  const Exchange exchange = Send(LegacyTool(session, "later"));
  held_[0].call()->ReleaseStream(milliseconds(50));
  EXPECT_EQ(exchange->sent, "id: 0-0\ndata: \n\nretry: 50\n\n");
  EXPECT_TRUE(exchange->is_ended);
  const Exchange polled = Resume(session, "0-0");
  EXPECT_FALSE(polled->is_ended);
  held_[0].Reply({});
  EXPECT_NE(polled->sent.find("\"result\""), std::string::npos);
}

TEST_F(SessionStreamsTest, CancelledRequestsEndWithoutAnAnswer) {
  const std::string session = OpenSession();
  const Exchange waiting = Send(LegacyTool(session, "later", 1));
  const Exchange streaming = Send(LegacyTool(session, "later", 2));
  held_[1].Report({1, std::nullopt, ""});
  for (const char* id : {"1", "2"}) {
    Send(Legacy(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                         R"("params":{"requestId":)" +
                             std::string(id) + "}}"));
  }
  EXPECT_EQ(cancelled_, 2);
  EXPECT_TRUE(waiting->streams());
  EXPECT_TRUE(waiting->is_ended);
  EXPECT_EQ(waiting->sent, "");
  EXPECT_TRUE(streaming->is_ended);
  EXPECT_EQ(streaming->sent.find("\"result\""), std::string::npos);
  // Clients come back for a stream that ended without an answer, until they are told not to.
  EXPECT_EQ(Resume(session, LastEventId(streaming->sent))->status, 204u);
}

TEST_F(SessionStreamsTest, QuestionsTravelOnTheRequestsStream) {
  const Exchange opened = Send(Post(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
      R"("capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}})"));
  const std::string session(opened->HeaderOf("mcp-session-id"));
  const Exchange exchange = Send(LegacyTool(session, "asks"));
  EXPECT_NE(exchange->sent.find("\"method\":\"roots/list\""), std::string::npos);
  EXPECT_FALSE(exchange->is_ended);
}

TEST_F(SessionStreamsTest, ReportsThatNobodyReadsDoNotDisplaceAnswers) {
  HttpEndpointOptions options = Options();
  options.replay_bytes_max = 2000;
  endpoint_.emplace(server_, options);
  const std::string session = OpenSession();
  const Exchange first = Send(LegacyTool(session, "later", 1));
  const Exchange second = Send(LegacyTool(session, "later", 2));
  RunUntilStreaming(second);
  const std::string last = LastEventId(first->sent);
  first->Disconnect();
  second->Disconnect();
  held_[0].Reply({});
  for (int count = 0; count < 100; ++count) held_[1].Report({1.0 * count, std::nullopt, ""});
  EXPECT_NE(Resume(session, last)->sent.find("\"result\""), std::string::npos);
}

// The stream that belongs to no request.

TEST_F(SessionStreamsTest, AListeningClientHearsOfChanges) {
  const std::string session = OpenSession();
  server_.changes().Publish({Change::Kind::kToolsList});
  const Exchange exchange = Send(Listen(session));
  EXPECT_EQ(exchange->status, 200u);
  EXPECT_EQ(exchange->Take(), "id: 0-0\ndata: \n\n") << "nothing from before";
  server_.changes().Publish({Change::Kind::kToolsList});
  const std::string heard = exchange->Take();
  EXPECT_NE(heard.find("notifications/tools/list_changed"), std::string::npos);
  exchange->Disconnect();
  server_.changes().Publish({Change::Kind::kToolsList});
  const Exchange resumed = Resume(session, LastEventId(heard));
  EXPECT_NE(resumed->Take().find("notifications/tools/list_changed"), std::string::npos);
  server_.changes().Publish({Change::Kind::kToolsList});
  EXPECT_NE(resumed->Take().find("notifications/tools/list_changed"), std::string::npos);
}

TEST_F(SessionStreamsTest, AQuietListenerIsKeptAlive) {
  endpoint_.emplace(server_, KeepAliveOptions());
  const Exchange exchange = Send(Listen(OpenSession()));
  exchange->Take();
  EXPECT_TRUE(RunUntil([&] { return exchange->sent == ":\n\n:\n\n"; }));
}

TEST_F(SessionStreamsTest, OneListenerIsEnough) {
  const std::string session = OpenSession();
  const Exchange first = Send(Listen(session));
  EXPECT_EQ(Send(Listen(session))->status, 409u);
  first->Disconnect();
  EXPECT_EQ(Send(Listen(session))->status, 200u);
}

TEST_F(SessionStreamsTest, ListeningNeedsASessionAndTheRightAccept) {
  EXPECT_EQ(Send(Listen("unknown"))->status, 404u);
  EXPECT_EQ(Send(Http("GET", {{"Accept", "text/event-stream"}}))->status, 400u);
  const std::string session = OpenSession();
  const HttpHeaders json_only = {{"Mcp-Session-Id", session}, {"Accept", "application/json"}};
  EXPECT_EQ(Send(Http("GET", json_only))->status, 406u);
}

TEST_F(SessionStreamsTest, DrainingEndsListeningAndRefusesNewcomers) {
  const std::string session = OpenSession();
  const Exchange listening = Send(Listen(session));
  const Exchange pending = Send(LegacyTool(session, "later"));
  endpoint_->Drain();
  EXPECT_TRUE(listening->is_ended);
  EXPECT_FALSE(pending->is_ended) << "what ends by itself may";
  EXPECT_EQ(Send(Listen(session))->status, 503u);
  EXPECT_EQ(Send(Post(Initialize()))->status, 503u);
  EXPECT_EQ(Send(LegacyTool(session, "echo", 2))->status, 200u);
}

}  // namespace
}  // namespace glovebox::mcp
