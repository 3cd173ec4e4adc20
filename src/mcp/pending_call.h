#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include "mcp/admission.h"
#include "mcp/call.h"
#include "mcp/message_sink.h"
#include "mcp/router.h"
#include "mcp/server.h"

namespace glovebox::mcp {

// A request in flight, of either era. Handlers own it; whoever started it hears of its end through
// `finished` and can withdraw it until then. The two eras differ in how questions reach the client
// and in what surrounds a result: LegacyCall (legacy_session.cc) and ModernCall (modern_call.h).
class PendingCall : public Call, public std::enable_shared_from_this<PendingCall> {
 public:
  struct Origin {
    Server* server = nullptr;
    RequestId id;
    std::string method;
    boost::json::object params;
    RequestMeta meta;
    CallContext context;
    std::shared_ptr<MessageSink> sink;
    Admission::Ticket ticket;
    // Runs once: answered, withdrawn or dropped. The sink has the answer by then.
    std::function<void(PendingCall&)> finished;
  };
  explicit PendingCall(Origin origin);
  ~PendingCall() override;

  // Runs `handler` on this call, and again after each round of answers. Exceptions end here.
  void Run(const Router::RawHandler& handler);

  // No answer is wanted any more: runs the cancel hook. Nothing after the answer.
  void Withdraw();

  RequestId id() const override { return origin_.id; }
  const std::string& method() const { return origin_.method; }

  void Reply(boost::json::object result) override;
  void Fail(const RpcError& error) override;
  void OnCancel(std::function<void()> hook) override;
  bool wants_progress() const override { return origin_.meta.progress_token.has_value(); }
  void Report(const Progress& progress) override;
  void Notify(std::string_view method, boost::json::object params) override;
  std::shared_ptr<Call> ContinueAsTask() override;
  void ReleaseStream(std::chrono::milliseconds retry) override;
  const CallContext& context() const override { return origin_.context; }

 protected:
  // What the era puts around a result.
  virtual boost::json::object Decorate(boost::json::object result) const { return result; }

  bool open() const { return open_; }
  Origin& origin() { return origin_; }
  const Origin& origin() const { return origin_; }
  const Router::RawHandler* handler() const { return handler_; }
  void Answer(boost::json::object message, const RpcError* error);
  // Runs the handler once more, with what is in the context now.
  void Invoke();

 private:
  void Settle(int error_code);

  Origin origin_;
  const Router::RawHandler* handler_ = nullptr;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::function<void()> cancel_hook_;
  bool open_ = true;  // neither answered nor withdrawn
  bool withdrawn_ = false;
};

}  // namespace glovebox::mcp
