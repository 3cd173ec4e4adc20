#include "app/stdio_relay.h"

#include <fcntl.h>

#include <cerrno>

namespace glovebox {
namespace {

using boost::system::error_code;

}  // namespace

Result<std::unique_ptr<InputRelay>> InputRelay::Start(boost::asio::io_context& context, int fd) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::FromErrno("making a pipe", errno);
  std::unique_ptr<InputRelay> relay(new InputRelay());
  relay->pipe_read_.reset(ends[0]);
  const UniqueFd write_end(ends[1]);
  relay->source_ = TRY(StdioStream::Open(context, fd, StdioStream::Direction::kRead, "stdin"));
  relay->sink_ =
      TRY(StdioStream::Open(context, write_end.get(), StdioStream::Direction::kWrite, "a pipe"));
  relay->Read();
  return relay;
}

void InputRelay::Read() {
  source_->AsyncReadSome(boost::asio::buffer(buffer_),
                         [this](const error_code& error, std::size_t size) {
                           if (error == boost::asio::error::operation_aborted) return;
                           if (error) {
                             sink_.reset();  // the end of the input
                           } else {
                             Write(size);
                           }
                         });
}

void InputRelay::Write(std::size_t size) {
  sink_->AsyncWriteSome({boost::asio::buffer(buffer_.data(), size)},
                        [this, size](const error_code& error, std::size_t written) {
                          if (error) return;  // nobody reads any more
                          if (written < size) {
                            std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(written),
                                      buffer_.begin() + static_cast<std::ptrdiff_t>(size),
                                      buffer_.begin());
                            Write(size - written);
                          } else {
                            Read();
                          }
                        });
}

Result<std::unique_ptr<OutputRelay>> OutputRelay::Open(boost::asio::io_context& context, int fd) {
  std::unique_ptr<OutputRelay> relay(new OutputRelay());
  relay->sink_ = TRY(StdioStream::Open(context, fd, StdioStream::Direction::kWrite,
                                       fd == 1 ? "stdout" : "stderr"));
  return relay;
}

void OutputRelay::Write(std::string_view bytes) {
  if (bytes.empty() || sink_ == nullptr) return;
  at_line_start_ = bytes.back() == '\n';
  queue_.emplace_back(bytes);
  if (queue_.size() == 1) WriteNext();
}

void OutputRelay::WriteNext() {
  const std::string& front = queue_.front();
  sink_->AsyncWriteSome({boost::asio::buffer(front.data() + written_, front.size() - written_)},
                        [this](const error_code& error, std::size_t size) {
                          if (error == boost::asio::error::operation_aborted) return;
                          if (error) {  // the reader is gone; the execution goes on to its end
                            queue_.clear();
                            sink_.reset();
                            return;
                          }
                          written_ += size;
                          if (written_ == queue_.front().size()) {
                            queue_.pop_front();
                            written_ = 0;
                          }
                          if (!queue_.empty()) WriteNext();
                        });
}

}  // namespace glovebox
