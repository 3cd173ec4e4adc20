// The yardstick for HTTP: the plainest server that Boost.Beast makes. One thread, keep-alive, reads
// the body, answers some 200 bytes of JSON; no limits, no time-outs, no routing.
//
//   beast_hello [PORT]      prints the port (0 or none: any free one) and serves until it is killed

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::beast::error_code;

// What a tool call that does nothing is answered with.
constexpr const char* kBody =
    R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"value\":1}"}],)"
    R"("structuredContent":{"value":1},"isError":false,"resultType":"complete",)"
    R"("_meta":{"example/padding":"to two hundred"}}})";

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(tcp::socket socket) : socket_(std::move(socket)) {}

  void Read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](const error_code& error, std::size_t) {
                       if (!error) self->Write();
                     });
  }

 private:
  void Write() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(request_.keep_alive());
    response_.body() = kBody;
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                        if (!error && self->response_.keep_alive()) self->Read();
                      });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void Accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](const error_code& error, tcp::socket socket) {
    if (!error) {
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<Session>(std::move(socket))->Read();
    }
    Accept(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
  boost::asio::io_context context(1);
  tcp::acceptor acceptor(context, {boost::asio::ip::address_v4::loopback(), port});
  std::printf("%u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  Accept(acceptor);
  context.run();
  return 0;
}
