#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace glovebox::mcp {

struct AdmissionOptions {
  double requests_per_second = 0;     // refill of each client's bucket; 0: no rate limit
  std::uint32_t burst = 0;            // size of the bucket; at least one request always fits
  std::uint32_t concurrent_max = 0;   // requests of one client in work; 0: no limit
  std::size_t principals_max = 4096;  // remembered at once; the longest idle is forgotten first
};

// Fairness between clients: how many requests each may start per second and have in work. A client
// over its share is told when to come back; the others do not notice. A refused request costs the
// client nothing. A client with requests in work is never forgotten; when all that may be
// remembered are such, a new client is refused.
//
// Thread rule: the thread of the server's io_context. Every operation is O(log n) in the clients.
class Admission {
 public:
  using Clock = std::chrono::steady_clock;

  // A place among the requests in work; given back when destroyed. Outlives the Admission safely.
  class Ticket {
   public:
    Ticket() = default;
    explicit Ticket(std::shared_ptr<void> place) : place_(std::move(place)) {}

   private:
    std::shared_ptr<void> place_;
  };
  struct Refusal {
    std::chrono::milliseconds retry_after{0};
    std::string message;  // names the limit that was reached
  };
  struct Decision {
    bool admitted = false;
    Ticket ticket;    // when admitted
    Refusal refusal;  // when not
  };
  // Whether a request occupies one of its client's places while it is in work. Those that only ask
  // or steer what already has one (tasks/get, tasks/cancel) must not need a second: a client could
  // not look after its own work otherwise.
  enum class Share : std::uint8_t { kPlace, kRateOnly };

  explicit Admission(AdmissionOptions options, std::function<Clock::time_point()> now = Clock::now);

  Decision Admit(const std::string& principal, Share share = Share::kPlace);

  std::uint64_t refused_count() const { return refused_; }
  std::size_t remembered_count() const;

 private:
  class Clients;
  struct Place;

  Decision Refuse(std::chrono::milliseconds retry_after, std::string message);

  const AdmissionOptions options_;
  const std::function<Clock::time_point()> now_;
  const std::shared_ptr<Clients> clients_;  // places refer to it weakly
  std::uint64_t refused_ = 0;
};

}  // namespace glovebox::mcp
