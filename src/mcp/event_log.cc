#include "mcp/event_log.h"

#include <charconv>
#include <utility>

namespace glovebox::mcp {
namespace {

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  // from_chars takes leading zeros; a second spelling of the same number is refused.
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::string ToText(EventId id) {
  return std::to_string(id.stream) + '-' + std::to_string(id.sequence);
}

std::optional<EventId> ParseEventId(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = ParseNumber(text.substr(0, dash));
  const auto sequence = ParseNumber(text.substr(dash + 1));
  if (!stream || !sequence) return std::nullopt;
  return EventId{*stream, *sequence};
}

EventLog::EventLog(std::size_t bytes_max, std::shared_ptr<ReplayBudget> budget)
    : bytes_max_(bytes_max), budget_(std::move(budget)) {}

EventLog::~EventLog() {
  if (budget_) budget_->bytes_used -= bytes_;
}

std::uint64_t EventLog::OpenStream() {
  streams_.emplace(next_stream_, Stream{});
  return next_stream_++;
}

void EventLog::CloseStream(std::uint64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.open = false;
  ForgetIfUseless(found);
}

EventId EventLog::NextId(std::uint64_t stream) {
  const auto found = streams_.find(stream);
  CHECK(found != streams_.end() && found->second.open);
  return {stream, found->second.next_sequence++};
}

void EventLog::Keep(EventId id, std::string data) {
  const std::size_t cost = data.size() + kEventOverhead;
  const auto fits = [&] {
    return bytes_ + cost <= bytes_max_ &&
           (!budget_ || budget_->bytes_used + cost <= budget_->bytes_max);
  };
  // Without this an event that never fits would empty the log for nothing.
  if (cost > bytes_max_) return;
  while (!fits() && !events_.empty()) DropOldest();
  if (!fits()) return;
  const auto stream = streams_.find(id.stream);
  CHECK(stream != streams_.end());
  ++stream->second.kept;
  bytes_ += cost;
  if (budget_) budget_->bytes_used += cost;
  events_.push_back({id, std::move(data)});
}

void EventLog::DropOldest() {
  const Kept& oldest = events_.front();
  const std::size_t cost = oldest.data.size() + kEventOverhead;
  bytes_ -= cost;
  if (budget_) budget_->bytes_used -= cost;
  const auto stream = streams_.find(oldest.id.stream);
  --stream->second.kept;
  ForgetIfUseless(stream);
  events_.pop_front();
}

void EventLog::ForgetIfUseless(std::map<std::uint64_t, Stream>::iterator stream) {
  if (!stream->second.open && stream->second.kept == 0) streams_.erase(stream);
}

Result<std::vector<EventLog::Event>> EventLog::After(EventId last) const {
  const auto stream = streams_.find(last.stream);
  if (stream == streams_.end()) {
    if (last.stream < next_stream_) {
      return Error(Errc::kLimit, "the events of that stream are no longer kept");
    }
    return Error(Errc::kInvalidArgument, "no such stream");
  }
  if (last.sequence >= stream->second.next_sequence) {
    return Error(Errc::kInvalidArgument, "no such event");
  }
  std::vector<Event> events;
  for (const Kept& kept : events_) {
    if (kept.id.stream == last.stream && kept.id.sequence > last.sequence) {
      events.push_back({kept.id, kept.data});
    }
  }
  // The answer is a stream's last event: whoever lacks it must not take the silence for an end.
  const bool seen_all = last.sequence + 1 == stream->second.next_sequence;
  if (events.empty() && !stream->second.open && !seen_all) {
    return Error(Errc::kLimit, "the end of that stream is no longer kept");
  }
  return events;
}

}  // namespace glovebox::mcp
