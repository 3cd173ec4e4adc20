// What a client may send as Last-Event-ID, against the logs of resumable streams. The first line of
// the input is the header's value; the bytes after it are steps in the life of two logs that share
// a budget. A plain model says what each answer must be.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "mcp/event_log.h"

namespace {

using glovebox::Errc;
using glovebox::mcp::EventId;
using glovebox::mcp::EventLog;
using glovebox::mcp::ParseEventId;
using glovebox::mcp::ReplayBudget;

constexpr std::size_t kLogBytes = 1000;
constexpr std::size_t kBudgetBytes = 1500;
constexpr std::size_t kStreamsMax = 8;
constexpr std::size_t kStepsMax = 100;  // more say nothing new and cost speed

// An EventLog beside a list of all that should be in it.
class Checked {
 public:
  // `total` counts the bytes that the model keeps, of all logs.
  Checked(std::shared_ptr<ReplayBudget> budget, std::size_t& total)
      : total_(total), budget_(std::move(budget)), log_(kLogBytes, budget_) {}

  void Open() {
    if (streams_.size() == kStreamsMax) return;
    CHECK(log_.OpenStream() == streams_.size());
    streams_.emplace_back();
  }

  void Close(std::size_t number) {
    if (streams_.empty()) return;
    const std::size_t stream = number % streams_.size();
    log_.CloseStream(stream);
    streams_[stream].open = false;
  }

  void Send(std::size_t number, std::size_t size) {
    if (streams_.empty()) return;
    const std::size_t stream = number % streams_.size();
    if (!streams_[stream].open) return;
    const EventId id = log_.NextId(stream);
    CHECK((id == EventId{stream, streams_[stream].sent++}));
    log_.Keep(id, std::string(size, LetterOf(id)));
    Model(id, size);
    CHECK(log_.bytes() == bytes_ && bytes_ <= kLogBytes);
    CHECK(budget_->bytes_used == total_ && total_ <= kBudgetBytes);
  }

  void Resume(EventId last) const {
    const auto events = log_.After(last);
    if (const auto refusal = RefusalOf(last)) {
      CHECK(!events.ok() && events.error().code() == *refusal);
      return;
    }
    CHECK(events.ok());
    auto event = events->begin();
    for (const Kept& kept : kept_) {
      if (!Follows(kept.id, last)) continue;
      CHECK(event != events->end() && event->id == kept.id);
      CHECK(event->data.size() == kept.size &&
            event->data.find_first_not_of(LetterOf(kept.id)) == std::string_view::npos);
      ++event;
    }
    CHECK(event == events->end());
  }

 private:
  struct Stream {
    std::uint64_t sent = 0;
    bool open = true;
  };
  struct Kept {
    EventId id;
    std::size_t size;
  };

  static char LetterOf(EventId id) {
    return static_cast<char>('a' + (id.stream * 7 + id.sequence) % 26);
  }
  static std::size_t CostOf(std::size_t size) { return size + EventLog::kEventOverhead; }
  static bool Follows(EventId id, EventId last) {
    return id.stream == last.stream && id.sequence > last.sequence;
  }

  // The newest that fit; one that never fits costs the others nothing.
  void Model(EventId id, std::size_t size) {
    const std::size_t cost = CostOf(size);
    if (cost > kLogBytes) return;
    const auto fits = [&] { return bytes_ + cost <= kLogBytes && total_ + cost <= kBudgetBytes; };
    while (!fits() && !kept_.empty()) {
      bytes_ -= CostOf(kept_.front().size);
      total_ -= CostOf(kept_.front().size);
      kept_.pop_front();
    }
    if (!fits()) return;
    bytes_ += cost;
    total_ += cost;
    kept_.push_back({id, size});
  }

  std::optional<Errc> RefusalOf(EventId last) const {
    if (last.stream >= streams_.size()) return Errc::kInvalidArgument;
    const Stream& stream = streams_[last.stream];
    bool any_kept = false;
    bool any_follows = false;
    for (const Kept& kept : kept_) {
      any_kept = any_kept || kept.id.stream == last.stream;
      any_follows = any_follows || Follows(kept.id, last);
    }
    if (!stream.open && !any_kept) return Errc::kLimit;  // nothing is known of it any more
    if (last.sequence >= stream.sent) return Errc::kInvalidArgument;
    const bool seen_all = last.sequence + 1 == stream.sent;
    if (!stream.open && !any_follows && !seen_all) return Errc::kLimit;
    return std::nullopt;
  }

  std::size_t& total_;
  const std::shared_ptr<ReplayBudget> budget_;
  EventLog log_;
  std::vector<Stream> streams_;
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view header = input.substr(0, input.find('\n'));
  const std::optional<EventId> last = ParseEventId(header);
  // One spelling for each id: what is taken is what we would have written.
  if (last) CHECK(ToText(*last) == header);

  const auto budget = std::make_shared<ReplayBudget>(ReplayBudget{kBudgetBytes, 0});
  std::size_t total = 0;
  std::array<Checked, 2> logs = {Checked(budget, total), Checked(budget, total)};
  const std::string_view steps = input.substr(std::min(input.size(), header.size() + 1));
  for (std::size_t at = 0; at + 1 < steps.size() && at < 2 * kStepsMax; at += 2) {
    const auto step = static_cast<std::uint8_t>(steps[at]);
    const auto amount = static_cast<std::uint8_t>(steps[at + 1]);
    Checked& log = logs[step & 1];
    const std::size_t stream = step >> 3 & 7;
    switch (step >> 1 & 3) {
      case 0: log.Open(); break;
      case 1: log.Close(stream); break;
      case 2: log.Send(stream, std::size_t{amount} * 4); break;
      default: log.Resume({stream, amount}); break;
    }
  }
  if (last) {
    for (const Checked& log : logs) log.Resume(*last);
  }
  return 0;
}
