#include "transport/http_outgoing.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <boost/beast/http/status.hpp>

namespace glovebox {

namespace {

constexpr std::size_t kPieceBytesMax = std::size_t{64} << 10;  // then a new piece is begun
constexpr std::size_t kCopiedBytesMax = std::size_t{16} << 10;
constexpr std::size_t kGonePiecesMax = 64;  // then the vector is moved up

class Number {
 public:
  explicit Number(std::size_t value, int base = 10)
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), value, base).ptr) {}
  std::string_view text() const {
    return {digits_.data(), static_cast<std::size_t>(end_ - digits_.data())};
  }

 private:
  std::array<char, 24> digits_;
  const char* end_;
};

void AppendHeader(std::string_view name, std::string_view value, OutgoingBytes& out) {
  constexpr std::string_view kLineEnds("\r\n\0", 3);
  out.Append(name);
  out.Append(": ");
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(kLineEnds), value.size());
    out.Append(value.substr(0, end));
    if (end == value.size()) break;
    out.Append(" ");
    value.remove_prefix(end + 1);
  }
  out.Append("\r\n");
}

// Responses that have no body by definition: RFC 9110, 6.4.1.
bool Bodiless(unsigned status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

void OutgoingBytes::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || pieces_.back().size() >= kPieceBytesMax) pieces_.emplace_back();
  pieces_.back().append(bytes);
  size_ += bytes.size();
}

void OutgoingBytes::Take(std::string bytes) {
  if (bytes.size() <= kCopiedBytesMax) return Append(bytes);
  size_ += bytes.size();
  pieces_.push_back(std::move(bytes));
}

std::span<const boost::asio::const_buffer> OutgoingBytes::Front() {
  std::size_t count = 0;
  std::size_t skip = written_of_first_;
  for (std::size_t i = first_; i < pieces_.size() && count < front_.size(); ++i) {
    front_[count++] = boost::asio::buffer(pieces_[i]) + skip;
    skip = 0;
  }
  return std::span(front_).first(count);
}

void OutgoingBytes::Consume(std::size_t count) {
  size_ -= count;
  if (size_ == 0) return Clear();
  written_of_first_ += count;
  while (written_of_first_ >= pieces_[first_].size()) {
    written_of_first_ -= pieces_[first_].size();
    pieces_[first_++] = {};
  }
  if (first_ > kGonePiecesMax) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void OutgoingBytes::Clear() {
  if (!pieces_.empty()) {
    pieces_.resize(1);
    if (pieces_[0].capacity() > kCopiedBytesMax) pieces_[0] = {};
    pieces_[0].clear();
  }
  first_ = written_of_first_ = size_ = 0;
}

void AppendHttpResponse(HttpResponse response, const HttpFraming& framing, OutgoingBytes& out) {
  const auto status = static_cast<boost::beast::http::status>(response.status);
  const auto reason = boost::beast::http::obsolete_reason(status);
  out.Append("HTTP/1.1 ");
  out.Append(Number(response.status).text());
  out.Append(" ");
  out.Append({reason.data(), reason.size()});
  out.Append("\r\n");
  for (const auto& [name, value] : response.headers) AppendHeader(name, value, out);
  if (framing.body == HttpFraming::Body::kWhole && !Bodiless(response.status)) {
    AppendHeader("Content-Length", Number(response.body.size()).text(), out);
  } else if (framing.body == HttpFraming::Body::kChunked) {
    AppendHeader("Transfer-Encoding", "chunked", out);
  }
  if (!framing.keep_alive) {
    AppendHeader("Connection", "close", out);
  } else if (framing.http_1_0) {
    AppendHeader("Connection", "keep-alive", out);
  }
  out.Append("\r\n");
  if (framing.body == HttpFraming::Body::kWhole && !Bodiless(response.status) &&
      !framing.head_only) {
    out.Take(std::move(response.body));
  }
}

void AppendHttpChunk(std::string bytes, OutgoingBytes& out) {
  if (bytes.empty()) return;
  out.Append(Number(bytes.size(), 16).text());
  out.Append("\r\n");
  out.Take(std::move(bytes));
  out.Append("\r\n");
}

void AppendHttpLastChunk(OutgoingBytes& out) { out.Append("0\r\n\r\n"); }

}  // namespace glovebox
