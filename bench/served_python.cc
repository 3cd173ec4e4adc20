#include "served_python.h"

#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "piped_program.h"

namespace glovebox::bench {
namespace {

namespace http = boost::beast::http;
namespace json = boost::json;
using boost::asio::ip::tcp;

constexpr char kEnable[] = "--enable-data-science=true";
constexpr char kRevision[] = "2026-07-28";
constexpr std::chrono::seconds kStartPatience{20};

std::string CallOf(const char* tool, json::object arguments) {
  return json::serialize(
      json::object{{"jsonrpc", "2.0"},
                   {"id", 1},
                   {"method", "tools/call"},
                   {"params",
                    {{"name", tool},
                     {"arguments", std::move(arguments)},
                     {"_meta",
                      {{"io.modelcontextprotocol/protocolVersion", kRevision},
                       {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}});
}

Status Expect(const std::string& answer, const std::string& part) {
  if (answer.find(part) == std::string::npos) {
    return Error(Errc::kSystem, "glovebox serve answered " + answer.substr(0, 400));
  }
  return {};
}

class OverStdio final : public ServedPython {
 public:
  explicit OverStdio(PipedProgram server) : server_(std::move(server)) {}

  Result<std::string> Exchange(const char* /*tool*/, const std::string& message) override {
    TRY(server_.Send(message + "\n"));
    std::string answer;
    TRY(server_.ReceiveLines([&](std::string_view line) { answer = line; }));
    return answer;
  }

 private:
  PipedProgram server_;
};

class OverHttp final : public ServedPython {
 public:
  OverHttp(PipedProgram server, std::uint16_t port) : server_(std::move(server)), port_(port) {}
  ~OverHttp() override { ::kill(server_.pid(), SIGTERM); }

  Status Connect() {
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    boost::system::error_code error;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      socket_ = tcp::socket(context_);
      socket_.connect({boost::asio::ip::address_v4::loopback(), port_}, error);
    } while (error && std::chrono::steady_clock::now() < deadline);
    if (error) return Error(Errc::kSystem, "glovebox serve: " + error.message());
    socket_.set_option(tcp::no_delay(true));
    return {};
  }

  Result<std::string> Exchange(const char* tool, const std::string& message) override {
    http::request<http::string_body> request(http::verb::post, "/mcp", 11);
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::content_type, "application/json");
    request.set(http::field::accept, "application/json, text/event-stream");
    request.set("MCP-Protocol-Version", kRevision);
    request.set("Mcp-Method", "tools/call");
    request.set("Mcp-Name", tool);
    request.body() = message;
    request.prepare_payload();
    boost::system::error_code error;
    http::write(socket_, request, error);
    if (error) return Error(Errc::kSystem, "asking over HTTP: " + error.message());
    http::response<http::string_body> response;
    http::read(socket_, buffer_, response, error);
    if (error) return Error(Errc::kSystem, "the answer over HTTP: " + error.message());
    return std::move(response.body());
  }

 private:
  PipedProgram server_;
  std::uint16_t port_;
  boost::asio::io_context context_{1};
  tcp::socket socket_{context_};
  boost::beast::flat_buffer buffer_;
};

std::uint16_t FreePort() {
  boost::asio::io_context context(1);
  const tcp::acceptor acceptor(context, {boost::asio::ip::address_v4::loopback(), 0});
  return acceptor.local_endpoint().port();
}

}  // namespace

Status ServedPython::Run(const Workload& workload) {
  constexpr const char* kTool = "execute_code";
  return Expect(
      TRY(Exchange(kTool, CallOf(kTool, {{"code", workload.code}, {"profile", workload.profile}}))),
      "\"stdout\":" + json::serialize(json::string(workload.output)));
}

Status ServedPython::Validate(const Workload& workload) {
  constexpr const char* kTool = "validate_code";
  return Expect(TRY(Exchange(kTool, CallOf(kTool, {{"code", workload.code}}))), "\"valid\":true");
}

Result<std::unique_ptr<ServedPython>> ServedPython::StartStdio(const std::string& glovebox) {
  return std::unique_ptr<ServedPython>(
      new OverStdio(TRY(PipedProgram::Start({glovebox, "serve", kEnable}))));
}

Result<std::unique_ptr<ServedPython>> ServedPython::StartHttp(const std::string& glovebox) {
  const std::uint16_t port = FreePort();
  auto server = std::make_unique<OverHttp>(
      TRY(PipedProgram::Start({glovebox, "serve", kEnable, "--transport", "http", "--port",
                               std::to_string(port), "--rate", "0"})),
      port);
  TRY(server->Connect());
  return std::unique_ptr<ServedPython>(std::move(server));
}

}  // namespace glovebox::bench
