#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include "mcp/input.h"
#include "mcp/jsonrpc.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// Who asks, in which revision, and what is known from earlier rounds.
struct CallContext {
  ProtocolVersion version = kNewestLegacyVersion;
  ClientCapabilities capabilities;
  Implementation client_info;  // for displays; no decision may rest on it
  std::string principal;       // whose quota and whose tasks: a token's name, or a peer
  InputResponses inputs;       // answers to the questions of the round before
  std::string state;           // what that round wanted to remember; verified
};

// One request being worked on. The handler keeps it and answers when it can: at once or minutes
// later. Letting go of it without an answer tells the client that we failed; nothing hangs.
//
// Thread rule: the thread of the server's io_context.
class Call {
 public:
  virtual ~Call() = default;

  // Exactly one of the three, once. After a cancellation, or when the client is gone, they do
  // nothing: the client has been promised silence.
  virtual void Reply(boost::json::object result) = 0;
  virtual void Fail(const RpcError& error) = 0;
  // The handler needs answers from the client and runs again, from its beginning, with those in
  // context().inputs and with its state in context().state. How they are got is the carrier's
  // matter: requests to the client in the legacy era, an `input_required` result in the modern one,
  // a parked task. A client that did not declare what a question needs gets an error instead.
  virtual void NeedInput(InputRequired input) = 0;

  // `hook` runs once if the client withdraws the request or is gone first; at once if that has
  // already happened. Never after the answer. Replaces an earlier hook.
  virtual void OnCancel(std::function<void()> hook) = 0;

  // Whether the client asked for progress reports, and a report. A report is dropped when the
  // client did not ask, does not read fast enough, or has its answer.
  virtual bool wants_progress() const = 0;
  virtual void Report(const Progress& progress) = 0;

  // A log message for the client; dropped below the level it asked for, and unless it asked.
  virtual void Log(const LogMessage& message) = 0;

  // Any other notification that belongs to this request.
  virtual void Notify(std::string_view method, boost::json::object params) = 0;

  // The rest of the work goes on as a task: the client is answered now with the task's name, and
  // what is said on the returned call becomes the task's. Returns this same call where that cannot
  // be: the client did not declare tasks, or this already is one.
  virtual std::shared_ptr<Call> ContinueAsTask() = 0;

  // Lets the client's connection go and has it come back for the answer after `retry`. Does nothing
  // where the carrier has no resumable streams.
  virtual void ReleaseStream(std::chrono::milliseconds retry) = 0;

  // The request's own id, with the type the client gave it; in a task, the task's name.
  virtual RequestId id() const = 0;
  virtual const CallContext& context() const = 0;
};

// A Call whose answer is a `Result` struct with a ToJson. Copies answer the same request.
template <typename Result>
class Responder {
 public:
  explicit Responder(std::shared_ptr<Call> call) : call_(std::move(call)) {}

  void Reply(Result result) const { call_->Reply(ToJson(std::move(result), context().version)); }
  void Fail(const RpcError& error) const { call_->Fail(error); }
  void Fail(const Error& error) const { call_->Fail(ToRpcError(error)); }
  void NeedInput(InputRequired input) const { call_->NeedInput(std::move(input)); }
  void OnCancel(std::function<void()> hook) const { call_->OnCancel(std::move(hook)); }
  bool wants_progress() const { return call_->wants_progress(); }
  void Report(const Progress& progress) const { call_->Report(progress); }
  void Log(const LogMessage& message) const { call_->Log(message); }
  Responder ContinueAsTask() const { return Responder(call_->ContinueAsTask()); }
  const CallContext& context() const { return call_->context(); }
  const std::shared_ptr<Call>& call() const { return call_; }

 private:
  std::shared_ptr<Call> call_;
};

}  // namespace glovebox::mcp
