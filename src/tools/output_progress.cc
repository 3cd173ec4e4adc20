#include "tools/output_progress.h"

#include <utility>

#include "base/utf8.h"

namespace glovebox {
namespace {

// Bytes at the end of `text` that may yet become a code point.
std::size_t IncompleteSuffix(std::string_view text) {
  for (std::size_t length = 1; length <= 3 && length <= text.size(); ++length) {
    const std::string_view suffix = text.substr(text.size() - length);
    if ((static_cast<unsigned char>(suffix.front()) & 0xC0) == 0x80) continue;
    return NextUtf8(suffix).kind == Utf8Kind::kIncomplete ? length : 0;
  }
  return 0;
}

}  // namespace

OutputProgress::OutputProgress(const boost::asio::any_io_executor& executor,
                               mcp::ToolResponder responder)
    : responder_(std::move(responder)), timer_(executor) {}

void OutputProgress::Add(std::string_view bytes) {
  bytes_seen_ += bytes.size();
  if (bytes.size() > kMessageBytesMax) bytes.remove_prefix(bytes.size() - kMessageBytesMax);
  pending_ += bytes;
  if (pending_.size() > kMessageBytesMax) pending_.erase(0, pending_.size() - kMessageBytesMax);
  if (!waiting_) Report();
}

void OutputProgress::Report() {
  const std::size_t keep = IncompleteSuffix(pending_);
  if (pending_.size() == keep) return;
  std::string rest = pending_.substr(pending_.size() - keep);
  pending_.resize(pending_.size() - keep);
  responder_.Report({static_cast<double>(bytes_seen_), std::nullopt, std::move(pending_)});
  pending_ = std::move(rest);

  waiting_ = true;
  timer_.expires_after(kInterval);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->waiting_ = false;
    self->Report();
  });
}

void OutputProgress::Finish() {
  Report();
  timer_.cancel();
}

}  // namespace glovebox
