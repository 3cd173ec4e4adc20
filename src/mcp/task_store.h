#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/call.h"
#include "mcp/router.h"

namespace glovebox::mcp {

struct TaskOptions {
  std::chrono::milliseconds ttl{std::chrono::minutes(10)};  // readable for this long after creation
  std::chrono::milliseconds poll_interval{500};             // how often clients should ask
  // Bounds of what is kept, ended or not. Nothing makes room before its ttl is over: clients were
  // promised that. While a bound is reached no task is created.
  std::size_t tasks_max = 1000;  // of all clients
  std::size_t tasks_per_client_max = 100;
  std::size_t result_bytes_max = 64u << 20;  // of all clients, as they are in memory; about
};

// -32021: tasks are for clients that declare the extension in each request.
RpcError TasksNotDeclared();

// Requests that went on as tasks (extension io.modelcontextprotocol/tasks, modern era): the client
// has the task's name and asks how it is getting on. A task is its caller's: to anybody else its
// name is unknown. Its end, result included, stays readable for `ttl`; a task that still works then
// is cancelled.
//
// Thread rule: the thread of the server's io_context.
class TaskStore {
 public:
  TaskStore(const boost::asio::any_io_executor& executor, TaskOptions options);
  // Runs no cancel hook: see CancelAll. Calls of tasks may live on and then do nothing.
  ~TaskStore();
  TaskStore(const TaskStore&) = delete;
  TaskStore& operator=(const TaskStore&) = delete;

  // The start of a task from a call in work.
  struct Created {
    std::shared_ptr<Call> call;  // the work goes on here
    boost::json::object answer;  // the CreateTaskResult with its resultType, for Call::Reply
  };
  // `again` runs the handler anew, after the client has answered the task's questions; it is
  // destroyed when the task ends. The created call holds nothing of the original one.
  // kLimit when a bound is reached; then the work can go on as it was.
  using Handler = std::function<void(std::shared_ptr<Call>)>;
  Result<Created> Create(const CallContext& context, Handler again);

  // Answers tasks/get, tasks/update, tasks/cancel. The store must outlive the router's use.
  void Register(Router& router);

  // Cancels all work and creates no more: the server is going away.
  void CancelAll();

  std::size_t size() const { return tasks_.size(); }

 private:
  class Task;
  class TaskCall;

  // The task that `call` asks for; null when it has been refused.
  std::shared_ptr<Task> Claim(const std::string& id, Call& call) const;
  void WaitForExpiry();
  void ForgetOldest();

  const boost::asio::any_io_executor executor_;
  const TaskOptions options_;
  std::map<std::string, std::shared_ptr<Task>, std::less<>> tasks_;
  std::deque<std::shared_ptr<Task>> by_age_;  // oldest first: all live equally long
  std::map<std::string, std::size_t, std::less<>> count_by_client_;
  std::size_t result_bytes_ = 0;
  bool closed_ = false;
  boost::asio::steady_timer expiry_timer_;                        // for the oldest
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // dies with the store
};

}  // namespace glovebox::mcp
