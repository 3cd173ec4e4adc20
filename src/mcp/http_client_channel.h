#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "mcp/client_channel.h"
#include "transport/http_client.h"

namespace glovebox::mcp {

struct HttpClientChannelOptions {
  std::string bearer_token = {};  // may be empty
  HttpHeaders headers = {};       // sent with every request, besides our own
  ParseLimits limits = {};        // bytes_max bounds each message, alone or in a stream
  HttpClientOptions http = {};
  // A stream that broke off is resumed where the server left event ids (legacy era): after the time
  // it asked for, within these bounds; this often without an event in between.
  std::chrono::milliseconds resume_after{1000};
  std::chrono::milliseconds resume_after_max{10'000};
  int resume_attempts_max = 5;
  // Notifications and answers to the server under way at once; one more is dropped and reported.
  std::size_t posts_max = 64;
  std::chrono::milliseconds farewell_max{2000};  // for DELETE, at the end of a session
};

// A channel over Streamable HTTP: one POST for each message, answered by JSON or by a stream.
// Legacy era: keeps the server's session (and its stream for messages of its own, if it has one),
// resumes streams, ends the session with DELETE. Modern era: repeats method and name in headers;
// closing the response is what cancels. Redirects are refused. Which era it is, Adopt says; until
// then messages that carry a modern envelope are sent as modern ones, all others as legacy ones.
//
// kInvalidArgument for a URL that is not plain http (see ParseHttpUrl) or a token that cannot stand
// in a header.
Result<std::unique_ptr<ClientChannel>> OpenHttpChannel(boost::asio::io_context& context,
                                                       std::string_view url,
                                                       HttpClientChannelOptions options = {});

}  // namespace glovebox::mcp
