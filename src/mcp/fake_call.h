#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "mcp/call.h"
#include "mcp/router.h"

namespace glovebox::mcp {

// A Call for unit tests: remembers everything that is said on it and does nothing.
class FakeCall final : public Call {
 public:
  explicit FakeCall(ProtocolVersion version = kNewestLegacyVersion) {
    call_context.version = version;
  }

  void Reply(boost::json::object result) override { replies.push_back(std::move(result)); }
  void Fail(const RpcError& error) override { failures.push_back(error); }
  void NeedInput(InputRequired input) override { questions.push_back(std::move(input)); }
  void OnCancel(std::function<void()> hook) override { cancel_hook = std::move(hook); }
  bool wants_progress() const override { return progress_wanted; }
  void Report(const Progress& progress) override { reports.push_back(progress); }
  void Log(const LogMessage& message) override { logs.push_back(message); }
  void Notify(std::string_view method, boost::json::object params) override {
    notifications.emplace_back(method, std::move(params));
  }
  std::shared_ptr<Call> ContinueAsTask() override { return task; }
  void ReleaseStream(std::chrono::milliseconds) override {}
  RequestId id() const override { return request_id; }
  const CallContext& context() const override { return call_context; }

  CallContext call_context;
  RequestId request_id = std::int64_t{1};
  bool progress_wanted = false;
  std::shared_ptr<Call> task;  // what ContinueAsTask returns

  std::vector<boost::json::object> replies;
  std::vector<RpcError> failures;
  std::vector<InputRequired> questions;
  std::function<void()> cancel_hook;
  std::vector<Progress> reports;
  std::vector<LogMessage> logs;
  std::vector<std::pair<std::string, boost::json::object>> notifications;
};

// What `router` says to one request.
inline std::shared_ptr<FakeCall> Ask(
    const Router& router, std::string_view method, std::string_view params,
    std::shared_ptr<FakeCall> call = std::make_shared<FakeCall>()) {
  const Router::RawHandler* handler = router.Find(method, call->context().version);
  CHECK(handler != nullptr);
  (*handler)(boost::json::parse(params).get_object(), call);
  return call;
}

}  // namespace glovebox::mcp
