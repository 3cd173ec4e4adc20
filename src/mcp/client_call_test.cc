#include "mcp/client_call.h"

#include "mcp/client_fixture.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using Texts = std::vector<std::string>;

class ClientCallTest : public ClientFixture {
 protected:
  // Answers forms with what they ask for, and remembers it.
  ClientOptions WithForms() {
    ClientOptions options;
    options.input.form = [this](const FormElicitation& form, Reply<ElicitationAnswer> reply) {
      questions_.push_back(form.message);
      replies_.push_back(std::move(reply));
    };
    options.poll_interval = milliseconds(1);
    return options;
  }
  void Accept(std::string name) {
    const auto reply = replies_.back();
    replies_.pop_back();
    reply(ElicitationAnswer{ElicitationAnswer::Action::kAccept, {{"name", name}}});
  }
  static std::string Question(const std::string& key, const std::string& message) {
    return '"' + key + R"(":{"method":"elicitation/create","params":{"message":")" + message +
           R"(","requestedSchema":{"type":"object"}}})";
  }

  Texts questions_;
  std::vector<Reply<ElicitationAnswer>> replies_;
};

TEST_F(ClientCallTest, ACallAndItsResult) {
  ConnectModern();
  Call();
  EXPECT_EQ(server_.last_text(), R"(tools/call {"name":"t","arguments":{"a":1}})");
  EXPECT_EQ(outcome_, "");
  server_.Reply(kTextResult);
  EXPECT_EQ(outcome_, "ok: done");
  EXPECT_EQ(odd_, Texts{});
}

TEST_F(ClientCallTest, ErrorsNameWhatIsWrong) {
  ConnectModern();
  const auto reply = [this](std::string_view result) {
    Call();
    server_.Reply(result);
    return outcome_;
  };
  EXPECT_EQ(reply("{}"), "error: result.content must be an array");
  EXPECT_EQ(reply(R"({"content":[{"type":"text"}]})"),
            "error: result.content[0].text must be a string");
  EXPECT_EQ(reply(R"({"content":[],"resultType":"strange"})"),
            "error: the server answered tools/call with a result of type \"strange\"");
  EXPECT_EQ(reply("[]"), "error: the server sent a result that is no object");
  Call();
  server_.ReplyError(-32602, "no\\u001btool");
  EXPECT_EQ(outcome_, "error: the server answered error -32602: \"no\\u001btool\"");
  Call();
  server_.Fail({Error(Errc::kSystem, "connection lost")});
  EXPECT_EQ(outcome_, "error: connection lost");
  Call();
  server_.Say(R"({"jsonrpc":"2.0","id":)" + std::to_string(server_.last().id) + "}");
  EXPECT_EQ(
      outcome_,
      "error: the server sent something that is no message: neither a request nor a response");
}

TEST_F(ClientCallTest, TheRawMethodTellsAnErrorAnswerFromAFailure) {
  ConnectModern();
  int code = 0;
  const auto ask = [&] {
    client_->Request("x/y", {{"k", 1}}, {}, [&](const Result<RpcOutcome>& outcome) {
      code = !outcome.ok()                                ? 1
             : std::holds_alternative<RpcError>(*outcome) ? std::get<RpcError>(*outcome).code
                                                          : 2;
    });
  };
  ask();
  EXPECT_EQ(server_.last_text(), R"(x/y {"k":1})");
  server_.ReplyError(-32007, "no");
  EXPECT_EQ(code, -32007);
  ask();
  server_.Reply("{}");
  EXPECT_EQ(code, 2);
  ask();
  server_.Fail({Error(Errc::kSystem, "gone")});
  EXPECT_EQ(code, 1);
}

TEST_F(ClientCallTest, ListsAreAllPages) {
  ConnectModern();
  std::string names;
  const auto list = [&] {
    names.clear();
    client_->ListTools({}, [&](const Result<std::vector<ToolDefinition>>& tools) {
      if (!tools.ok()) names = "error: " + tools.error().message();
      if (tools.ok()) {
        for (const auto& tool : *tools) names += tool.name;
      }
    });
  };
  list();
  EXPECT_EQ(server_.last_text(), "tools/list {}");
  server_.Reply(R"({"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""})");
  EXPECT_EQ(server_.last_text(), R"(tools/list {"cursor":""})") << "an empty cursor is one";
  server_.Reply(R"({"tools":[{"name":"b","inputSchema":{}}],"nextCursor":"x"})");
  server_.Reply(R"({"tools":[]})");
  EXPECT_EQ(names, "ab");
  list();
  server_.Reply(R"({"tools":[],"nextCursor":"x"})");
  server_.Reply(R"({"tools":[],"nextCursor":"x"})");
  EXPECT_EQ(names, "error: the server's list of tools does not end");
  list();
  server_.Reply(R"({"tools":[{"name":"a"}]})");
  EXPECT_EQ(names, "error: result.tools[0].inputSchema must be an object");
  list();
  server_.ReplyError(-32601, "no tools");
  EXPECT_EQ(names, "error: the server answered error -32601: \"no tools\"");
}

TEST_F(ClientCallTest, ListsAreBounded) {
  ClientOptions options;
  options.list_items_max = 2;
  options.list_pages_max = 3;
  ConnectModern(options);
  std::string end;
  const auto list = [&] {
    client_->ListPrompts({}, [&](const Result<std::vector<PromptDefinition>>& prompts) {
      end = prompts.ok() ? std::to_string(prompts->size()) : prompts.error().message();
    });
  };
  list();
  server_.Reply(R"({"prompts":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(end, "2");
  list();
  server_.Reply(R"({"prompts":[{"name":"a"},{"name":"b"}],"nextCursor":"1"})");
  server_.Reply(R"({"prompts":[{"name":"c"}]})");
  EXPECT_EQ(end, "the server's list of prompts has more than 2 items");
  list();
  for (const char* cursor : {"1", "2", "3"}) {
    server_.Reply(R"({"prompts":[],"nextCursor":")" + std::string(cursor) + "\"}");
  }
  EXPECT_EQ(end, "the server's list of prompts does not end");
}

TEST_F(ClientCallTest, CancelTellsTheServerAndIsSilent) {
  ConnectModern();
  RequestHandle handle = Call();
  const auto id = server_.last().id;
  handle.Cancel();
  handle.Cancel();
  EXPECT_EQ(server_.notified,
            Texts{R"(notifications/cancelled {"requestId":)" + std::to_string(id) +
                  R"(,"reason":"cancelled by the caller"})"});
  EXPECT_EQ(server_.forgotten, std::vector<std::int64_t>{id});
  server_.ReplyTo(id, kTextResult);
  EXPECT_EQ(outcome_, "");
  EXPECT_EQ(odd_, Texts{}) << "a late answer is no offence";

  server_.closing_cancels = true;
  server_.notified.clear();
  handle = Call();
  handle.Cancel();
  EXPECT_EQ(server_.notified, Texts{}) << "closing the response is what tells";
  EXPECT_EQ(server_.forgotten.size(), 2u);

  handle = Call();
  server_.Reply(kTextResult);
  handle.Cancel();
  EXPECT_EQ(server_.forgotten.size(), 2u) << "after the end there is nothing to cancel";
}

TEST_F(ClientCallTest, SilenceEndsACall) {
  ConnectModern();
  Call({.silence_max = milliseconds(20)});
  server_.Misbehave(Error(Errc::kLimit, "the server sent a message longer than 9 bytes"));
  Run(milliseconds(60));
  EXPECT_EQ(outcome_,
            "error: no answer to tools/call in 20 ms; meanwhile the server sent a message longer "
            "than 9 bytes");
  EXPECT_EQ(server_.notified.size(), 1u) << "the server is told";
}

TEST_F(ClientCallTest, ProgressIsALifeSignAndTheWholeTimeIsABound) {
  ConnectModern();
  std::string heard;
  Call({.silence_max = milliseconds(50),
        .time_max = milliseconds(150),
        .on_progress = [&](const Progress& progress) { heard += progress.message; }});
  EXPECT_EQ(server_.last().params.at("_meta").at("progressToken"), json::value(server_.last().id));
  for (int report = 0; report < 7 && outcome_.empty(); ++report) {
    Run(milliseconds(25));
    server_.Say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                std::to_string(server_.last().id) + R"(,"progress":1,"message":"x"}})");
  }
  EXPECT_EQ(outcome_, "error: tools/call took longer than 150 ms and was given up");
  EXPECT_GE(heard.size(), 4u);
}

TEST_F(ClientCallTest, NoTimeLimitIsNone) {
  ConnectModern();
  Call({.silence_max = milliseconds(0), .time_max = milliseconds(0)});
  Run(milliseconds(20));
  server_.Reply(kTextResult);
  EXPECT_EQ(outcome_, "ok: done");
}

TEST_F(ClientCallTest, QuestionsAreAnsweredAndTheRequestComesAgain) {
  ConnectModern(WithForms());
  Call({.silence_max = milliseconds(20)});
  const auto first = server_.last().id;
  server_.Reply(R"({"resultType":"input_required","requestState":"s1","inputRequests":{)" +
                Question("a", "first?") + ',' + Question("b", "second?") + "}}");
  EXPECT_EQ(questions_, Texts{"first?"}) << "one after the other";
  Run(milliseconds(50));
  EXPECT_EQ(outcome_, "") << "the time of the user is not the server's silence";
  Accept("x");
  Accept("y");
  EXPECT_NE(server_.last().id, first);
  EXPECT_EQ(server_.last_text(),
            R"(tools/call {"name":"t","arguments":{"a":1},"inputResponses":)"
            R"({"a":{"action":"accept","content":{"name":"x"}},)"
            R"("b":{"action":"accept","content":{"name":"y"}}},"requestState":"s1"})");
  server_.Reply(R"({"resultType":"input_required","inputRequests":{)" + Question("c", "third?") +
                "}}");
  replies_.back()(ElicitationAnswer{});
  EXPECT_EQ(server_.last_text(), R"(tools/call {"name":"t","arguments":{"a":1},"inputResponses":)"
                                 R"({"c":{"action":"decline"}}})")
      << "neither old answers nor an old state";
  server_.Reply(kTextResult);
  EXPECT_EQ(outcome_, "ok: done");
}

TEST_F(ClientCallTest, AStateWithoutQuestionsIsEchoed) {
  ConnectModern();
  Call();
  server_.Reply(R"({"resultType":"input_required","requestState":"later"})");
  EXPECT_EQ(server_.last_text(),
            R"(tools/call {"name":"t","arguments":{"a":1},"requestState":"later"})");
}

TEST_F(ClientCallTest, BadQuestionsAreErrors) {
  ConnectModern(WithForms());
  const auto reply = [this](std::string_view members) {
    Call();
    server_.Reply(R"({"resultType":"input_required")" + std::string(members) + "}");
    return outcome_;
  };
  EXPECT_EQ(reply(""), "error: the server wants input and does not say which");
  EXPECT_EQ(reply(R"(,"requestState":7)"), "error: result.requestState must be a string");
  EXPECT_EQ(reply(R"(,"inputRequests":7)"),
            "error: the server's question result.inputRequests must be an object");
  EXPECT_EQ(reply(R"(,"inputRequests":{"k":7})"),
            "error: the server's question \"k\" has no method");
  EXPECT_EQ(reply(R"(,"inputRequests":{"k":{"method":"x/y"}})"),
            "error: the server's question \"k\": no client can be asked for that");
  EXPECT_EQ(reply(R"(,"inputRequests":{"k":{"method":"elicitation/create"}})"),
            "error: the server's question \"k\": params.message must be a string");
  EXPECT_EQ(reply(R"(,"inputRequests":{"k":{"method":"roots/list"}})"),
            "error: the server's question \"k\": the server asks for the client's folders, which "
            "this client did not offer");
  Call();
  std::string many;
  for (int key = 0; key < 20; ++key) many += (key ? "," : "") + Question(std::to_string(key), "?");
  server_.Reply(R"({"resultType":"input_required","inputRequests":{)" + many + "}}");
  EXPECT_EQ(outcome_, "error: the server's question is too many questions at once");

  client_->ListTools({}, [this](const auto& tools) { outcome_ = tools.error().message(); });
  server_.Reply(R"({"resultType":"input_required","requestState":"s"})");
  EXPECT_EQ(outcome_, "the server answered tools/list with a result of type \"input_required\"");
}

TEST_F(ClientCallTest, RoundsAreBounded) {
  ClientOptions options;
  options.rounds_max = 3;
  ConnectModern(options);
  Call();
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(outcome_, "");
    server_.Reply(R"({"resultType":"input_required","requestState":"s"})");
  }
  EXPECT_EQ(outcome_, "error: the server asked more than 3 times");
}

TEST_F(ClientCallTest, AnAnswerThatIsRefusedOrDroppedEndsTheCall) {
  ConnectModern(WithForms());
  Call();
  server_.Reply(R"({"resultType":"input_required","inputRequests":{)" + Question("a", "?") + "}}");
  replies_.back()(Error(Errc::kInvalidArgument, "nobody is there"));
  EXPECT_EQ(outcome_, "error: the server's question \"a\": nobody is there");
  Call();
  server_.Reply(R"({"resultType":"input_required","inputRequests":{)" + Question("a", "?") + "}}");
  replies_.clear();
  EXPECT_EQ(outcome_,
            "error: the server's question \"a\": the question was dropped without an answer");
}

TEST_F(ClientCallTest, ATaskIsPolledToItsEnd) {
  ConnectModern(WithForms());
  std::string states;
  Call({.on_task = [&](const TaskStatus& status) { states += status.message + ' '; }});
  server_.Reply(R"({"resultType":"task","taskId":"T","status":"working","pollIntervalMs":1,)"
                R"("statusMessage":"begun"})");
  Run(milliseconds(100));
  EXPECT_EQ(server_.last_text(), R"(tasks/get {"taskId":"T"})");
  server_.Reply(R"({"taskId":"T","status":"input_required","pollIntervalMs":1,"inputRequests":{)" +
                Question("a", "sure?") + "}}");
  Accept("yes");
  EXPECT_EQ(server_.last_text(), R"(tasks/update {"taskId":"T","inputResponses":)"
                                 R"({"a":{"action":"accept","content":{"name":"yes"}}}})");
  server_.Reply("{}");
  Run(milliseconds(100));
  server_.Reply(R"({"taskId":"T","status":"input_required","pollIntervalMs":1,"inputRequests":{)" +
                Question("a", "sure?") + "}}");
  EXPECT_EQ(questions_, Texts{"sure?"}) << "asked once";
  Run(milliseconds(100));
  server_.Reply(R"({"taskId":"T","status":"completed","statusMessage":"over","result":)" +
                std::string(kTextResult) + "}");
  EXPECT_EQ(outcome_, "ok: done");
  EXPECT_EQ(states.substr(0, 6), "begun ");
  EXPECT_EQ(states.substr(states.size() - 5), "over ");
}

TEST_F(ClientCallTest, ATaskMayEndBadly) {
  ConnectModern(WithForms());
  const auto end = [this](std::string_view status) {
    Call();
    server_.Reply(R"({"resultType":"task","taskId":"T","status":"working","pollIntervalMs":1})");
    Run(milliseconds(100));
    server_.Reply(status);
    return outcome_;
  };
  EXPECT_EQ(end(R"({"taskId":"T","status":"failed","error":{"code":-32603,"message":"broken"}})"),
            "error: the server answered error -32603: \"broken\"");
  EXPECT_EQ(end(R"({"taskId":"T","status":"cancelled","statusMessage":"by me"})"),
            "error: the server cancelled the task: \"by me\"");
  EXPECT_EQ(end(R"({"taskId":"T","status":"completed"})"),
            "error: the server's task has ended without a result or an error");
  EXPECT_EQ(end(R"({"taskId":"U","status":"working"})"),
            "error: the server answered for another task");
  EXPECT_EQ(end(R"({"taskId":"T","status":"odd"})"),
            "error: result.status must be working, input_required, completed, failed or cancelled");
  Call();
  server_.Reply(R"({"resultType":"task","taskId":7,"status":"working"})");
  EXPECT_EQ(outcome_, "error: result.taskId must be a string");
}

TEST_F(ClientCallTest, CancellingATaskTellsTheServer) {
  ConnectModern(WithForms());
  RequestHandle handle = Call();
  server_.Reply(R"({"resultType":"task","taskId":"T","status":"working","pollIntervalMs":1})");
  handle.Cancel();
  EXPECT_EQ(server_.last_text(), R"(tasks/cancel {"taskId":"T"})");
  Run(milliseconds(100));
  EXPECT_EQ(server_.last().method, "tasks/cancel") << "no more polls";
}

TEST_F(ClientCallTest, TasksThatWereNotOfferedAreErrors) {
  ClientOptions options;
  options.tasks = false;
  ConnectModern(options);
  Call();
  EXPECT_EQ(server_.last().params.at("_meta").at("io.modelcontextprotocol/clientCapabilities"),
            json::value(json::object()));
  server_.Reply(R"({"resultType":"task","taskId":"T","status":"working"})");
  EXPECT_EQ(outcome_, "error: the server answered tools/call with a result of type \"task\"");
}

TEST_F(ClientCallTest, LegacyResultsHaveNoType) {
  ConnectLegacy();
  Call();
  EXPECT_FALSE(server_.last().params.contains("_meta"));
  server_.Reply(R"({"resultType":"input_required","content":[]})");
  EXPECT_EQ(outcome_, "ok:");
}

TEST_F(ClientCallTest, AForgottenSessionIsRenewedOnce) {
  ConnectLegacy();
  server_.may_restart = true;
  Call();
  Call();
  const auto lose = [this](std::int64_t) {
    server_.Fail({Error(Errc::kSystem, "the server has forgotten the session"), 404, true});
  };
  lose(0);
  EXPECT_EQ(server_.restarts, 1);
  ASSERT_EQ(server_.last().method, "initialize");
  server_.Reply(R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  server_.channel->Arrive();
  EXPECT_EQ(server_.last().method, "tools/call") << "once more, in the new session";
  lose(0);
  EXPECT_EQ(outcome_, "error: the server has forgotten the session") << "and not for ever";
  EXPECT_EQ(server_.restarts, 1);
}

TEST_F(ClientCallTest, HeadersAreLearntFromTheServersRefusal) {
  ConnectModern();
  server_.mirrors = true;
  Call();
  EXPECT_TRUE(server_.last().param_headers.empty());
  server_.ReplyError(-32020, "Mcp-Param-A is missing");
  ASSERT_EQ(server_.last().method, "tools/list");
  server_.Reply(R"({"tools":[)"
                R"({"name":"t","inputSchema":{"properties":{"a":)"
                R"({"type":"integer","x-mcp-header":"A"}}}},)"
                R"({"name":"bad","inputSchema":{"properties":{"a":)"
                R"({"type":"number","x-mcp-header":"A"}}}}]})");
  EXPECT_EQ(odd_, Texts{"the tool \"bad\" was left out: x-mcp-header of /a is not on a string, an "
                        "integer or a boolean"});
  ASSERT_EQ(server_.last().method, "tools/call");
  EXPECT_EQ(server_.last().param_headers, (HttpHeaders{{"Mcp-Param-A", "1"}}));
  server_.ReplyError(-32020, "still not");
  EXPECT_EQ(outcome_, "error: the server answered error -32020: \"still not\"");
}

}  // namespace
}  // namespace glovebox::mcp
