#include "mcp/admission.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <list>
#include <map>
#include <optional>

namespace glovebox::mcp {
namespace {

using std::chrono::milliseconds;

// When to come back where nobody can know: places get free when somebody's work ends.
constexpr milliseconds kRetryForPlace{1000};

std::string Readable(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", number);
  return text.data();
}

}  // namespace

class Admission::Clients {
 public:
  struct Client {
    std::string principal;
    double tokens = 0;
    Clock::time_point counted;  // when `tokens` was true
    std::uint32_t in_work = 0;
  };
  // Valid for as long as the client is remembered.
  using Entry = std::list<Client>::iterator;

  // Nothing when there is no room.
  std::optional<Entry> Find(const std::string& principal, double bucket, Clock::time_point now,
                            std::size_t count_max) {
    if (const auto found = by_name_.find(principal); found != by_name_.end()) {
      if (found->second->in_work == 0) idle_.splice(idle_.end(), idle_, found->second);
      return found->second;
    }
    if (by_name_.size() >= count_max) {
      if (idle_.empty()) return std::nullopt;
      by_name_.erase(idle_.front().principal);
      idle_.pop_front();
    }
    const Entry entry = idle_.insert(idle_.end(), {principal, bucket, now, 0});
    by_name_.emplace(principal, entry);
    return entry;
  }

  void Begin(Entry client) {
    if (client->in_work++ == 0) busy_.splice(busy_.end(), idle_, client);
  }
  void End(Entry client) {
    if (--client->in_work == 0) idle_.splice(idle_.end(), busy_, client);
  }

  std::size_t size() const { return by_name_.size(); }

 private:
  std::list<Client> idle_;  // the front was heard of longest ago and is the next to be forgotten
  std::list<Client> busy_;  // with requests in work
  std::map<std::string, Entry, std::less<>> by_name_;
};

// What a ticket holds.
struct Admission::Place {
  Place(const std::shared_ptr<Clients>& clients_in, Clients::Entry client_in)
      : clients(clients_in), client(client_in) {
    clients_in->Begin(client);
  }
  ~Place() {
    if (const auto known = clients.lock()) known->End(client);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const std::weak_ptr<Clients> clients;
  const Clients::Entry client;
};

Admission::Admission(AdmissionOptions options, std::function<Clock::time_point()> now)
    : options_(options), now_(std::move(now)), clients_(std::make_shared<Clients>()) {}

Admission::Decision Admission::Admit(const std::string& principal, Share share) {
  const double rate = options_.requests_per_second;
  const bool counts_places = options_.concurrent_max > 0 && share == Share::kPlace;
  if (rate <= 0 && !counts_places) return {true, {}, {}};

  const double bucket = std::max(1.0, static_cast<double>(options_.burst));
  const Clock::time_point now = now_();
  const auto found = clients_->Find(principal, bucket, now, options_.principals_max);
  if (!found) {
    return Refuse(kRetryForPlace,
                  "too many clients at once: " + std::to_string(options_.principals_max) +
                      " have requests in work; retry in 1000 ms");
  }
  const Clients::Entry client = *found;
  if (counts_places && client->in_work >= options_.concurrent_max) {
    return Refuse(kRetryForPlace,
                  "concurrency limit reached: " + std::to_string(options_.concurrent_max) +
                      " requests in work for each client; retry when one has its "
                      "answer");
  }
  if (rate > 0) {
    const double seconds = std::chrono::duration<double>(now - client->counted).count();
    client->tokens = std::min(bucket, client->tokens + seconds * rate);
    client->counted = now;
    if (client->tokens < 1) {
      const milliseconds wait(static_cast<std::int64_t>(
          std::ceil(std::min((1 - client->tokens) / rate * 1000, 3'600'000.0))));
      return Refuse(wait, "rate limit reached: " + Readable(rate) +
                              " requests per second for each client; retry in " +
                              std::to_string(wait.count()) + " ms");
    }
    client->tokens -= 1;
  }
  if (!counts_places) return {true, {}, {}};
  return {true, Ticket(std::make_shared<Place>(clients_, client)), {}};
}

Admission::Decision Admission::Refuse(milliseconds retry_after, std::string message) {
  ++refused_;
  return {false, {}, {retry_after, std::move(message)}};
}

std::size_t Admission::remembered_count() const { return clients_->size(); }

}  // namespace glovebox::mcp
