#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "transport/transport.h"

namespace glovebox {

struct StdioTransportOptions {
  // A tool call carries its code in one line. The largest code we run needs 1.2 MB when every
  // character is escaped; beyond it there is room to refuse politely what is too large.
  std::size_t message_bytes_max = 16u << 20;
  // Above this many queued bytes we stop reading, below half of it we read again.
  std::size_t outgoing_bytes_high_water = 1u << 20;
  // Answers to what was already read may still come in then, some 50 MB each at the worst (every
  // character of full streams escaped twice); a peer that lets this much pile up is given up.
  std::size_t outgoing_bytes_max = 1u << 30;
};

static_assert(StdioTransportOptions{}.outgoing_bytes_high_water <
              StdioTransportOptions{}.outgoing_bytes_max);

// Newline-delimited messages over a pair of descriptors, as MCP clients start servers.
//
// How the descriptors are made asynchronous, whatever they are, is in stdio_stream.h. The process
// must ignore SIGPIPE; a peer that is gone is then reported by OnClosed.
class StdioTransport final : public Transport {
 public:
  // Borrows the two descriptors: the transport works on duplicates of its own.
  static Result<std::unique_ptr<StdioTransport>> Create(boost::asio::io_context& context, int in_fd,
                                                        int out_fd,
                                                        StdioTransportOptions options = {});

  // The transport over this process's stdin and stdout. From then on descriptor 0 is /dev/null and
  // descriptor 1 is stderr, so that no library and no child can put a stray byte into the protocol.
  static Result<std::unique_ptr<StdioTransport>> TakeStandardStreams(
      boost::asio::io_context& context, StdioTransportOptions options = {});

  ~StdioTransport() override;

  void Start(Receiver& receiver) override;
  void Send(std::string message) override;
  bool congested() const override;
  void Close() override;

 private:
  class Channel;
  explicit StdioTransport(std::shared_ptr<Channel> channel);

  std::shared_ptr<Channel> channel_;  // handlers in flight hold it too and outlive us
};

}  // namespace glovebox
