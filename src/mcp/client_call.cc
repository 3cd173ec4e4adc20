#include "mcp/client_call.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "mcp/modern_names.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

std::string_view TypeOf(const json::object& result) {
  const json::value* type = result.if_contains("resultType");
  if (type == nullptr || !type->is_string()) return "complete";
  return type->get_string();
}

}  // namespace

// Questions that are being answered, one after the other.
struct ClientCall::Round {
  std::vector<std::pair<std::string, InputRequest>> questions;
  std::size_t next = 0;
  json::object answers;
  Answers answered;
};

std::shared_ptr<ClientCall> ClientCall::Start(ClientCore& core, ClientCallPlan plan) {
  auto call = std::make_shared<ClientCall>(core, std::move(plan));
  core.Add(call);
  if (const auto unready = core.Unready()) {
    boost::asio::post(core.executor(), [call, error = *unready] { call->Finish(error); });
    return call;
  }
  call->Watch();
  call->Send();
  return call;
}

ClientCall::ClientCall(ClientCore& core, ClientCallPlan plan)
    : core_(&core),
      plan_(std::move(plan)),
      params_(plan_.params),
      watch_(core.executor()),
      poll_(core.executor()) {}

void ClientCall::Send() {
  json::object params = params_;
  if (!input_responses_.empty()) params["inputResponses"] = input_responses_;
  if (request_state_) params["requestState"] = *request_state_;
  ClientCore::Wire wire{.method = plan_.method, .params = std::move(params), .on_answer = nullptr};
  if (plan_.method == "tools/call") wire.param_headers = core_->ParameterHeadersOf(wire.params);
  const auto self = shared_from_this();
  if (plan_.options.on_progress) {
    wire.on_progress = [self](const Progress& progress) {
      self->Touch();
      self->plan_.options.on_progress(progress);
    };
  }
  wire.on_answer = [self](ClientCore::Answer answer) { self->OnAnswer(std::move(answer)); };
  wire_ = core_->Send(std::move(wire));
}

void ClientCall::OnAnswer(ClientCore::Answer answer) {
  wire_ = 0;
  Touch();
  if (const auto* failure = std::get_if<ClientChannel::Failure>(&answer)) {
    if (failure->session_lost && !renewed_) return RenewSession();
    return Finish(failure->error);
  }
  if (const auto* error = std::get_if<RpcError>(&answer)) return OnError(*error);
  OnResult(std::get<json::object>(answer));
}

void ClientCall::OnError(const RpcError& error) {
  const bool wants_headers = error.code == kHeaderMismatch && plan_.method == "tools/call" &&
                             core_->channel().mirrors_parameters();
  if (wants_headers && !learnt_) return LearnTools(error);
  Finish(RpcOutcome(error));
}

// The server did not do what it was asked: it may be asked again in a session it knows.
void ClientCall::RenewSession() {
  renewed_ = true;
  core_->Renew([self = shared_from_this()](const Status& renewed) {
    if (self->over_) return;
    if (!renewed.ok()) return self->Finish(renewed.error());
    self->Touch();
    self->Send();
  });
}

void ClientCall::LearnTools(const RpcError& error) {
  learnt_ = true;
  ListAllTools(*core_, {}, [self = shared_from_this(), error](const auto& tools) {
    if (self->over_) return;
    if (!tools.ok()) return self->Finish(RpcOutcome(error));
    self->Touch();
    self->Send();
  });
}

void ClientCall::OnResult(const json::object& result) {
  const std::string_view type = core_->modern() ? TypeOf(result) : "complete";
  if (type == "complete") return Complete(result);
  if (type == "input_required" && MayAskBack(plan_.method)) return OnInputRequired(result);
  if (type == "task" && plan_.method == "tools/call" && core_->capabilities().tasks) {
    return OnTask(result);
  }
  Finish(Error(Errc::kInvalidArgument,
               "the server answered " + plan_.method + " with a result of type " + Quoted(type)));
}

void ClientCall::Complete(json::object result) {
  if (plan_.next) {
    auto next = plan_.next(result);
    if (!next.ok()) return Finish(std::move(next).error());
    if (*next) {
      params_ = std::move(**next);
      return Send();
    }
  }
  Finish(RpcOutcome(std::move(result)));
}

void ClientCall::OnInputRequired(const json::object& result) {
  const json::value* state = result.if_contains("requestState");
  if (state != nullptr && !state->is_string()) {
    return Finish(Error(Errc::kInvalidArgument, "result.requestState must be a string"));
  }
  if (state == nullptr && !result.contains("inputRequests")) {
    return Finish(Error(Errc::kInvalidArgument, "the server wants input and does not say which"));
  }
  // Of this round only: a state that is not given again is not sent again.
  request_state_.reset();
  if (state != nullptr) request_state_ = std::string(state->get_string());
  AskAll(result, {}, [this](json::object answers) {
    input_responses_ = std::move(answers);
    Send();
  });
}

void ClientCall::AskAll(const json::object& result, const std::set<std::string>& known,
                        Answers answered) {
  const auto wrong = [this](std::string what) {
    Finish(Error(Errc::kInvalidArgument, "the server's question " + std::move(what)));
  };
  if (++rounds_ > core_->options().rounds_max) {
    return GiveUp(Error(Errc::kLimit, "the server asked more than " +
                                          std::to_string(core_->options().rounds_max) + " times"));
  }
  const auto round = std::make_shared<Round>();
  round->answered = std::move(answered);
  if (const json::value* requests = result.if_contains("inputRequests")) {
    if (!requests->is_object()) return wrong("result.inputRequests must be an object");
    if (requests->get_object().size() > core_->options().questions_max) {
      return wrong("is too many questions at once");
    }
    for (const auto& member : requests->get_object()) {
      const std::string key(member.key());
      if (known.contains(key)) continue;
      const json::object* question = member.value().if_object();
      const json::value* method = question != nullptr ? question->if_contains("method") : nullptr;
      if (method == nullptr || !method->is_string()) return wrong(Quoted(key) + " has no method");
      const json::value* params = question->if_contains("params");
      auto request = InputRequestFromJson(
          method->get_string(),
          params != nullptr && params->is_object() ? params->get_object() : json::object());
      if (!request.ok()) return wrong(Quoted(key) + ": " + request.error().message());
      round->questions.emplace_back(key, std::move(request).value());
    }
  }
  AskNext(round);
}

void ClientCall::AskNext(const std::shared_ptr<Round>& round) {
  if (round->next == round->questions.size()) return round->answered(std::move(round->answers));
  const auto& [key, request] = round->questions[round->next++];
  core_->Ask(request, [self = shared_from_this(), round, name = key](Result<json::object> answer) {
    if (self->over_) return;
    if (!answer.ok()) {
      return self->GiveUp(
          std::move(answer).error().Within("the server's question " + Quoted(name)));
    }
    self->Touch();
    round->answers[name] = std::move(answer).value();
    self->AskNext(round);
  });
}

void ClientCall::OnTask(const json::object& result) {
  auto status = TaskStatusFromJson(result);
  if (!status.ok()) return Finish(std::move(status).error());
  task_ = status->id;
  if (plan_.options.on_task) plan_.options.on_task(*status);
  if (over_) return;
  const auto& options = core_->options();
  constexpr milliseconds kShortest{50};
  const milliseconds wait = std::clamp(status->poll_interval.value_or(options.poll_interval),
                                       kShortest, std::max(kShortest, options.poll_interval_max));
  poll_.expires_after(wait);
  poll_.async_wait([weak = weak_from_this()](const auto& cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && !self->over_) self->Poll();
  });
}

void ClientCall::Poll() {
  wire_ = core_->Send({.method = "tasks/get",
                       .params = {{"taskId", task_}},
                       .on_answer = [self = shared_from_this()](ClientCore::Answer answer) {
                         self->OnTaskStatus(std::move(answer));
                       }});
}

void ClientCall::OnTaskStatus(ClientCore::Answer answer) {
  wire_ = 0;
  Touch();
  if (const auto* failure = std::get_if<ClientChannel::Failure>(&answer)) {
    return Finish(failure->error);
  }
  if (const auto* error = std::get_if<RpcError>(&answer)) return Finish(RpcOutcome(*error));
  const auto& result = std::get<json::object>(answer);
  auto status = TaskStatusFromJson(result);
  if (!status.ok()) return Finish(std::move(status).error());
  if (status->id != task_) {
    return Finish(Error(Errc::kInvalidArgument, "the server answered for another task"));
  }
  if (status->state == TaskStatus::State::kWorking) return OnTask(result);
  if (status->state == TaskStatus::State::kInputRequired) return AnswerTask(result);
  if (plan_.options.on_task) plan_.options.on_task(*status);
  if (over_) return;
  task_.clear();  // it is over: nothing to cancel
  if (status->state == TaskStatus::State::kCancelled) {
    return Finish(
        Error(Errc::kInvalidArgument, "the server cancelled the task: " + Quoted(status->message)));
  }
  const bool failed = status->state == TaskStatus::State::kFailed;
  const json::value* outcome = result.if_contains(failed ? "error" : "result");
  if (outcome == nullptr || !outcome->is_object()) {
    return Finish(
        Error(Errc::kInvalidArgument, "the server's task has ended without a result or an error"));
  }
  if (failed) return Finish(RpcOutcome(RpcErrorFromJson(*outcome)));
  Complete(outcome->get_object());
}

// Questions that were answered may be listed once more while the task takes note of it.
void ClientCall::AnswerTask(const json::object& result) {
  const json::value* requests = result.if_contains("inputRequests");
  const bool has_new =
      requests != nullptr && requests->is_object() &&
      std::any_of(requests->get_object().begin(), requests->get_object().end(),
                  [this](const auto& member) { return !answered_.contains(member.key()); });
  if (!has_new) return OnTask(result);
  AskAll(result, answered_, [this, result](json::object answers) {
    for (const auto& member : answers) answered_.emplace(member.key());
    wire_ = core_->Send(
        {.method = "tasks/update",
         .params = {{"taskId", task_}, {"inputResponses", std::move(answers)}},
         .on_answer = [self = shared_from_this(), result](const ClientCore::Answer& answer) {
           self->wire_ = 0;
           self->Touch();
           if (const auto* failure = std::get_if<ClientChannel::Failure>(&answer)) {
             return self->Finish(failure->error);
           }
           if (const auto* error = std::get_if<RpcError>(&answer)) {
             return self->Finish(RpcOutcome(*error));
           }
           self->OnTask(result);
         }});
  });
}

// The timer goes off at the earliest time that could matter, and looks then what has happened.
void ClientCall::Watch() {
  const RequestOptions& options = plan_.options;
  Clock::time_point until = Clock::time_point::max();
  if (options.silence_max.count() > 0) until = heard_ + options.silence_max;
  if (options.time_max.count() > 0) until = std::min(until, begun_ + options.time_max);
  if (until == Clock::time_point::max()) return;
  watch_.expires_at(until);
  watch_.async_wait([weak = weak_from_this()](const auto& cancelled) {
    const auto self = weak.lock();
    if (!cancelled && self && !self->over_) self->OnWatch();
  });
}

void ClientCall::OnWatch() {
  const RequestOptions& options = plan_.options;
  const auto now = Clock::now();
  if (options.time_max.count() > 0 && now >= begun_ + options.time_max) {
    return GiveUp(Error(Errc::kLimit, plan_.method + " took longer than " +
                                          DurationText(options.time_max) + " and was given up"));
  }
  // The server waits for us while a question is open.
  heard_ = std::max(heard_, core_->last_asked());
  if (options.silence_max.count() > 0 && now >= heard_ + options.silence_max) {
    std::string text = "no answer to " + plan_.method + " in " + DurationText(options.silence_max);
    const std::string odd = core_->MisbehaviourSince(begun_);
    if (!odd.empty()) text += "; meanwhile " + odd;
    return GiveUp(Error(Errc::kLimit, std::move(text)));
  }
  Watch();
}

void ClientCall::Withdraw(std::string_view reason) {
  if (wire_ != 0) core_->Withdraw(std::exchange(wire_, 0), reason);
  if (task_.empty()) return;
  core_->Send({.method = "tasks/cancel",
               .params = {{"taskId", task_}},
               .on_answer = [](const ClientCore::Answer&) {}});
}

void ClientCall::Cancel() {
  if (over_) return;
  const auto self = shared_from_this();
  Withdraw("cancelled by the caller");
  core_->Remove(*this);
  Discard();
}

void ClientCall::GiveUp(const Error& reason) {
  if (over_) return;
  Withdraw(reason.message());
  Finish(reason);
}

void ClientCall::Discard() {
  over_ = true;
  watch_.cancel();
  poll_.cancel();
}

void ClientCall::Finish(Result<RpcOutcome> outcome) {
  if (over_) return;
  const auto self = shared_from_this();
  Discard();
  core_->Remove(*this);
  plan_.done(std::move(outcome));
}

}  // namespace glovebox::mcp
