#include "mcp/stdio_client_channel.h"

#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/text.h"
#include "mcp/client_results.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

// How a program is reached; without one, only the transport.
struct Link {
  std::unique_ptr<Transport> transport;
  std::unique_ptr<ChildProcess> program;
};
using Opener = std::function<Result<Link>()>;

class StreamChannel final : public ClientChannel, private Transport::Receiver {
 public:
  StreamChannel(boost::asio::any_io_executor executor, Link link, Opener reopen, ParseLimits limits,
                std::chrono::milliseconds patience)
      : executor_(std::move(executor)),
        link_(std::move(link)),
        reopen_(std::move(reopen)),
        limits_(limits),
        patience_(patience),
        last_wait_(executor_) {}

  void Start(ClientChannel::Receiver& receiver) override {
    receiver_ = &receiver;
    Attach();
  }

  void Ask(OutgoingRequest request) override {
    Send(RequestMessage(request.id, request.method, std::move(request.params)));
  }
  void Forget(std::int64_t) override {}
  bool closing_cancels() const override { return false; }

  void Notify(std::string_view method, json::object params, std::function<void()> sent) override {
    Send(NotificationMessage(method, std::move(params)));
    if (sent) boost::asio::post(executor_, std::move(sent));
  }
  void Answer(json::object message) override { Send(std::move(message)); }
  void Adopt(ProtocolVersion) override {}
  bool mirrors_parameters() const override { return false; }

  bool Restart() override {
    if (!reopen_ || closing_) return false;
    auto link = reopen_();
    if (!link.ok()) return false;
    link_ = std::move(link).value();
    Attach();
    return true;
  }

  void Close() override {
    if (closing_) return;
    closing_ = true;
    if (over_) {
      boost::asio::post(executor_, [this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) receiver_->OnClosed({});
      });
      return;
    }
    TakeLeave();
  }

 private:
  void Attach() {
    ++attachment_;
    over_ = false;
    transport_over_ = false;
    lost_.reset();
    link_.transport->Start(*this);
    if (link_.program) {
      link_.program->OnExit([this](const ChildExit& end) { OnProgramEnd(end); });
    }
  }

  void Send(json::object message) { link_.transport->Send(WriteJson(message)); }

  // Closes the server's input and waits for its end: of the program too, if it is ours.
  void TakeLeave() {
    link_.transport->Close();
    if (link_.program) link_.program->Stop(patience_);
    // A peer that does not read keeps the transport from closing: not for ever.
    EndAfter(patience_ * 3);
  }

  void EndAfter(std::chrono::milliseconds time) {
    last_wait_.expires_after(time);
    last_wait_.async_wait(
        [this, alive = std::weak_ptr(alive_), attachment = attachment_](const auto& cancelled) {
          if (!cancelled && !alive.expired() && attachment == attachment_) End();
        });
  }

  void OnMessage(std::string_view text) override {
    auto parsed = ParseMessage(text, limits_);
    if (auto* message = std::get_if<Message>(&parsed)) {
      return receiver_->OnMessage(std::move(*message));
    }
    // A callback may destroy this.
    const std::weak_ptr alive(alive_);
    for (Message& message : std::get<Batch>(parsed)) {
      receiver_->OnMessage(std::move(message));
      if (alive.expired()) return;
    }
  }

  void OnRefusedMessage(const Error& error) override {
    receiver_->OnMisbehaviour(Error(error.code(), "the server sent a " + error.message()));
  }

  void OnEndOfInput() override {
    if (!lost_) lost_ = Error(Errc::kSystem, "the server closed its output");
    TakeLeave();
  }

  void OnClosed(const Status& reason) override {
    transport_over_ = true;
    if (!reason.ok() && !lost_) lost_ = reason.error();
    if (!link_.program || !link_.program->running()) return End();
    link_.program->Stop(patience_);
    EndAfter(patience_ * 3);
  }

  void OnProgramEnd(const ChildExit& end) {
    std::string tail = std::string(Trim(link_.program->stderr_tail()));
    constexpr std::size_t kTailBytesMax = 250;
    if (tail.size() > kTailBytesMax) tail.erase(0, tail.size() - kTailBytesMax);
    lost_ = Error(Errc::kSystem,
                  "the server program " + ToText(end) +
                      (tail.empty() ? "" : "; the last it wrote to stderr: " + Quoted(tail)));
    if (transport_over_) return End();
    // What it said last may still be in the pipe, and its end behind it.
    EndAfter(patience_);
  }

  // The last thing this object does in a callback.
  void End() {
    if (over_) return;
    over_ = true;
    last_wait_.cancel();
    const Status reason = closing_ || !lost_ ? Status() : Status(*lost_);
    receiver_->OnClosed(reason);
  }

  const boost::asio::any_io_executor executor_;
  Link link_;
  const Opener reopen_;
  const ParseLimits limits_;
  const std::chrono::milliseconds patience_;
  boost::asio::steady_timer last_wait_;
  ClientChannel::Receiver* receiver_ = nullptr;
  int attachment_ = 0;           // counts the programs that were started
  std::optional<Error> lost_;    // why the server is gone, once it is known
  bool transport_over_ = false;  // nothing more will be received
  bool over_ = false;            // the receiver knows
  bool closing_ = false;         // at our wish
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // dies with the channel
};

}  // namespace

std::unique_ptr<ClientChannel> MakeStreamChannel(const boost::asio::any_io_executor& executor,
                                                 std::unique_ptr<Transport> transport,
                                                 ParseLimits limits) {
  return std::make_unique<StreamChannel>(executor, Link{std::move(transport), nullptr}, nullptr,
                                         limits, std::chrono::seconds(1));
}

Result<std::unique_ptr<ClientChannel>> StartServerProgram(boost::asio::io_context& context,
                                                          ChildProcessOptions program,
                                                          StdioClientOptions options) {
  Opener open = [&context, program = std::move(program),
                 transport = options.transport]() -> Result<Link> {
    Link link;
    link.program = TRY(ChildProcess::Start(context, program));
    // The transport works on descriptors of its own, so these ends close here: what it closes then
    // is the last.
    const UniqueFd in = link.program->TakeInput();
    const UniqueFd out = link.program->TakeOutput();
    link.transport = TRY(StdioTransport::Create(context, out.get(), in.get(), transport));
    return link;
  };
  Link link = TRY(open());
  return std::unique_ptr<ClientChannel>(std::make_unique<StreamChannel>(
      context.get_executor(), std::move(link), std::move(open), options.limits, options.patience));
}

}  // namespace glovebox::mcp
