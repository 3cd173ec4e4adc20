#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "mcp/client.h"
#include "mcp/fake_client_channel.h"

namespace glovebox::mcp {

// A client and a server in memory (fake_client_channel.h), with the handshake behind them if
// wanted.
class ClientFixture : public testing::Test {
 protected:
  void MakeClient(ClientOptions options) {
    options.info = {"tester", "", "1", "", {}};
    options.on_misbehaviour = [this](const Error& error) { odd_.push_back(error.message()); };
    options.on_lost = [this](const Error& error) { lost_ = error.message(); };
    client_.reset();
    server_ = {};
    client_ = std::make_unique<Client>(context_.get_executor(),
                                       std::make_unique<FakeClientChannel>(server_), options);
  }
  void ConnectModern(ClientOptions options = {}, const std::string& capabilities = "{}") {
    MakeClient(std::move(options));
    Connect();
    server_.Reply(R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":)" +
                  capabilities + "}");
    ASSERT_EQ(connected_, "2026-07-28");
  }
  void ConnectLegacy(ClientOptions options = {}, const std::string& capabilities = "{}",
                     const std::string& version = "2025-11-25") {
    options.era = EraChoice::kLegacy;
    MakeClient(std::move(options));
    Connect();
    server_.Reply(R"({"protocolVersion":")" + version + R"(","capabilities":)" + capabilities +
                  R"(,"serverInfo":{"name":"old","version":"3"}})");
    server_.channel->Arrive();
    ASSERT_EQ(connected_, version);
  }
  // The revision, or why there is none.
  void Connect() {
    client_->Connect([this](const Result<ServerDescription>& server) {
      connected_ = server.ok() ? std::string(VersionName(server->version))
                               : "error: " + server.error().message();
    });
  }
  RequestHandle Call(RequestOptions options = {}) {
    return client_->CallTool("t", {{"a", 1}}, std::move(options), [this](const auto& result) {
      outcome_ = result.ok() ? Describe(*result) : "error: " + result.error().message();
    });
  }
  static std::string Describe(const CallToolResult& result) {
    std::string text = result.is_error ? "failed:" : "ok:";
    for (const ContentBlock& block : result.content) {
      if (const auto* part = std::get_if<TextContent>(&block.body)) text += ' ' + part->text;
    }
    return text;
  }
  // Lets timers and posted callbacks come.
  void Run(std::chrono::milliseconds time = std::chrono::milliseconds(0)) {
    context_.restart();
    if (time.count() == 0) {
      context_.poll();
    } else {
      context_.run_for(time);
    }
  }

  boost::asio::io_context context_;
  FakeClientChannel::Log server_;
  std::unique_ptr<Client> client_;
  std::string connected_;
  std::string outcome_;
  std::string lost_;
  std::vector<std::string> odd_;
};

inline constexpr const char* kTextResult = R"({"content":[{"type":"text","text":"done"}]})";

}  // namespace glovebox::mcp
