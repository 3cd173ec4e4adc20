#include "transport/stdio_transport.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "base/unique_fd.h"
#include "transport/line_framing.h"
#include "transport/stdio_stream.h"

namespace glovebox {

using boost::system::error_code;

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
constexpr std::size_t kMessagesPerWrite = 16;

}  // namespace

// The state both directions share. Every handler holds a reference, so that one in flight when the
// transport is destroyed finds memory, and `receiver_` null.
class StdioTransport::Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(boost::asio::io_context& context, std::unique_ptr<StdioStream> in,
          std::unique_ptr<StdioStream> out, StdioTransportOptions options)
      : context_(context),
        in_(std::move(in)),
        out_(std::move(out)),
        options_(options),
        framer_(options.message_bytes_max) {}

  void Start(Receiver& receiver) {
    CHECK(receiver_ == nullptr && !over_);
    receiver_ = &receiver;
    Read();
  }

  void Send(std::string message) {
    if (over_) return;
    message.push_back('\n');
    queued_bytes_ += message.size();
    queue_.push_back(std::move(message));
    if (queued_bytes_ > options_.outgoing_bytes_max) {
      // The callback may not come from inside Send.
      boost::asio::post(context_, [self = shared_from_this()] {
        self->End(Error(Errc::kLimit,
                        "the peer has stopped reading: " + std::to_string(self->queued_bytes_) +
                            " bytes are waiting for it"));
      });
      return;
    }
    Write();
  }

  bool congested() const { return paused_ || queued_bytes_ > options_.outgoing_bytes_high_water; }

  void Close() {
    if (over_ || closing_) return;
    closing_ = true;
    in_.reset();
    if (!writing_) {
      boost::asio::post(context_, [self = shared_from_this()] { self->End({}); });
    }
  }

  void Abandon() {
    receiver_ = nullptr;
    over_ = true;
    in_.reset();
    out_.reset();
  }

 private:
  void Read() {
    if (reading_ || !in_ || input_ended_) return;
    reading_ = true;
    in_->AsyncReadSome(boost::asio::buffer(read_buffer_),
                       [self = shared_from_this()](const error_code& error, std::size_t count) {
                         self->OnRead(error, count);
                       });
  }

  void OnRead(const error_code& error, std::size_t count) {
    reading_ = false;
    if (over_ || closing_) return;
    if (error) {
      // A terminal or socket that went away is the end of input like any other: what is still
      // to be said may yet reach the peer, and if not, writing will tell.
      input_ended_ = true;
    } else {
      framer_.Append(std::string_view(read_buffer_.data(), count));
    }
    Deliver();
  }

  // Hands out what was read until there is no more or the peer has to read first.
  void Deliver() {
    while (!over_ && !closing_ && !end_reported_) {
      if (congested()) {
        paused_ = true;
        return;
      }
      auto frame = framer_.Next();
      if (!frame && input_ended_) frame = framer_.Finish();
      if (frame && frame->kind == LineFramer::Kind::kLine) {
        receiver_->OnMessage(frame->text);
      } else if (frame) {
        receiver_->OnRefusedMessage(
            Error(Errc::kLimit,
                  "message longer than " + std::to_string(options_.message_bytes_max) + " bytes"));
      } else if (input_ended_) {
        end_reported_ = true;
        receiver_->OnEndOfInput();
      } else {
        return Read();
      }
    }
  }

  void Write() {
    if (writing_ || queue_.empty() || over_) return;
    writing_ = true;
    std::vector<boost::asio::const_buffer> buffers;
    std::size_t skip = written_of_front_;
    for (const std::string& message : queue_) {
      if (buffers.size() == kMessagesPerWrite) break;
      buffers.push_back(boost::asio::buffer(message) + skip);
      skip = 0;
    }
    out_->AsyncWriteSome(std::move(buffers),
                         [self = shared_from_this()](const error_code& error, std::size_t count) {
                           self->OnWritten(error, count);
                         });
  }

  void OnWritten(const error_code& error, std::size_t count) {
    writing_ = false;
    if (over_) return;
    if (error) return End(Error(Errc::kSystem, "writing to the peer: " + error.message()));
    queued_bytes_ -= count;
    written_of_front_ += count;
    while (!queue_.empty() && written_of_front_ >= queue_.front().size()) {
      written_of_front_ -= queue_.front().size();
      queue_.pop_front();
    }
    if (queue_.empty() && closing_) return End({});
    Write();
    // Only when half is gone, so that we do not stop and go with every message.
    if (paused_ && queued_bytes_ <= options_.outgoing_bytes_high_water / 2) {
      paused_ = false;
      Deliver();
    }
  }

  void End(const Status& reason) {
    if (over_) return;
    over_ = true;
    in_.reset();
    out_.reset();
    queue_.clear();
    queued_bytes_ = 0;
    if (Receiver* receiver = std::exchange(receiver_, nullptr)) receiver->OnClosed(reason);
  }

  boost::asio::io_context& context_;
  std::unique_ptr<StdioStream> in_;
  std::unique_ptr<StdioStream> out_;
  const StdioTransportOptions options_;
  Receiver* receiver_ = nullptr;

  LineFramer framer_;
  std::array<char, kReadBytes> read_buffer_{};
  bool reading_ = false;       // a read is in flight
  bool input_ended_ = false;   // the stream gave end-of-file
  bool end_reported_ = false;  // and the receiver knows

  std::deque<std::string> queue_;  // the front is written up to written_of_front_
  std::size_t written_of_front_ = 0;
  std::size_t queued_bytes_ = 0;
  bool writing_ = false;
  bool paused_ = false;   // not reading until the queue is short again
  bool closing_ = false;  // Close was called: write the rest, then End
  bool over_ = false;
};

Result<std::unique_ptr<StdioTransport>> StdioTransport::Create(boost::asio::io_context& context,
                                                               int in_fd, int out_fd,
                                                               StdioTransportOptions options) {
  auto in = TRY(StdioStream::Open(context, in_fd, StdioStream::Direction::kRead, "stdin"));
  auto out = TRY(StdioStream::Open(context, out_fd, StdioStream::Direction::kWrite, "stdout"));
  return std::unique_ptr<StdioTransport>(new StdioTransport(
      std::make_shared<Channel>(context, std::move(in), std::move(out), options)));
}

Result<std::unique_ptr<StdioTransport>> StdioTransport::TakeStandardStreams(
    boost::asio::io_context& context, StdioTransportOptions options) {
  auto transport = TRY(Create(context, STDIN_FILENO, STDOUT_FILENO, options));
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return Error::FromErrno("/dev/null", errno);
  if (::dup2(null.get(), STDIN_FILENO) < 0) return Error::FromErrno("replacing stdin", errno);
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return Error::FromErrno("replacing stdout", errno);
  return transport;
}

StdioTransport::StdioTransport(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
StdioTransport::~StdioTransport() { channel_->Abandon(); }

void StdioTransport::Start(Receiver& receiver) { channel_->Start(receiver); }
void StdioTransport::Send(std::string message) { channel_->Send(std::move(message)); }
bool StdioTransport::congested() const { return channel_->congested(); }
void StdioTransport::Close() { channel_->Close(); }

}  // namespace glovebox
