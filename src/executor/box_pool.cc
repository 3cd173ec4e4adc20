#include "executor/box_pool.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "egress/egress.h"
#include "executor/box_channels.h"
#include "sandbox/parent/listeners.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kLostInARowMax = 16;  // as many as may die with one zygote
// The youngest, which are taken first. While requests come faster than they are replaced, boxes are
// too few for their places to be reached, and none costs more than a short rehearsal.
constexpr std::size_t kRehearsedLong = 2;
constexpr std::size_t kRefillBirthsMax = 2;   // at a time; more would only wait for the same zygote
constexpr std::size_t kHurriedBirthsMax = 4;  // where some may wait for the kernel, and none rests

}  // namespace

BoxPool::BoxPool(Means means, BoxKind kind, python::BoxFactory factory, ZygoteLife life,
                 Handlers handlers)
    : means_(std::move(means)),
      kind_(std::move(kind)),
      factory_(std::move(factory)),
      life_(life),
      handlers_(std::move(handlers)) {
  for (const wire::TmpfsSetup& tmpfs : factory_.setup().tmpfs) tmpfs_.push_back(tmpfs.path);
}

BoxPool::~BoxPool() {
  *alive_ = false;
  for (const std::shared_ptr<Box>& box : boxes_) box->Abandon();
  // The death of a zygote ends every box of it; only then can their cgroups be removed.
  for (const std::weak_ptr<Zygote>& weak : zygotes_) {
    if (const std::shared_ptr<Zygote> zygote = weak.lock()) zygote->client.reset();
  }
}

Status BoxPool::Open() {
  if (current_ != nullptr || next_ != nullptr) return {};
  return StartZygote();
}

Status BoxPool::StartZygote() {
  auto zygote = std::make_shared<Zygote>();
  const std::weak_ptr<Zygote> weak = zygote;
  sandbox::SpawnRequest spawn = factory_.ZygoteSpawn(means_.host.uids());
  spawn.cgroup_file = means_.host.zygote_cgroup_file();
  auto client = python::ZygoteClient::Start(
      means_.context, std::move(spawn), factory_.init_program(), factory_.setup(),
      [this, weak](Status ready) {
        if (const auto self = weak.lock()) OnZygoteReady(self, std::move(ready));
      },
      [this, weak] {
        if (const auto self = weak.lock()) OnZygoteDeath(self);
      });
  if (!client) return std::move(client).error();
  zygote->client = std::move(*client);
  std::erase_if(zygotes_, [](const auto& gone) { return gone.expired(); });
  zygotes_.push_back(zygote);
  next_ = std::move(zygote);
  return {};
}

void BoxPool::OnZygoteReady(const std::shared_ptr<Zygote>& zygote, Status ready) {
  if (zygote != next_) return;
  next_ = nullptr;
  if (!ready) {
    failing_ = true;
    if (current_ == nullptr) Fail(std::move(ready).error().Within("starting Python"), wanted_);
    return;
  }
  current_ = zygote;
  BeginBirths();
  handlers_.changed();
}

// Its boxes died with it and say so themselves.
void BoxPool::OnZygoteDeath(const std::shared_ptr<Zygote>& zygote) {
  if (next_ == zygote) next_ = nullptr;
  if (current_ != zygote) return;
  current_ = nullptr;
  asio::post(means_.context, [this, alive = alive_] {
    if (*alive) BeginBirths();
  });
}

bool BoxPool::TooOld(const Zygote& zygote) const {
  return std::chrono::steady_clock::now() - zygote.started > life_.age_max;
}

bool BoxPool::WornOut(const Zygote& zygote) const {
  return zygote.forks >= life_.boxes_max || TooOld(zygote);
}

// A worn-out zygote goes on until its successor is warm, so that nobody waits for that; unless no
// two boxes may have the same ancestor.
bool BoxPool::MayFork() const {
  if (current_ == nullptr || means_.slots.full()) return false;
  return life_.boxes_max > 1 || current_->forks == 0;
}

void BoxPool::Want(std::size_t count, const sandbox::CgroupLimits& limits) {
  const std::size_t coming = waiting_.size() + births_;
  wanted_ = count > coming ? count - coming : 0;
  limits_ = limits;
  if (wanted_ == 0) return;
  failing_ = false;
  BeginBirths();
}

void BoxPool::BeginBirths() {
  const bool replace = current_ != nullptr && WornOut(*current_);
  if ((wanted_ > 0 && current_ == nullptr) || replace) {
    if (next_ == nullptr) {
      Status started = StartZygote();
      if (!started && current_ == nullptr) return Fail(started.error(), wanted_);
    }
  }
  while (wanted_ > 0 && MayFork()) {
    --wanted_;
    BeginBirth(wire::Rehearsal::kNone);
  }
}

void BoxPool::BeginBirth(wire::Rehearsal rehearsal) {
  if (Status begun = TryBirth(rehearsal); !begun) Fail(begun.error(), 1);
}

Status BoxPool::TryBirth(wire::Rehearsal rehearsal) {
  BoxChannels channels = TRY(BoxChannels::Make());
  Slot* slot = TRY(means_.slots.Take(limits_));
  const std::shared_ptr<Zygote> zygote = current_;
  python::ZygoteClient::BoxOrder order;
  order.uid = means_.host.BoxUid(*slot);
  order.fds = channels.box.List(slot->cgroup ? slot->cgroup->join_fds() : std::vector<int>());
  order.birth_fd = slot->cgroup ? slot->cgroup->birth_fd() : -1;
  order.rehearsal = rehearsal;
  order.cpu = means_.host.BoxCpu(*slot);
  order.folder = slot->folder;
  Box::Means means{slot, means_.watcher, means_.host.metered() ? &tmpfs_ : nullptr,
                   means_.host.Environment(*slot), zygote};
  means.rehearsed = rehearsal != wire::Rehearsal::kNone;
  SocketPair listeners;
  if (kind_.egress) {
    listeners = TRY(sandbox::MakeListenerSocket());
    order.network = true;
    order.fds.insert(order.fds.begin() + wire::kListenerSocketIndex, listeners.theirs.get());
    means.egress = EgressFor(*slot);
    means.egress.listener_socket = std::move(listeners.ours);
  }
  auto box = std::make_shared<Box>(means_.context, std::move(channels.server), std::move(means));
  // No handler outlives us: the destructor abandons every box.
  const std::weak_ptr<Box> weak = box;
  box->handlers.ready = [this, weak] { OnReady(weak.lock()); };
  box->handlers.lost = [this, weak](const Error& error) { OnLost(*weak.lock(), error); };
  box->handlers.gone = [this, weak, slot] { OnGone(weak.lock(), slot); };
  boxes_.insert(box);
  ++births_;
  ++zygote->forks;
  box->Begin();
  zygote->client->SpawnBox(std::move(order),
                           [box](Result<UniqueFd> pidfd) { box->OnBorn(std::move(pidfd)); });
  return {};
}

BoxEgress BoxPool::EgressFor(const Slot& slot) const {
  BoxEgress egress;
  egress.listener_count = factory_.setup().network_ports.size();
  egress.start = [this, number = slot.number](std::vector<UniqueFd> listeners) {
    egress::ProxyOptions options;
    options.program = means_.egress_program;
    options.policy = *kind_.egress;
    options.policy.own_addresses = egress::OwnAddresses();
    options.listeners = std::move(listeners);
    options.mode = means_.host.mode();
    options.uid = means_.host.ProxyUid(number);
    return egress::Proxy::Start(std::move(options));
  };
  egress.remedy = "the proxy of the box (HTTP_PROXY), for hosts that rules name: " +
                  kind_.egress->RemedyFor({"HOST", std::nullopt}, policy::kTlsPort);
  return egress;
}

void BoxPool::OnReady(const std::shared_ptr<Box>& box) {
  --births_;
  failing_ = false;
  lost_in_a_row_ = 0;
  waiting_.push_back(box);
  handlers_.waiting();
  // It takes the place of one that is not as it should be.
  if (waiting_.size() > kind_.warm_boxes && UpToDate() < waiting_.size()) LetOneGo();
}

// A request whose box died before it was ready, with its zygote or without a word of why, gets
// another one; not for ever.
void BoxPool::OnLost(const Box& box, const Error& error) {
  --births_;
  if (!box.build_failed() && lost_in_a_row_ < kLostInARowMax) {
    ++lost_in_a_row_;
    ++wanted_;
    return;
  }
  Fail(error, 1);
}

void BoxPool::OnGone(const std::shared_ptr<Box>& box, Slot* slot) {
  std::erase(waiting_, box);
  boxes_.erase(box);
  means_.slots.Return(slot);
  BeginBirths();
  handlers_.changed();
}

void BoxPool::Fail(const Error& error, std::size_t requests) {
  failing_ = true;
  wanted_ -= std::min(wanted_, requests);
  handlers_.failed(error, requests);
}

// The youngest: what it rehearsed is still in the CPU's caches.
std::shared_ptr<Box> BoxPool::Take() {
  while (!waiting_.empty()) {
    std::shared_ptr<Box> box = std::move(waiting_.back());
    waiting_.pop_back();
    if (box->waiting()) return box;
  }
  return nullptr;
}

bool BoxPool::IsUpToDate(const Box& box) const {
  if (!box.rehearsed()) return false;
  if (box.ancestor() == current_.get()) return true;
  return life_.boxes_max <= kind_.warm_boxes &&
         !TooOld(*static_cast<const Zygote*>(box.ancestor()));
}

std::size_t BoxPool::UpToDate() const {
  return static_cast<std::size_t>(
      std::count_if(waiting_.begin(), waiting_.end(),
                    [&](const std::shared_ptr<Box>& box) { return IsUpToDate(*box); }));
}

// The oldest, but first those that are not as they should be.
void BoxPool::LetOneGo() {
  auto place = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const std::shared_ptr<Box>& box) { return !IsUpToDate(*box); });
  if (place == waiting_.end()) place = waiting_.begin();
  const std::shared_ptr<Box> box = std::move(*place);
  waiting_.erase(place);
  box->Kill();
}

void BoxPool::Refill(std::size_t boxes, bool hurry) {
  const std::size_t target = std::min<std::size_t>(boxes, kind_.warm_boxes);
  while (waiting_.size() > target && UpToDate() >= target) LetOneGo();
  const auto made = [&] { return hurry ? waiting_.size() : UpToDate(); };
  if (failing_) return;
  if (target > 0 && !Open()) {
    failing_ = true;
    return;
  }
  const std::size_t births_max = hurry ? kHurriedBirthsMax : kRefillBirthsMax;
  while (made() + births_ < target && births_ < births_max && MayFork()) {
    const bool next = made() + births_ + kRehearsedLong >= target;
    const wire::Rehearsal unhurried = next ? wire::Rehearsal::kLong : wire::Rehearsal::kShort;
    BeginBirth(hurry ? wire::Rehearsal::kNone : unhurried);
    if (failing_) return;
  }
  BeginBirths();
}

}  // namespace glovebox
