#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>

#include "mcp/client_channel.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {

// A server in memory, for tests of clients: `asked`, `notified` and `answered` are what it got, Say
// and Reply what it sends. Owned by a client; `log` outlives it.
class FakeClientChannel final : public ClientChannel {
 public:
  struct Log {
    FakeClientChannel* channel = nullptr;  // null once it is gone
    std::vector<OutgoingRequest> asked;
    std::vector<std::string> notified;  // "method params"
    std::vector<std::string> answered;
    std::vector<std::int64_t> forgotten;
    std::optional<ProtocolVersion> adopted;
    int restarts = 0;
    int closes = 0;
    bool closing_cancels = false;
    bool mirrors = false;
    bool may_restart = false;

    const OutgoingRequest& last() const { return asked.back(); }
    std::string last_text() const {
      return asked.back().method + ' ' + WriteJson(Plain(asked.back()));
    }

    void Say(std::string_view json) const {
      auto parsed = ParseMessage(json);
      channel->receiver_->OnMessage(std::move(std::get<Message>(parsed)));
    }
    void Reply(std::string_view result) const { ReplyTo(asked.back().id, result); }
    void ReplyTo(std::int64_t id, std::string_view result) const {
      Say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + std::string(result) +
          '}');
    }
    void ReplyError(int code, std::string_view message, std::string_view data = "null") const {
      Say(R"({"jsonrpc":"2.0","id":)" + std::to_string(asked.back().id) + R"(,"error":{"code":)" +
          std::to_string(code) + R"(,"message":")" + std::string(message) + R"(","data":)" +
          std::string(data) + "}}");
    }
    void Fail(ClientChannel::Failure failure) const {
      channel->receiver_->OnNoAnswer(asked.back().id, failure);
    }
    void Misbehave(const Error& error) const { channel->receiver_->OnMisbehaviour(error); }
    void End(const Status& reason) const { channel->receiver_->OnClosed(reason); }

    // The params of a request without its envelope.
    static boost::json::object Plain(const OutgoingRequest& request) {
      boost::json::object params = request.params;
      params.erase("_meta");
      return params;
    }
  };

  explicit FakeClientChannel(Log& log) : log_(log) { log_.channel = this; }
  ~FakeClientChannel() override { log_.channel = nullptr; }

  void Start(Receiver& receiver) override { receiver_ = &receiver; }
  void Ask(OutgoingRequest request) override { log_.asked.push_back(std::move(request)); }
  void Forget(std::int64_t id) override { log_.forgotten.push_back(id); }
  bool closing_cancels() const override { return log_.closing_cancels; }
  void Notify(std::string_view method, boost::json::object params,
              std::function<void()> sent) override {
    log_.notified.push_back(std::string(method) + ' ' + WriteJson(params));
    if (sent) sent_.push_back(std::move(sent));
  }
  void Answer(boost::json::object message) override { log_.answered.push_back(WriteJson(message)); }
  void Adopt(ProtocolVersion version) override { log_.adopted = version; }
  bool mirrors_parameters() const override { return log_.mirrors; }
  bool Restart() override {
    ++log_.restarts;
    return log_.may_restart;
  }
  void Close() override { ++log_.closes; }

  // The server has what it was notified of.
  void Arrive() {
    for (const auto& sent : std::exchange(sent_, {})) sent();
  }

 private:
  Log& log_;
  Receiver* receiver_ = nullptr;
  std::vector<std::function<void()>> sent_;
};

}  // namespace glovebox::mcp
