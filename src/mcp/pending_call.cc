#include "mcp/pending_call.h"

#include <exception>
#include <utility>

namespace glovebox::mcp {

namespace json = boost::json;

PendingCall::PendingCall(Origin origin) : origin_(std::move(origin)) {}

PendingCall::~PendingCall() {
  if (open_) Fail({kInternalError, "the request was dropped"});
}

void PendingCall::Run(const Router::RawHandler& handler) {
  handler_ = &handler;
  Invoke();
}

void PendingCall::Invoke() {
  const auto self = shared_from_this();
  try {
    (*handler_)(origin_.params, self);
  } catch (const std::exception& exception) {
    Fail({kInternalError, std::string("internal error: ") + exception.what()});
  }
}

void PendingCall::Reply(json::object result) {
  if (open_) Answer(ResultMessage(origin_.id, Decorate(std::move(result))), nullptr);
}

void PendingCall::Fail(const RpcError& error) {
  if (open_) Answer(ErrorMessage(origin_.id, error), &error);
}

void PendingCall::Answer(json::object message, const RpcError* error) {
  open_ = false;
  // Both destroyed at the end: what the hook holds may hold the last reference to this call.
  const auto hook = std::exchange(cancel_hook_, nullptr);
  const auto self = weak_from_this().lock();
  std::exchange(origin_.sink, nullptr)->Finish(std::move(message), error);
  Settle(error == nullptr ? 0 : error->code);
}

void PendingCall::Withdraw() {
  if (!open_) return;
  open_ = false;
  withdrawn_ = true;
  const auto self = weak_from_this().lock();  // the hook may drop the last reference
  std::exchange(origin_.sink, nullptr)->Abandon();
  Settle(0);
  if (const auto hook = std::exchange(cancel_hook_, nullptr)) hook();
}

void PendingCall::Settle(int error_code) {
  origin_.ticket = {};
  if (const auto finished = std::exchange(origin_.finished, nullptr)) finished(*this);
  if (const auto& observe = origin_.server->on_request) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_;
    observe(origin_.method, error_code, taken.count());
  }
}

void PendingCall::OnCancel(std::function<void()> hook) {
  if (withdrawn_) return hook();
  if (open_) cancel_hook_ = std::move(hook);
}

void PendingCall::Report(const Progress& progress) {
  if (!open_ || !wants_progress() || origin_.sink->congested()) return;
  Notify("notifications/progress",
         ToJson(progress, *origin_.meta.progress_token, origin_.context.version));
}

void PendingCall::Notify(std::string_view method, json::object params) {
  if (open_) origin_.sink->Send(NotificationMessage(method, std::move(params)));
}

std::shared_ptr<Call> PendingCall::ContinueAsTask() {
  const bool possible = open_ && IsModern(origin_.context.version) &&
                        origin_.context.capabilities.tasks && origin_.server->options().tasks;
  if (!possible) return shared_from_this();
  // The place among the client's requests in work goes with the work.
  auto created = origin_.server->tasks().Create(
      origin_.context, [handler = handler_, params = origin_.params, ticket = origin_.ticket](
                           std::shared_ptr<Call> call) { (*handler)(params, std::move(call)); });
  if (!created) return shared_from_this();  // no room for another task: the client waits instead
  if (auto hook = std::exchange(cancel_hook_, nullptr)) created->call->OnCancel(std::move(hook));
  Reply(std::move(created->answer));
  return created->call;
}

void PendingCall::ReleaseStream(std::chrono::milliseconds retry) {
  if (open_) origin_.sink->Release(retry);
}

}  // namespace glovebox::mcp
