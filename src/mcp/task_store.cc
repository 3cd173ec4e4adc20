#include "mcp/task_store.h"

#include <array>
#include <cstdint>
#include <ctime>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/json/array.hpp>

#include "base/utf8.h"
#include "mcp/modern_call.h"
#include "mcp/params.h"
#include "mcp/random_name.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr std::size_t kStatusMessageMax = 500;  // code points

enum class TaskStatus : std::uint8_t { kWorking, kInputRequired, kCompleted, kFailed, kCancelled };

std::string_view StatusName(TaskStatus status) {
  switch (status) {
    case TaskStatus::kWorking: return "working";
    case TaskStatus::kInputRequired: return "input_required";
    case TaskStatus::kCompleted: return "completed";
    case TaskStatus::kFailed: return "failed";
    case TaskStatus::kCancelled: break;
  }
  return "cancelled";
}

// ISO 8601 in UTC, to the millisecond.
std::string Timestamp(system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  const std::time_t seconds = system_clock::to_time_t(whole);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return std::string(text.data()) + '.' + std::to_string(1000 + rest).substr(1) + 'Z';
}

// About what `value` takes in memory.
std::size_t BytesOf(const json::value& value) {
  std::size_t bytes = sizeof(json::value);
  if (const json::string* text = value.if_string()) bytes += text->size();
  if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) bytes += BytesOf(element);
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) bytes += key.size() + BytesOf(member);
  }
  return bytes;
}

struct TaskParams {
  std::string task_id;
};
struct TaskUpdateParams {
  std::string task_id;
  json::object answers;  // by the names of the questions
};

}  // namespace

template <>
Result<TaskParams> ParamsFromJson(const json::object& params) {
  return TaskParams{TRY(RequiredString(params, "taskId"))};
}

template <>
Result<TaskUpdateParams> ParamsFromJson(const json::object& params) {
  TaskUpdateParams update{TRY(RequiredString(params, "taskId")), {}};
  const json::object* answers = TRY(ObjectField(params, "inputResponses"));
  if (answers == nullptr) return WrongField("inputResponses", "given");
  update.answers = *answers;
  return update;
}

RpcError TasksNotDeclared() {
  return MissingCapability({{"extensions", {{kTasksExtension, json::object()}}}});
}

// What is known of one task, from its creation to the end of its time to live.
class TaskStore::Task : public std::enable_shared_from_this<Task> {
 public:
  Task(TaskStore& store, CallContext context, Handler again)
      : store_(store),
        context_(std::move(context)),
        again_(std::make_shared<const Handler>(std::move(again))) {}

  const std::string& id() const { return id_; }
  const std::string& principal() const { return context_.principal; }
  steady_clock::time_point expires() const { return expires_; }
  std::size_t result_bytes() const { return result_bytes_; }
  bool working() const { return status_ == TaskStatus::kWorking; }
  bool cancelled() const { return status_ == TaskStatus::kCancelled; }

  // The call of one round of work.
  std::shared_ptr<Call> NextCall(CallContext context);

  void Complete(json::object result) {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    End(TaskStatus::kCompleted, {}, std::move(result));
  }
  void Fail(const RpcError& error) {
    json::object body = {{"code", error.code}, {"message", error.message}};
    if (error.data) body["data"] = *error.data;
    End(TaskStatus::kFailed, error.message, std::move(body));
  }
  void Cancel(std::string_view reason) {
    if (status_ != TaskStatus::kWorking && status_ != TaskStatus::kInputRequired) return;
    const auto hook = cancel_hook_;
    End(TaskStatus::kCancelled, reason, {});
    if (hook != nullptr) (*hook)();
  }
  void SetCancelHook(std::function<void()> hook) {
    cancel_hook_ = std::make_shared<const std::function<void()>>(std::move(hook));
  }

  void Describe(std::string_view what_it_does) {
    status_message_ = ToUtf8(what_it_does.substr(0, 4 * kStatusMessageMax));
    status_message_.resize(PrefixOfCodePoints(status_message_, kStatusMessageMax));
    updated_ = system_clock::now();
  }

  // Waits for answers. Nobody works meanwhile, so there is nothing to stop.
  void Park(InputRequired input) {
    cancel_hook_ = nullptr;
    state_ = std::move(input.state);
    Change(TaskStatus::kInputRequired, {});
    for (const auto& [key, request] : input.requests) {
      questions_.emplace(NameQuestion(key), Question{key, ToJson(request, context_.version)});
    }
    ResumeIfAnswered();
  }
  // Takes the answers to open questions; others are ignored. kInvalidArgument: takes none.
  glovebox::Status Answer(const json::object& answers) {
    for (const auto& [name, answer] : answers) {
      if (questions_.contains(name) && !answer.is_object()) {
        return WrongField("inputResponses." + std::string(name), "an object");
      }
    }
    for (const auto& [name, answer] : answers) {
      const auto question = questions_.find(name);
      if (question == questions_.end()) continue;
      answers_[question->second.key] = answer;
      questions_.erase(question);
      updated_ = system_clock::now();
    }
    if (status_ == TaskStatus::kInputRequired) ResumeIfAnswered();
    return {};
  }

  // As in a CreateTaskResult.
  json::object Summary() const {
    json::object task = {{"taskId", id_}, {"status", StatusName(status_)}};
    if (!status_message_.empty()) task["statusMessage"] = status_message_;
    task["createdAt"] = Timestamp(created_);
    task["lastUpdatedAt"] = Timestamp(updated_);
    task["ttlMs"] = store_.options_.ttl.count();
    task["pollIntervalMs"] = store_.options_.poll_interval.count();
    return task;
  }
  // As in the answer to tasks/get.
  json::object Details() const {
    json::object task = Summary();
    if (status_ == TaskStatus::kCompleted) task["result"] = outcome_;
    if (status_ == TaskStatus::kFailed) task["error"] = outcome_;
    if (status_ == TaskStatus::kInputRequired) {
      json::object requests;
      for (const auto& [name, question] : questions_) requests[name] = question.request;
      task["inputRequests"] = std::move(requests);
    }
    return task;
  }

 private:
  struct Question {
    std::string key;  // the handler's
    json::object request;
  };

  void Change(TaskStatus status, std::string_view message) {
    status_ = status;
    Describe(message);
  }

  void End(TaskStatus status, std::string_view message, json::object outcome) {
    // Destroyed last: what they hold may hold the last reference to a call of this task.
    const auto again = std::exchange(again_, nullptr);
    const auto hook = std::exchange(cancel_hook_, nullptr);
    Change(status, message);
    questions_.clear();
    answers_.clear();
    state_.clear();
    outcome_ = std::move(outcome);
    result_bytes_ = BytesOf(outcome_);
    store_.result_bytes_ += result_bytes_;
  }

  // Clients tell questions apart by name, over the whole life of a task; a handler may ask the same
  // thing in two rounds.
  std::string NameQuestion(const std::string& key) {
    std::string name = key;
    for (int round = 2; !names_.insert(name).second; ++round) {
      name = key + '#' + std::to_string(round);
    }
    return name;
  }

  void ResumeIfAnswered() {
    if (!questions_.empty()) return;
    Change(TaskStatus::kWorking, {});
    boost::asio::post(store_.executor_, [weak = weak_from_this()] {
      if (const auto task = weak.lock(); task != nullptr && task->working()) task->RunAgain();
    });
  }

  void RunAgain() {
    CallContext context = context_;
    context.inputs = InputResponses(std::exchange(answers_, {}));
    context.state = std::exchange(state_, {});
    const auto handler = again_;  // the task may end in it
    const auto call = NextCall(std::move(context));
    try {
      (*handler)(call);
    } catch (const std::exception& exception) {
      call->Fail({kInternalError, std::string("internal error: ") + exception.what()});
    }
  }

  TaskStore& store_;  // holds this task: wherever a task is, the store is
  const std::string id_ = RandomName();
  const CallContext context_;  // of the request, without answers
  const system_clock::time_point created_ = system_clock::now();
  const steady_clock::time_point expires_ = steady_clock::now() + store_.options_.ttl;
  system_clock::time_point updated_ = created_;
  TaskStatus status_ = TaskStatus::kWorking;
  std::string status_message_;
  json::object outcome_;  // result or error
  std::size_t result_bytes_ = 0;

  // Until the end.
  std::shared_ptr<const Handler> again_;
  std::shared_ptr<const std::function<void()>> cancel_hook_;
  std::map<std::string, Question, std::less<>> questions_;  // open, by name
  std::set<std::string> names_;                             // of all questions so far
  json::object answers_;                                    // of this round, by the handler's keys
  std::string state_;
};

// One round of work on a task: until it is answered, asks something, or is dropped.
class TaskStore::TaskCall final : public Call, public std::enable_shared_from_this<TaskCall> {
 public:
  TaskCall(const std::shared_ptr<Task>& task, CallContext context)
      : task_(task), id_(task->id()), context_(std::move(context)) {}
  ~TaskCall() override {
    if (const auto task = Finish()) task->Fail({kInternalError, "the request was dropped"});
  }
  TaskCall(const TaskCall&) = delete;
  TaskCall& operator=(const TaskCall&) = delete;

  void Reply(json::object result) override {
    if (const auto task = Finish()) task->Complete(std::move(result));
  }
  void Fail(const RpcError& error) override {
    if (const auto task = Finish()) task->Fail(error);
  }
  void NeedInput(InputRequired input) override {
    const auto task = Finish();
    if (task == nullptr) return;
    json::object undeclared = UndeclaredFor(input, context_.capabilities);
    if (!undeclared.empty()) return task->Fail(MissingCapability(std::move(undeclared)));
    task->Park(std::move(input));
  }
  void OnCancel(std::function<void()> hook) override {
    if (!open_) return;
    if (const auto task = Working()) return task->SetCancelHook(std::move(hook));
    hook();
  }
  // What the last report says is the task's status message.
  bool wants_progress() const override { return true; }
  void Report(const Progress& progress) override {
    if (progress.message.empty()) return;
    if (const auto task = Working()) task->Describe(progress.message);
  }
  // The extension has no way to tell these.
  void Log(const LogMessage&) override {}
  void Notify(std::string_view, json::object) override {}
  void ReleaseStream(std::chrono::milliseconds) override {}

  std::shared_ptr<Call> ContinueAsTask() override { return shared_from_this(); }
  RequestId id() const override { return id_; }
  const CallContext& context() const override { return context_; }

 private:
  // Null when the task has ended without us, or is gone.
  std::shared_ptr<Task> Working() const {
    auto task = open_ ? task_.lock() : nullptr;
    return task != nullptr && task->working() ? task : nullptr;
  }
  std::shared_ptr<Task> Finish() {
    auto task = Working();
    open_ = false;
    return task;
  }

  const std::weak_ptr<Task> task_;
  const std::string id_;
  const CallContext context_;
  bool open_ = true;
};

std::shared_ptr<Call> TaskStore::Task::NextCall(CallContext context) {
  return std::make_shared<TaskCall>(shared_from_this(), std::move(context));
}

TaskStore::TaskStore(const boost::asio::any_io_executor& executor, TaskOptions options)
    : executor_(executor), options_(options), expiry_timer_(executor) {}

TaskStore::~TaskStore() = default;

Result<TaskStore::Created> TaskStore::Create(const CallContext& context, Handler again) {
  if (closed_) return Error(Errc::kLimit, "the server is going away");
  std::size_t& of_client = count_by_client_[context.principal];
  if (tasks_.size() >= options_.tasks_max || of_client >= options_.tasks_per_client_max ||
      result_bytes_ >= options_.result_bytes_max) {
    if (of_client == 0) count_by_client_.erase(context.principal);
    return Error(Errc::kLimit, "too many tasks are kept: at most " +
                                   std::to_string(options_.tasks_per_client_max) +
                                   " for each client, " + std::to_string(options_.tasks_max) +
                                   " in all, and " + std::to_string(options_.result_bytes_max) +
                                   " bytes of results");
  }
  ++of_client;
  // What the client said before the task began is for the first round only.
  CallContext later = context;
  later.inputs = {};
  later.state.clear();
  const auto task = std::make_shared<Task>(*this, std::move(later), std::move(again));
  CHECK(tasks_.emplace(task->id(), task).second);
  by_age_.push_back(task);
  if (by_age_.size() == 1) WaitForExpiry();
  json::object answer = task->Summary();
  answer["resultType"] = "task";
  return Created{task->NextCall(context), std::move(answer)};
}

std::shared_ptr<TaskStore::Task> TaskStore::Claim(const std::string& id, Call& call) const {
  if (!call.context().capabilities.tasks) {
    call.Fail(TasksNotDeclared());
    return nullptr;
  }
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second->principal() != call.context().principal) {
    call.Fail(
        ToRpcError(WrongField("taskId", "the name of a task of this client that has not expired")));
    return nullptr;
  }
  return found->second;
}

void TaskStore::WaitForExpiry() {
  expiry_timer_.expires_at(by_age_.front()->expires());
  expiry_timer_.async_wait(
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (error || alive.expired()) return;
        while (!by_age_.empty() && by_age_.front()->expires() <= steady_clock::now()) {
          ForgetOldest();
        }
        if (!by_age_.empty()) WaitForExpiry();
      });
}

void TaskStore::ForgetOldest() {
  const std::shared_ptr<Task> task = std::move(by_age_.front());
  by_age_.pop_front();
  tasks_.erase(task->id());
  if (--count_by_client_[task->principal()] == 0) count_by_client_.erase(task->principal());
  task->Cancel("its time to live is over");
  result_bytes_ -= task->result_bytes();
}

void TaskStore::CancelAll() {
  closed_ = true;
  expiry_timer_.cancel();
  const std::deque<std::shared_ptr<Task>> tasks = by_age_;  // hooks may do anything
  for (const auto& task : tasks) task->Cancel("the server is going away");
}

void TaskStore::Register(Router& router) {
  router.Handle<TaskParams, EmptyResult>(
      "tasks/get",
      [this](const TaskParams& params, const auto& responder) {
        const auto task = Claim(params.task_id, *responder.call());
        if (task != nullptr) responder.call()->Reply(task->Details());
      },
      Eras::kModern);
  router.Handle<TaskUpdateParams, EmptyResult>(
      "tasks/update",
      [this](const TaskUpdateParams& params, const auto& responder) {
        const auto task = Claim(params.task_id, *responder.call());
        if (task == nullptr) return;
        const glovebox::Status taken = task->Answer(params.answers);
        if (!taken) return responder.Fail(taken.error());
        responder.Reply({});
      },
      Eras::kModern);
  router.Handle<TaskParams, EmptyResult>(
      "tasks/cancel",
      [this](const TaskParams& params, const auto& responder) {
        const auto task = Claim(params.task_id, *responder.call());
        if (task == nullptr) return;
        task->Cancel("cancelled by the client");
        responder.Reply({});
      },
      Eras::kModern);
}

}  // namespace glovebox::mcp
