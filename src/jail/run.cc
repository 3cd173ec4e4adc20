#include "jail/run.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "egress/egress.h"
#include "embedded/jail_policies.h"
#include "jail/box.h"
#include "jail/container_box.h"
#include "jail/layout.h"
#include "jail/places.h"
#include "jail/program.h"
#include "jail/refusals.h"
#include "jail/session.h"
#include "policy/box_network.h"
#include "policy/box_policy.h"
#include "policy/egress_policy.h"

namespace glovebox::jail {
namespace {

namespace fs = std::filesystem;

constexpr char kHome[] = "/home/box";
constexpr uid_t kProxyUid = 60'000;  // of our range, and the next: the box has another

// What is passed on to the program. SIGPWR is the keeper's word.
Result<UniqueFd> TakeSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, kKeeperDiedSignal}) {
    sigaddset(&set, signal);
  }
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) {
    return Error::FromErrno("blocking signals", errno);
  }
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return Error::FromErrno("taking signals", errno);
  return fd;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value != nullptr ? value : "";
}

// The jail's own, then what the caller named; the last word about a variable counts.
std::vector<std::string> Environment(const policy::JailPolicy& policy, const policy::BoxPolicy& box,
                                     const std::string& executable) {
  std::vector<std::pair<std::string, std::string>> variables = box.environment;
  const auto set = [&](const std::string& name, const std::string& value) {
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&](const auto& one) { return one.first == name; });
    if (found != variables.end()) {
      found->second = value;
    } else {
      variables.emplace_back(name, value);
    }
  };
  // A program outside of the usual places calls its neighbours by name.
  const std::string folder = fs::path(executable).parent_path().string();
  for (auto& [name, value] : variables) {
    const bool known = (":" + value + ":").find(":" + folder + ":") != std::string::npos;
    if (name == "PATH" && !known) value = folder + ":" + value;
  }
  for (const std::string& word : policy.env) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals != std::string::npos) {
      set(name, word.substr(equals + 1));
    } else if (const char* value = std::getenv(name.c_str())) {  // NOLINT(concurrency-mt-unsafe)
      set(name, value);
    }
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

// The executable by a name that the box shows: as it was called, if that is there.
std::string NameInBox(const std::string& executable, const Places& places) {
  std::error_code error;
  const fs::path path(executable);
  const std::string called = (fs::canonical(path.parent_path(), error) / path.filename()).string();
  const std::string real = fs::canonical(path, error).string();
  const Place* place = places.Find(called);
  return place != nullptr && place->kind != PlaceKind::kPrivate ? called : real;
}

std::string WorkFolder(const Places& places, const Starter& starter) {
  std::error_code error;
  const std::string folder = fs::canonical(starter.folder, error).string();
  const Place* place = error ? nullptr : places.Find(folder);
  const bool shown =
      place != nullptr && (place->kind == PlaceKind::kRead || place->kind == PlaceKind::kWrite ||
                           place->kind == PlaceKind::kProgram);
  return shown ? folder : kHome;
}

// The way out that a policy grants: what it allows, and what of it the box sees.
struct WayOut {
  policy::EgressPolicy policy;
  policy::BoxNetwork network;
};

Result<WayOut> PlanWayOut(const std::vector<std::string>& rules) {
  WayOut out;
  if (rules.empty()) return out;
  auto policy = policy::ParseEgressPolicy(rules);
  if (!policy) return std::move(policy).error().Within("--net");
  out.policy = std::move(*policy);
  out.policy.own_addresses = egress::OwnAddresses();
  out.network = policy::PlanBoxNetwork(out.policy);
  return out;
}

// Null where no host was granted.
Result<std::unique_ptr<egress::Proxy>> StartProxy(const RunRequest& request, const WayOut& way_out,
                                                  const HostShare& host,
                                                  std::vector<UniqueFd> listeners) {
  if (listeners.empty()) return std::unique_ptr<egress::Proxy>();
  egress::ProxyOptions options;
  options.program = request.egress_program;
  options.policy = way_out.policy;
  options.listeners = std::move(listeners);
  options.mode = host.mode();
  if (host.mode().own_uids()) options.uid = host.uids()->base() + kProxyUid;
  return egress::Proxy::Start(std::move(options));
}

// What only a cgroup holds is not taken where there is none.
Status CheckHeld(const policy::JailPolicy& policy, const HostShare& host) {
  for (const auto& [said, flag] : {std::pair(policy.cpus.has_value(), "--cpu"),
                                   std::pair(policy.io_bytes_per_second.has_value(), "--io")}) {
    if (!said || !host.metered()) continue;
    return Error(Errc::kUnsupported,
                 std::string(flag) +
                     " needs a cgroup, and none is ours here: run as root, or in a unit with "
                     "Delegate=yes, or name one with --cgroup-parent");
  }
  return {};
}

sandbox::CgroupLimits LimitsOf(const policy::JailPolicy& policy, const ProgramProfile& profile) {
  sandbox::CgroupLimits limits;
  limits.memory_bytes_max = policy.memory_bytes.value_or(profile.memory_bytes);
  limits.processes_max = policy.pids.value_or(profile.pids);
  limits.cpus_max = policy.cpus.value_or(static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  limits.io_bytes_per_second_max = policy.io_bytes_per_second.value_or(0);
  return limits;
}

Status CheckHostForContainer(const HostShare& host) {
  if (::geteuid() == 0 && host.has_cgroups()) return {};
  return Error(
      Errc::kUnsupported,
      "--container needs root and a cgroup that holds the container's limits: run as root, "
      "or leave it away");
}

}  // namespace

Result<int> RunJail(const RunRequest& request) {
  const policy::JailPolicy& policy = request.policy;
  if (request.container_runtime) TRY(CheckForContainer(policy));
  const UniqueFd signals = TRY(TakeSignals());
  const Starter starter = ReadStarter();
  const std::string executable =
      TRY(FindExecutable(request.command.front(), Variable("PATH"), starter.folder));
  const ProgramProfile profile =
      TRY(ChooseProfile(policy.profile.value_or(""), request.command.front()));
  const WayOut way_out = TRY(PlanWayOut(policy.net));
  policy::BoxPolicy box_policy = TRY(policy::ParseBoxPolicy(embedded::kServerBox, {}));
  policy::AddNetwork(way_out.network, box_policy);
  const Places places =
      TRY(ComposePlaces(policy, box_policy, request.command, executable, starter));

  HostShare host = TRY(HostShare::Take({sandbox::Walls::All(), false, request.cgroup_parent,
                                        policy.io_bytes_per_second.has_value()}));
  TRY(CheckHeld(policy, host));
  BoxPlace place = TRY(host.MakePlace(1));
  LayoutOptions layout_options;
  layout_options.tmpfs_owner = std::to_string(host.BoxUid(place));
  layout_options.connect_ports = way_out.network.ports;
  if (request.container_runtime) {
    TRY(CheckHostForContainer(host));
  } else if (host.mode().identity == sandbox::IdentitySource::kMappedRange) {
    layout_options.box_host_uid = host.uids()->base() + host.BoxUid(place);
  }
  const std::unique_ptr<Layout> layout = TRY(Layout::Build(places, box_policy, layout_options));
  std::shared_ptr<RefusalLog> refusals = TRY(RefusalLog::Make());
  const auto judge = std::make_shared<Judge>(JudgeOptions{places, !policy.net.empty()}, refusals);
  const std::unique_ptr<sandbox::CallWatcher> watcher = TRY(sandbox::CallWatcher::Start());

  BoxOrder order;
  order.executable = NameInBox(executable, places);
  order.arguments = request.command;
  order.environment = Environment(policy, box_policy, order.executable);
  order.listener_ports = way_out.network.ports;
  order.work_folder = WorkFolder(places, starter);
  order.writable_code = profile.writable_code;
  order.limits = LimitsOf(policy, profile);
  order.open_files_max = policy.files.value_or(profile.files);
  std::unique_ptr<ContainerBox> container;
  if (request.container_runtime) {
    container = TRY(ContainerBox::Open(*request.container_runtime, request.launcher, box_policy));
  }
  RunningBox box = container
                       ? TRY(container->Start(order, places, *layout, box_policy, host, place))
                       : TRY(StartBox(order, *layout, box_policy, host, place, *watcher, judge));

  const std::unique_ptr<egress::Proxy> proxy =
      TRY(StartProxy(request, way_out, host, std::move(box.listeners)));

  SessionOptions options;
  options.timeout_seconds = policy.timeout_seconds;
  options.idle_seconds = policy.idle_seconds;
  options.memory_bytes_max = order.limits.memory_bytes_max;
  for (const policy::TmpfsItem& item : box_policy.tmpfs) options.tmpfs.push_back(item.path);
  options.quiet = request.quiet;
  options.client = request.client;
  options.relay.reasons = policy.reasons.value_or(true);
  Session session(std::move(box), std::move(options), refusals, place.cgroup, host.metered(),
                  proxy.get());
  return session.Run(signals.get());
}

}  // namespace glovebox::jail
