#include "transport/http_request_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>

namespace glovebox {

namespace http = boost::beast::http;
using boost::beast::error_code;

namespace {

constexpr std::size_t kReadBytes = std::size_t{8} << 10;
constexpr std::size_t kBodyReadBytes = std::size_t{64} << 10;
// What a quiet connection may keep of its buffer.
constexpr std::size_t kKeptBytesMax = std::size_t{16} << 10;
// The shortest end of a chunked body, "0\r\n\r\n": with less at hand there is nothing to parse.
constexpr std::size_t kChunkHeadBytesMin = 5;

// What makes `codings` not simply "chunked", as a refusal.
HttpRefusal JudgeTransferCoding(std::string_view codings) {
  static const HttpRefusal kNotLast{400, "Transfer-Encoding: chunked must be the last, and once"};
  bool any = false;
  bool chunked = false;
  for (const auto coding : http::token_list(codings)) {
    any = true;
    if (chunked) return kNotLast;
    chunked = boost::beast::iequals(coding, "chunked");
  }
  if (!any) return kNotLast;
  return {501, "Transfer-Encoding: only chunked is understood"};
}

// "GET / HTTP/2.0" names a version; "GET / HTPT/1.1" does not.
bool NamesAnotherVersion(std::string_view line) {
  line = line.substr(0, line.find('\r'));
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version == "HTTP/1.1" || version == "HTTP/1.0") return false;  // it is the line that is odd
  return version.size() == 8 && version.starts_with("HTTP/") && digit(version[5]) &&
         version[6] == '.' && digit(version[7]);
}

// Of a client that ends its lines with LF alone: Beast would wait for a CR.
bool HasBareLineFeed(std::string_view input) {
  if (input.starts_with("\r\n")) input.remove_prefix(2);  // the end of the chunk before
  const std::size_t at = input.find('\n');
  return at != std::string_view::npos && (at == 0 || input[at - 1] != '\r');
}

bool IsControl(char byte) {
  return (static_cast<unsigned char>(byte) < 0x20 && byte != '\t') || byte == 0x7f;
}

std::string LongerThan(std::string_view what, std::size_t bytes) {
  return std::string(what) + " longer than " + std::to_string(bytes) + " bytes";
}

}  // namespace

// Puts what Beast finds straight into the request, and refuses what Beast lets pass but we do not.
class HttpRequestReader::Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(HttpRequestReader& reader) : reader_(&reader) {
    // The reader measures: Beast's limits start anew at every field and every chunk.
    header_limit(std::numeric_limits<std::uint32_t>::max());
    body_limit(boost::none);
  }

  bool request_line_done() const { return request_line_done_; }
  int hosts() const { return hosts_; }
  const std::optional<std::string>& expectation() const { return expectation_; }
  // True between chunks: the next bytes are a chunk's head, or the trailers.
  bool at_chunk_head() const { return chunked() && chunk_bytes_left_ == 0; }

 private:
  using View = boost::beast::string_view;

  void Refuse(HttpRefusal refusal, error_code& error) {
    reader_->refusal_ = std::move(refusal);
    error = http::error::bad_value;
  }

  void on_request_impl(http::verb, View method, View target, int version, error_code&) override {
    request_line_done_ = true;
    reader_->request_.peer = reader_->peer_;
    reader_->request_.method.assign(method.data(), method.size());
    reader_->request_.target.assign(target.data(), target.size());
    reader_->http_1_0_ = version == 10;
  }
  void on_response_impl(int, View, int, error_code&) override {}

  void on_field_impl(http::field field, View name, View value, error_code& error) override {
    if (is_header_done()) return;  // trailers are read past
    switch (field) {
      case http::field::host: ++hosts_; break;
      case http::field::expect: expectation_.emplace(value.data(), value.size()); break;
      case http::field::transfer_encoding:
        if (!boost::beast::iequals(value, "chunked")) {
          return Refuse(JudgeTransferCoding({value.data(), value.size()}), error);
        }
        break;
      default: break;
    }
    reader_->request_.headers.emplace_back(std::piecewise_construct,
                                           std::forward_as_tuple(name.data(), name.size()),
                                           std::forward_as_tuple(value.data(), value.size()));
  }
  void on_header_impl(error_code&) override {}

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    // What the client only claims is not believed for more than one read.
    if (length) {
      reader_->request_.body.reserve(
          static_cast<std::size_t>(std::min<std::uint64_t>(*length, kBodyReadBytes)));
    }
  }
  std::size_t on_body_impl(View body, error_code&) override {
    reader_->request_.body.append(body.data(), body.size());
    return body.size();
  }

  void on_chunk_header_impl(std::uint64_t size, View extensions, error_code& error) override {
    // Beast takes any byte between quotes; a reader that ends lines at LF would see another chunk.
    if (std::any_of(extensions.begin(), extensions.end(), IsControl)) {
      return Refuse({400, "not a valid chunked body: control characters in an extension"}, error);
    }
    const std::size_t max = reader_->limits_.body_bytes_max;
    if (size > max - reader_->request_.body.size()) {
      return Refuse({413, LongerThan("the body is", max)}, error);
    }
    chunk_bytes_left_ = static_cast<std::size_t>(size);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, View body, error_code&) override {
    chunk_bytes_left_ -= body.size();
    reader_->request_.body.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  HttpRequestReader* reader_;
  std::size_t chunk_bytes_left_ = 0;
  int hosts_ = 0;
  bool request_line_done_ = false;
  std::optional<std::string> expectation_;
};

HttpRequestReader::HttpRequestReader(HttpReadLimits limits, std::string peer)
    : limits_(limits), peer_(std::move(peer)), parser_(std::make_unique<Parser>(*this)) {}
HttpRequestReader::~HttpRequestReader() = default;

boost::asio::mutable_buffer HttpRequestReader::Prepare() {
  return input_.prepare(head_reported_ && has_body_ ? kBodyReadBytes : kReadBytes);
}

void HttpRequestReader::Append(std::string_view bytes) {
  const auto room = input_.prepare(bytes.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  input_.commit(bytes.size());
}

std::string_view HttpRequestReader::Input() const {
  return {static_cast<const char*>(input_.data().data()), input_.size()};
}

HttpRequestReader::Step HttpRequestReader::Advance() {
  if (refusal_) return Step::kRefused;
  return head_reported_ ? AdvanceBody() : AdvanceHead();
}

HttpRequest HttpRequestReader::Take() {
  HttpRequest request = std::exchange(request_, {});
  *parser_ = Parser(*this);
  head_bytes_ = 0;
  begun_ = head_reported_ = false;
  if (input_.size() == 0 && input_.capacity() > kKeptBytesMax) input_.shrink_to_fit();
  return request;
}

void HttpRequestReader::Discard() {
  input_.consume(input_.size());
  request_ = {};
  refusal_.reset();
  begun_ = head_reported_ = false;
}

HttpRequestReader::Step HttpRequestReader::Refuse(unsigned status, std::string reason) {
  refusal_ = HttpRefusal{status, std::move(reason)};
  return Step::kRefused;
}

HttpRequestReader::Step HttpRequestReader::NeedMore() {
  if (!HasBareLineFeed(Input())) return Step::kNeedMore;
  return Refuse(400, "not valid HTTP/1.1: lines end with CR LF");
}

// A client may end a body with a line too many; RFC 9112, 2.2 asks us to overlook it.
void HttpRequestReader::SkipEmptyLines() {
  const std::string_view input = Input();
  std::size_t count = 0;
  while (input.substr(count).starts_with("\r\n")) count += 2;
  input_.consume(count);
  head_bytes_ += count;
}

HttpRequestReader::Step HttpRequestReader::AdvanceHead() {
  if (!begun_) SkipEmptyLines();
  const std::string_view input = Input();
  if (input.empty() || (!begun_ && input == "\r")) return Step::kNeedMore;
  begun_ = true;

  const std::size_t allowed =
      limits_.head_bytes_max - std::min(head_bytes_, limits_.head_bytes_max);
  const std::string_view within = input.substr(0, allowed);
  error_code error = http::error::need_more;
  const std::size_t used =
      within.empty() ? 0 : parser_->put(boost::asio::buffer(within.data(), within.size()), error);
  if (refusal_) return Step::kRefused;
  const bool cut = within.size() < input.size();
  if (error && (error != http::error::need_more || cut)) return RefuseHead(within, error);
  head_bytes_ += used;
  input_.consume(used);
  if (error) return NeedMore();
  if (auto refusal = JudgeHead()) {
    refusal_ = std::move(refusal);
    return Step::kRefused;
  }
  head_reported_ = true;
  return Step::kHead;
}

// `input` is what the parser was given last.
HttpRequestReader::Step HttpRequestReader::RefuseHead(std::string_view input, error_code error) {
  if (error == http::error::need_more || error == http::error::header_limit) {
    const bool line_complete =
        parser_->request_line_done() || input.find('\n') != std::string_view::npos;
    return line_complete ? Refuse(431, LongerThan("the head is", limits_.head_bytes_max))
                         : Refuse(414, LongerThan("the target is", limits_.head_bytes_max));
  }
  if (error == http::error::bad_version && NamesAnotherVersion(input)) {
    return Refuse(505, "the version must be HTTP/1.1 or HTTP/1.0");
  }
  return Refuse(400, "not a valid HTTP/1.1 head: " + error.message());
}

std::optional<HttpRefusal> HttpRequestReader::JudgeHead() {
  keep_alive_ = parser_->keep_alive();
  has_body_ = !parser_->is_done();
  wants_continue_ = false;
  if (parser_->hosts() > 1 || (parser_->hosts() == 0 && !http_1_0_)) {
    return HttpRefusal{400,
                       "a request has one Host header, not " + std::to_string(parser_->hosts())};
  }
  if (parser_->chunked() && http_1_0_) {
    return HttpRefusal{400, "Transfer-Encoding is not part of HTTP/1.0: send HTTP/1.1"};
  }
  // HTTP/1.0 knows no expectations: RFC 9110, 10.1.1 has us ignore them.
  if (const auto& expectation = parser_->expectation(); expectation && !http_1_0_) {
    if (!boost::beast::iequals(*expectation, "100-continue")) {
      return HttpRefusal{417, "Expect: only 100-continue is understood"};
    }
    wants_continue_ = has_body_;
  }
  if (parser_->content_length().value_or(0) > limits_.body_bytes_max) {
    return HttpRefusal{413, LongerThan("the body is", limits_.body_bytes_max)};
  }
  return std::nullopt;
}

HttpRequestReader::Step HttpRequestReader::AdvanceBody() {
  while (!parser_->is_done()) {
    const bool at_chunk_head = parser_->at_chunk_head();
    const std::size_t count =
        at_chunk_head ? std::min(input_.size(), limits_.head_bytes_max) : input_.size();
    if (count < (at_chunk_head ? kChunkHeadBytesMin : 1)) return Step::kNeedMore;
    error_code error;
    input_.consume(parser_->put(boost::asio::buffer(input_.data(), count), error));
    if (refusal_) return Step::kRefused;
    if (error == http::error::need_more && count == input_.size()) return NeedMore();
    if (error == http::error::need_more) {
      return Refuse(400, LongerThan("a chunk's head or the trailers are", limits_.head_bytes_max));
    }
    if (error) return Refuse(400, "not a valid chunked body: " + error.message());
  }
  return Step::kComplete;
}

}  // namespace glovebox
