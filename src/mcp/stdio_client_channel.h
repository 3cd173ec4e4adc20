#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "mcp/client_channel.h"
#include "transport/child_process.h"
#include "transport/stdio_transport.h"

namespace glovebox::mcp {

struct StdioClientOptions {
  ParseLimits limits = {};
  StdioTransportOptions transport = {};
  // For a program of ours: time to end after its input was closed, and again after SIGTERM.
  std::chrono::milliseconds patience{2000};
};

// A channel over any transport of whole messages. The peer's end of input is the end.
std::unique_ptr<ClientChannel> MakeStreamChannel(const boost::asio::any_io_executor& executor,
                                                 std::unique_ptr<Transport> transport,
                                                 ParseLimits limits = {});

// Starts a server program and talks with it over its stdin and stdout, one message a line. The
// program ends with the channel: politely after Close, at once on destruction. When it ends by
// itself, OnClosed says how, with the last it wrote to stderr. This process must ignore SIGPIPE.
Result<std::unique_ptr<ClientChannel>> StartServerProgram(boost::asio::io_context& context,
                                                          ChildProcessOptions program,
                                                          StdioClientOptions options = {});

}  // namespace glovebox::mcp
