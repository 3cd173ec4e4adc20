#include "audit/mcp_target.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>

#include "audit/scene.h"
#include "mcp/client.h"
#include "mcp/http_client_channel.h"
#include "mcp/json_writer.h"
#include "mcp/stdio_client_channel.h"

#ifndef GLOVEBOX_VERSION
#error "GLOVEBOX_VERSION is the project's version, defined by src/audit/CMakeLists.txt"
#endif

namespace glovebox::audit {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCallTimeMax{20'000};
constexpr milliseconds kConnectTimeMax{60'000};  // a server that npx has to fetch first

constexpr std::array<std::string_view, 5> kCodeNames = {"code", "python_code", "script", "source",
                                                        "source_code"};

bool IsCodeName(std::string_view name) {
  return std::find(kCodeNames.begin(), kCodeNames.end(), name) != kCodeNames.end();
}

// The argument of a tool that takes the code; empty when there is none.
std::string CodeArgument(const mcp::ToolDefinition& tool) {
  const boost::json::value* properties = tool.input_schema.if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return {};
  for (const auto& item : properties->get_object()) {
    if (IsCodeName(item.key())) return std::string(item.key());
  }
  return {};
}

std::string TextOf(const mcp::CallToolResult& result) {
  std::string text;
  for (const mcp::ContentBlock& block : result.content) {
    if (const auto* part = std::get_if<mcp::TextContent>(&block.body)) text += part->text + "\n";
    if (const auto* part = std::get_if<mcp::EmbeddedResource>(&block.body)) {
      text += part->resource.text + "\n";
    }
  }
  if (result.structured_content) text += mcp::WriteJson(*result.structured_content);
  return text;
}

class McpCall final : public RunningProgram {
 public:
  McpCall(mcp::Client& client, const PythonTool& tool, boost::json::object arguments,
          const std::string& code) {
    arguments[tool.argument] = code;
    mcp::RequestOptions options;
    options.silence_max = kCallTimeMax;
    options.time_max = kCallTimeMax;
    handle_ = client.CallTool(tool.tool, std::move(arguments), std::move(options),
                              [answer = attempt_](Result<mcp::CallToolResult> result) {
                                Attempt attempt;
                                if (result) {
                                  attempt.output = TextOf(*result);
                                  if (result->is_error) attempt.problem = FirstLine(attempt.output);
                                } else {
                                  attempt.problem = result.error().message();
                                  attempt.output = attempt.problem;
                                  attempt.ran = result.error().code() != Errc::kSystem;
                                }
                                *answer = std::move(attempt);
                              });
  }
  ~McpCall() override {
    if (!attempt_->has_value()) handle_.Cancel();
  }
  McpCall(const McpCall&) = delete;
  McpCall& operator=(const McpCall&) = delete;

  const Attempt* attempt() const override { return attempt_->has_value() ? &**attempt_ : nullptr; }

 private:
  static std::string FirstLine(const std::string& text) {
    return text.substr(0, std::min<std::size_t>(text.find('\n'), 300));
  }

  std::shared_ptr<std::optional<Attempt>> attempt_ = std::make_shared<std::optional<Attempt>>();
  mcp::RequestHandle handle_;
};

class McpTarget final : public Target {
 public:
  explicit McpTarget(McpTargetOptions options) : options_(std::move(options)) {}
  ~McpTarget() override {
    if (client_ == nullptr) return;
    bool closed = false;
    client_->Close([&closed] { closed = true; });
    RunUntil([&closed] { return closed; }, milliseconds(5'000));
  }
  McpTarget(const McpTarget&) = delete;
  McpTarget& operator=(const McpTarget&) = delete;

  Status Open() {
    std::unique_ptr<mcp::ClientChannel> channel = TRY(OpenChannel());
    mcp::ClientOptions options;
    options.info.name = "glovebox-audit";
    options.info.version = GLOVEBOX_VERSION;
    options.handshake_time_max = kConnectTimeMax;
    client_ = std::make_unique<mcp::Client>(context_.get_executor(), std::move(channel),
                                            std::move(options));
    std::optional<Result<mcp::ServerDescription>> server;
    client_->Connect(
        [&server](Result<mcp::ServerDescription> found) { server = std::move(found); });
    RunUntil([&server] { return server.has_value(); }, kConnectTimeMax);
    if (!server) return Error(Errc::kLimit, "the MCP server did not answer in a minute");
    if (!*server) return Error((*server).error()).Within("the MCP server");
    std::optional<Result<std::vector<mcp::ToolDefinition>>> tools;
    client_->ListTools({}, [&tools](auto found) { tools = std::move(found); });
    RunUntil([&tools] { return tools.has_value(); }, kConnectTimeMax);
    if (!tools) return Error(Errc::kLimit, "the MCP server did not list its tools");
    if (!*tools) return Error((*tools).error()).Within("the MCP server's tools");
    tool_ = TRY(ChoosePythonTool(**tools, options_.tool, options_.argument));
    name_ = (*server)->info.name;
    return {};
  }

  std::unique_ptr<RunningProgram> Start(const std::string& code) override {
    return std::make_unique<McpCall>(*client_, tool_, options_.arguments, code);
  }

  void Turn(int time) override {
    context_.restart();
    context_.run_one_for(milliseconds(time));
  }

  std::string description() const override {
    return "MCP server " + (name_.empty() ? std::string("without a name") : name_) + ", tool " +
           tool_.tool;
  }

 private:
  Result<std::unique_ptr<mcp::ClientChannel>> OpenChannel() {
    if (options_.command.empty()) {
      mcp::HttpClientChannelOptions http;
      http.bearer_token = options_.token;
      return mcp::OpenHttpChannel(context_, options_.url, std::move(http));
    }
    ChildProcessOptions program;
    program.argv = options_.command;
    program.environment = MinimalEnvironment();
    // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
    if (const char* marker = std::getenv(kMarkerVariable)) {
      program.environment.push_back(std::string(kMarkerVariable) + "=" + marker);
    }
    return mcp::StartServerProgram(context_, std::move(program));
  }

  template <typename Done>
  void RunUntil(const Done& done, milliseconds time_max) {
    const auto end = std::chrono::steady_clock::now() + time_max;
    while (!done() && std::chrono::steady_clock::now() < end) Turn(20);
  }

  const McpTargetOptions options_;
  boost::asio::io_context context_{1};
  std::unique_ptr<mcp::Client> client_;
  PythonTool tool_;
  std::string name_;
};

}  // namespace

Result<PythonTool> ChoosePythonTool(const std::vector<mcp::ToolDefinition>& tools,
                                    const std::string& tool, const std::string& argument) {
  std::string names;
  std::vector<PythonTool> found;
  for (const mcp::ToolDefinition& candidate : tools) {
    names += (names.empty() ? "" : ", ") + candidate.name;
    const std::string code = argument.empty() ? CodeArgument(candidate) : argument;
    if (candidate.name == tool && !code.empty()) return PythonTool{tool, code};
    if (tool.empty() && !code.empty()) found.push_back({candidate.name, code});
  }
  if (!tool.empty()) {
    return Error(Errc::kInvalidArgument,
                 "the server has no tool '" + tool +
                     "' with an argument for code (name it with --argument); it has: " + names);
  }
  for (const std::string_view known : {"execute_code", "run_python_code"}) {
    for (const PythonTool& candidate : found) {
      if (candidate.tool == known) return candidate;
    }
  }
  if (found.size() == 1) return found[0];
  return Error(
      Errc::kInvalidArgument,
      "which tool runs Python? Name it with --tool (and --argument); the server has: " + names);
}

Result<std::unique_ptr<Target>> MakeMcpTarget(McpTargetOptions options) {
  auto target = std::make_unique<McpTarget>(std::move(options));
  TRY(target->Open());
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace glovebox::audit
