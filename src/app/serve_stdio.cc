#include "app/serve_stdio.h"

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/python_service.h"
#include "app/request_log.h"
#include "mcp/stream_connection.h"
#include "transport/stdio_transport.h"

namespace glovebox {

Status ServeStdio(const Configuration& configuration, const Log& log) {
  boost::asio::io_context context(1);
  // First of all: from here on nothing can write into the protocol by accident.
  const auto transport = TRY(StdioTransport::TakeStandardStreams(context));
  const auto service = TRY(PythonService::Create(context, configuration, log));
  service->server().on_request = [&](std::string_view method, int code, double seconds) {
    LogRequest(log, method, code, seconds);
  };

  // After the service, so that it goes first: no call may outlive its client.
  Status ending;
  mcp::StreamConnection connection(service->server(), *transport, "stdio",
                                   [&](const Status& reason) {
                                     ending = reason;
                                     context.stop();
                                   });
  // The first signal ends the connection in order, the second one ends the loop.
  boost::asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    connection.Close();
    signals.async_wait([&](const boost::system::error_code& again, int) {
      if (!again) context.stop();
    });
  });
  connection.Start();
  context.run();
  return ending;
}

}  // namespace glovebox
