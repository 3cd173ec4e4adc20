#include "app/serve_command.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/zygote_path.h"
#include "base/result.h"
#include "executor/local_executor.h"
#include "mcp/router.h"
#include "mcp/session.h"
#include "tools/execute_code_tool.h"
#include "tools/tool.h"
#include "transport/stdio_transport.h"

#ifndef GLOVEBOX_VERSION
#error "GLOVEBOX_VERSION is the project's version, defined by src/app/CMakeLists.txt"
#endif

namespace glovebox {
namespace {

// What programs written by models import most. Imported once in the zygote, they cost a box
// nothing.
const std::vector<std::string>& CommonModules() {
  static const std::vector<std::string> modules = {
      "json",        "math",    "re",        "datetime", "random", "collections",
      "itertools",   "typing",  "functools", "asyncio",  "string", "statistics",
      "dataclasses", "decimal", "traceback", "linecache"};
  return modules;
}

constexpr const char* kInstructions =
    "Runs Python in sealed boxes. Every execute_code call gets a fresh box: no state survives "
    "between calls, there is no network, and files vanish with the box, so send complete programs "
    "and print or return what you need. When a run times out, do less per call or raise `timeout`.";

mcp::SessionOptions ServerOptions() {
  mcp::SessionOptions options;
  options.server_info = {"glovebox", "Glovebox", GLOVEBOX_VERSION};
  options.capabilities["tools"] = boost::json::object();
  options.instructions = kInstructions;
  return options;
}

// Serves one client to its end. The order of the declarations is the order of destruction reversed:
// the session lets go of its calls before the executor kills their boxes.
Status ServeStdio() {
  boost::asio::io_context context(1);
  // First of all: from here on nothing can write into the protocol by accident.
  auto transport = TRY(StdioTransport::TakeStandardStreams(context));
  // A client that is gone is an error of write(), not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);

  LocalExecutorOptions executor_options;
  executor_options.zygote_program = TRY(FindZygoteProgram());
  executor_options.preimports = CommonModules();
  const auto executor = TRY(CreateLocalExecutor(context, std::move(executor_options)));

  ToolSet tools;
  tools.Add(std::make_unique<ExecuteCodeTool>(context.get_executor(), *executor));
  mcp::Router router;
  tools.Register(router);

  Status ending;
  mcp::Session session(context.get_executor(), *transport, router, ServerOptions(),
                       [&](const Status& reason) {
                         ending = reason;
                         context.stop();
                       });
  // The first signal ends the session in order, the second one ends the loop.
  boost::asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    session.Close();
    signals.async_wait([&](const boost::system::error_code& again, int) {
      if (!again) context.stop();
    });
  });
  session.Start();
  context.run();
  return ending;
}

int Serve() {
  Status status;
  try {
    status = ServeStdio();
  } catch (const std::exception& exception) {  // Asio's and the standard library's, at their root
    status = Error(Errc::kInternal, exception.what());
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "glovebox: %s\n", status.error().message().c_str());
  return 1;
}

}  // namespace

void AddServeCommand(CLI::App& root, int& exit_code) {
  CLI::App* command = root.add_subcommand("serve", "Serve MCP clients: Python in sealed boxes");
  // One choice today, and the flag that existing client configurations carry.
  const auto transport = std::make_shared<std::string>("stdio");
  command->add_option("--transport", *transport, "How clients connect")
      ->check(CLI::IsMember({"stdio"}))
      ->capture_default_str();
  command->callback([transport, &exit_code] { exit_code = Serve(); });
}

}  // namespace glovebox
