#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/client_channel.h"
#include "mcp/client_options.h"
#include "mcp/client_results.h"

namespace glovebox::mcp {

class ClientCore;
class ClientOperation;

// What a method of the server led to: its result, or the error it answered.
using RpcOutcome = std::variant<boost::json::object, RpcError>;

template <typename T>
using Callback = std::function<void(Result<T>)>;

// A request under way. Letting go of it changes nothing.
class RequestHandle {
 public:
  RequestHandle() = default;
  explicit RequestHandle(std::weak_ptr<ClientOperation> operation)
      : operation_(std::move(operation)) {}

  // Withdraws the request and tells the server, by notification or by closing its stream, as era
  // and carrier want it. Its callback will not run. Nothing after the end.
  void Cancel();

 private:
  std::weak_ptr<ClientOperation> operation_;
};

// An MCP client of either era, over any channel: speaks to one server.
//
//   auto channel = StartServerProgram(context, {.argv = {"server"}, ...});
//   Client client(context.get_executor(), std::move(channel).value(), {.info = {"me", "", "1"}});
//   client.Connect([&](Result<ServerDescription> server) { client.CallTool(...); });
//
// Thread rule: the thread of the io_context behind the executor. Every callback runs once, on that
// thread, never from inside a call, and not after Cancel or the client's destruction; it may
// destroy the client.
//
// Failure: everything a server sends is taken for hostile. Whatever it does ends in an Error that
// names it: kInvalidArgument (a message that breaks the protocol, or an error answer), kUnsupported
// (the server lacks the method, or the revision does), kLimit (a bound of the options, time
// included), kSystem (the server is gone or cannot be reached).
class Client {
 public:
  Client(const boost::asio::any_io_executor& executor, std::unique_ptr<ClientChannel> channel,
         ClientOptions options);
  // Drops everything at once: a server program is killed, connections are closed. See Close.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Agrees with the server on a revision. Once, and before any request.
  void Connect(Callback<ServerDescription> callback);
  // Precondition: Connect has succeeded.
  const ServerDescription& server() const;

  // Lists are whole: all pages.
  RequestHandle ListTools(RequestOptions options, Callback<std::vector<ToolDefinition>> callback);
  RequestHandle ListResources(RequestOptions options,
                              Callback<std::vector<ResourceDefinition>> callback);
  RequestHandle ListResourceTemplates(RequestOptions options,
                                      Callback<std::vector<ResourceTemplateDefinition>> callback);
  RequestHandle ListPrompts(RequestOptions options,
                            Callback<std::vector<PromptDefinition>> callback);

  // The result of a call that went on as a task is that of the task.
  RequestHandle CallTool(std::string name, boost::json::object arguments, RequestOptions options,
                         Callback<CallToolResult> callback);
  RequestHandle ReadResource(std::string uri, RequestOptions options,
                             Callback<ReadResourceResult> callback);
  RequestHandle GetPrompt(std::string name, std::map<std::string, std::string> arguments,
                          RequestOptions options, Callback<GetPromptResult> callback);
  RequestHandle Complete(const CompleteParams& params, RequestOptions options,
                         Callback<CompleteResult> callback);
  // Legacy era only; kUnsupported in the modern one.
  RequestHandle Ping(RequestOptions options, Callback<EmptyResult> callback);

  // Any method, for what has no typed one here. An error answer is an outcome, not an Error.
  RequestHandle Request(std::string method, boost::json::object params, RequestOptions options,
                        Callback<RpcOutcome> callback);
  void Notify(std::string_view method, boost::json::object params);

  // Fails what is in flight, takes leave of the server (its program ends, its session is deleted)
  // and runs `done`. Bounded in time.
  void Close(std::function<void()> done);

 private:
  std::shared_ptr<ClientCore> core_;
};

}  // namespace glovebox::mcp
