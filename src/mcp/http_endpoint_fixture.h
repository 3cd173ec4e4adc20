#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "mcp/fake_http_exchange.h"
#include "mcp/http_endpoint.h"

namespace glovebox::mcp {

// An endpoint over a server with a few tools, and a client's words to it.
class HttpEndpointFixture : public testing::Test {
 protected:
  using Exchange = std::shared_ptr<FakeHttpExchange>;

  explicit HttpEndpointFixture(HttpEndpointOptions options = Options(), ServerOptions server = {})
      : server_(context_.get_executor(), WithChanges(std::move(server))) {
    AddTools();
    server_.Open();
    endpoint_.emplace(server_, std::move(options));
  }

  // Streams soon; says nothing on quiet ones unless a test wants it to.
  static HttpEndpointOptions Options() {
    HttpEndpointOptions options;
    options.stream_after = std::chrono::milliseconds(5);
    options.keep_alive = std::chrono::hours(1);
    return options;
  }
  static HttpEndpointOptions KeepAliveOptions() {
    HttpEndpointOptions options = Options();
    options.keep_alive = std::chrono::milliseconds(5);
    return options;
  }

  // Screened and handled as the HTTP server does it.
  Exchange Send(HttpRequest request) {
    auto exchange = std::make_shared<FakeHttpExchange>();
    HttpRequest head = request;
    head.body.clear();
    if (auto refusal = endpoint_->Screen(head)) {
      exchange->Respond(std::move(*refusal));
    } else {
      endpoint_->Handle(std::move(request), exchange);
    }
    return exchange;
  }

  // Until it holds, or for so long that it never will.
  template <typename Condition>
  bool RunUntil(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    bool holds = condition();
    while (!holds && std::chrono::steady_clock::now() < end) {
      context_.restart();
      context_.run_one_for(std::chrono::milliseconds(10));
      holds = condition();
    }
    return holds;
  }
  void RunUntilStreaming(const Exchange& exchange) {
    ASSERT_TRUE(RunUntil([&] { return exchange->is_started; }));
  }
  // For what must not happen meanwhile.
  void RunFor(std::chrono::milliseconds time) {
    context_.restart();
    context_.run_for(time);
  }

  static HttpRequest Http(std::string method, HttpHeaders headers = {}, std::string body = {}) {
    HttpRequest request;
    request.method = std::move(method);
    request.target = "/mcp";
    request.headers = std::move(headers);
    request.headers.emplace_back("Host", "localhost:9015");
    request.body = std::move(body);
    request.peer = "127.0.0.1";
    return request;
  }
  static HttpRequest Post(std::string body, HttpHeaders headers = {}) {
    headers.emplace_back("Content-Type", "application/json");
    headers.emplace_back("Accept", "application/json, text/event-stream");
    return Http("POST", std::move(headers), std::move(body));
  }

  // A modern request in good order. `params` has no _meta.
  static boost::json::object ModernBody(std::string_view method, boost::json::object params = {},
                                        boost::json::object more_meta = {}) {
    boost::json::object meta = {
        {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
        {"io.modelcontextprotocol/clientCapabilities", boost::json::object()}};
    for (const auto& member : more_meta) meta[member.key()] = member.value();
    params["_meta"] = std::move(meta);
    return {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}};
  }
  static HttpRequest Modern(const boost::json::object& body, HttpHeaders headers = {}) {
    headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
    headers.emplace_back("Mcp-Method", std::string(body.at("method").as_string()));
    return Post(boost::json::serialize(body), std::move(headers));
  }
  static HttpRequest ModernTool(std::string tool, boost::json::object more_meta = {}) {
    const auto body = ModernBody("tools/call", {{"name", tool}}, std::move(more_meta));
    return Modern(body, {{"Mcp-Name", std::move(tool)}});
  }

  static std::string Initialize(std::string_view version = "2025-11-25") {
    return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
           std::string(version) +
           R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";
  }
  // The id of a new session.
  std::string OpenSession(std::string_view version = "2025-11-25") {
    const Exchange exchange = Send(Post(Initialize(version)));
    EXPECT_EQ(exchange->status, 200u) << exchange->sent;
    return std::string(exchange->HeaderOf("mcp-session-id"));
  }
  static HttpRequest Legacy(const std::string& session, std::string body) {
    return Post(std::move(body), {{"Mcp-Session-Id", session}});
  }
  static HttpRequest LegacyTool(const std::string& session, std::string_view tool, int id = 1) {
    const boost::json::object params = {{"name", tool}, {"_meta", {{"progressToken", "p"}}}};
    return Legacy(
        session,
        boost::json::serialize(boost::json::object{
            {"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}}));
  }
  static HttpRequest Listen(const std::string& session, HttpHeaders headers = {}) {
    headers.emplace_back("Mcp-Session-Id", session);
    headers.emplace_back("Accept", "text/event-stream");
    return Http("GET", std::move(headers));
  }

  // What a body says: the error's code, or 0.
  static int CodeOf(const Exchange& exchange) {
    const auto body = boost::json::parse(exchange->sent).as_object();
    const auto* error = body.if_contains("error");
    if (error == nullptr || !error->is_object()) return 0;
    return static_cast<int>(error->as_object().at("code").as_int64());
  }

  boost::asio::io_context context_;
  Server server_;
  std::optional<HttpEndpoint> endpoint_;
  std::vector<ToolResponder> held_;  // by the tool "later"
  int cancelled_ = 0;

 private:
  static ServerOptions WithChanges(ServerOptions options) {
    options.info = {"test", "", "1", "", {}};
    options.changes.tools = true;
    return options;
  }

  static ToolDefinition Define(std::string name, boost::json::object properties = {}) {
    ToolDefinition definition;
    definition.name = std::move(name);
    definition.description = "a test";
    definition.input_schema = {{"type", "object"}, {"properties", std::move(properties)}};
    return definition;
  }

  void AddTools() {
    server_.tools().Add(Define("echo"),
                        [](const boost::json::object&, const ToolResponder& responder) {
                          responder.Reply({{Text("hello")}, std::nullopt, false});
                        });
    server_.tools().Add(Define("later"),
                        [this](const boost::json::object&, const ToolResponder& responder) {
                          responder.OnCancel([this] { ++cancelled_; });
                          held_.push_back(responder);
                        });
    server_.tools().Add(Define("fails"),
                        [](const boost::json::object&, const ToolResponder& responder) {
                          responder.Fail(RpcError{kInvalidParams, "not like this"});
                        });
    server_.tools().Add(Define("reports"),
                        [](const boost::json::object&, const ToolResponder& responder) {
                          responder.Report({1, std::nullopt, ""});
                          responder.Reply({{Text("done")}, std::nullopt, false});
                        });
    server_.tools().Add(Define("asks"),
                        [](const boost::json::object&, const ToolResponder& responder) {
                          InputRequired input;
                          input.requests.emplace("roots", RootsRequest{});
                          responder.NeedInput(std::move(input));
                        });
    const boost::json::object region = {{"type", "string"}, {"x-mcp-header", "Region"}};
    const boost::json::object level = {{"type", "integer"}, {"x-mcp-header", "Level"}};
    const boost::json::object deep = {{"type", "boolean"}, {"x-mcp-header", "Deep"}};
    server_.tools().Add(
        Define("region", {{"region", region},
                          {"level", level},
                          {"outer", {{"type", "object"}, {"properties", {{"deep", deep}}}}}}),
        [](const boost::json::object&, const ToolResponder& responder) {
          responder.Reply({{Text("here")}, std::nullopt, false});
        });
  }
};

}  // namespace glovebox::mcp
