#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/json/object.hpp>

#include "mcp/jsonrpc.h"
#include "mcp/protocol.h"

namespace glovebox::mcp {

// One request being worked on. The handler keeps it and answers when it can: at once or minutes
// later. Letting go of it without an answer tells the client that we failed; nothing hangs.
//
// Thread rule: the thread of the session.
class Call {
 public:
  virtual ~Call() = default;

  // Exactly one of the two, once. After a cancellation, or when the session is gone, they do
  // nothing: the client has been promised silence.
  virtual void Reply(boost::json::object result) = 0;
  virtual void Fail(const RpcError& error) = 0;

  // `hook` runs once if the client withdraws the request or the session ends first; at once if
  // that has already happened. Never after the answer. Replaces an earlier hook.
  virtual void OnCancel(std::function<void()> hook) = 0;

  // Whether the client asked for progress reports, and a report. A report is dropped when the
  // client did not ask, does not read fast enough, or has its answer.
  virtual bool wants_progress() const = 0;
  virtual void Report(const Progress& progress) = 0;

  // The revision this client speaks.
  virtual ProtocolVersion version() const = 0;
};

// A Call whose answer is a `Result` struct with a ToJson. Copies answer the same request.
template <typename Result>
class Responder {
 public:
  explicit Responder(std::shared_ptr<Call> call) : call_(std::move(call)) {}

  void Reply(const Result& result) const { call_->Reply(ToJson(result, call_->version())); }
  void Fail(const RpcError& error) const { call_->Fail(error); }
  void Fail(const Error& error) const { call_->Fail(ToRpcError(error)); }
  void OnCancel(std::function<void()> hook) const { call_->OnCancel(std::move(hook)); }
  bool wants_progress() const { return call_->wants_progress(); }
  void Report(const Progress& progress) const { call_->Report(progress); }

 private:
  std::shared_ptr<Call> call_;
};

}  // namespace glovebox::mcp
