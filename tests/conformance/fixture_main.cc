#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "fixture.h"
#include "mcp/http_endpoint.h"
#include "mcp/stream_connection.h"
#include "transport/http_server.h"
#include "transport/stdio_transport.h"

namespace glovebox::conformance {
namespace {

constexpr std::chrono::milliseconds kDrain{2000};

mcp::ServerOptions Options() {
  mcp::ServerOptions options;
  options.info = {"conformance-fixture", "Conformance fixture", "1.0.0", "", {}};
  options.instructions = "Serves what the conformance suite asks for by name.";
  options.logging = true;
  options.changes = {true, true, true, true};
  return options;
}

void Fill(mcp::Server& server) {
  AddContentTools(server);
  AddInputTools(server);
  AddTaskTools(server);
  AddPrompts(server);
  AddResources(server);
  server.Open();
}

// Until SIGTERM or SIGINT.
Status ServeHttp(std::uint16_t port) {
  boost::asio::io_context context(1);
  mcp::Server server(context.get_executor(), Options());
  Fill(server);
  mcp::HttpEndpoint endpoint(server, {});
  HttpServerOptions options;
  options.port = port;
  const auto http = TRY(HttpServer::Listen(context, endpoint, options));
  const std::string address = "127.0.0.1:" + std::to_string(http->port());
  std::fprintf(stderr, "listening on %s (http://%s/mcp)\n", address.c_str(), address.c_str());

  boost::asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    endpoint.Drain();
    http->Drain(kDrain, [&context] { context.stop(); });
  });
  context.run();
  return {};
}

// Until the client has gone.
Status ServeStdio() {
  boost::asio::io_context context(1);
  const auto transport = TRY(StdioTransport::TakeStandardStreams(context));
  mcp::Server server(context.get_executor(), Options());
  Fill(server);
  Status ending;
  mcp::StreamConnection connection(server, *transport, "stdio", [&](const Status& reason) {
    ending = reason;
    context.stop();
  });
  connection.Start();
  context.run();
  return ending;
}

}  // namespace
}  // namespace glovebox::conformance

int main(int argc, char** argv) try {
  CLI::App app("The conformance suite's fixture server.");
  std::uint16_t port = 0;
  bool stdio = false;
  app.add_option("--port", port, "TCP port on 127.0.0.1; 0 for any free one");
  app.add_flag("--stdio", stdio, "Serve one client on stdin and stdout instead");
  CLI11_PARSE(app, argc, argv);
  // A client that is gone is an error of write(), not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  const auto ending =
      stdio ? glovebox::conformance::ServeStdio() : glovebox::conformance::ServeHttp(port);
  if (ending.ok()) return 0;
  std::fprintf(stderr, "%s\n", ending.error().message().c_str());
  return 1;
} catch (const std::exception& exception) {
  std::fprintf(stderr, "%s\n", exception.what());
  return 1;
}
