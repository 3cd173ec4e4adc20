#include "rows.h"

namespace glovebox::bench {
namespace {

constexpr double kBetweenTurns = 0.1;       // seconds in which an executor makes boxes ahead
constexpr double kBetweenContainers = 0.8;  // the same for containers

Row Unwalled(const std::string& name, const Workload& workload, const std::string& state,
             const PythonServer& server) {
  return {.name = name,
          .workload = &workload,
          .state = state,
          .walls = "none",
          .once = [&server, &workload] { return server.Run(workload); }};
}

Row InExecutor(const Workload& workload, WarmExecutor& executor) {
  return {.name = "glovebox executor, warm",
          .workload = &workload,
          .state = "fresh box",
          .walls = "every wall",
          .once = [&executor] { return executor.Run(); },
          .after = [&executor] { executor.Idle(kBetweenTurns); }};
}

// Everybody's wish for a container that is fresh and waits already.
Row InContainer(const WarmServices& services) {
  return {.name = "glovebox container, warm",
          .state = "fresh container",
          .walls = "a kernel in user space, namespaces, the box's filter",
          .every = kSeldom,
          .calls = 1,
          .once = [&services]() -> Status {
            if (services.containers == nullptr) {
              return Error(Errc::kUnsupported, services.no_containers);
            }
            return services.containers->Run();
          },
          .after = [&services] { services.containers->Idle(kBetweenContainers); }};
}

Row Served(const std::string& name, const Workload& workload, ServedPython& server) {
  return {.name = name,
          .workload = &workload,
          .state = "fresh box",
          .walls = "every wall",
          .once = [&server, &workload] { return server.Run(workload); }};
}

}  // namespace

Result<WarmServices> WarmServices::Start(const Places& places) {
  const auto python = [&](const char* mode, const Workload& workload) {
    return PythonServer::Start(places.python_server, places.folder, mode, workload);
  };
  const std::string zygote = places.glovebox + "-python";
  WarmServices services;
  services.forks = TRY(python("fork", kPrint));
  services.forks_science = TRY(python("fork", kFrame));
  services.reuse = TRY(python("reuse", kPrint));
  services.reuse_science = TRY(python("reuse", kFrame));
  services.executor = TRY(WarmExecutor::Start(zygote, kPrint));
  services.executor_science = TRY(WarmExecutor::Start(zygote, kFrame));
  auto containers = WarmExecutor::StartContainers(zygote, kPrint);
  if (containers) {
    services.containers = std::move(*containers);
    services.containers->Idle(2 * kBetweenContainers);
  } else {
    services.no_containers = containers.error().message();
  }
  services.stdio = TRY(ServedPython::StartStdio(places.glovebox));
  services.http = TRY(ServedPython::StartHttp(places.glovebox));
  return services;
}

void AddWarmRows(Rows& rows, const WarmServices& services) {
  constexpr const char* kFork = "fork server, no walls";
  constexpr const char* kReuse = "one interpreter for everybody";
  constexpr const char* kLeft = "what earlier calls left";
  rows.Add(Unwalled(kFork, kPrint, "fresh process", *services.forks));
  rows.Add(InExecutor(kPrint, *services.executor));
  rows.AddPeer(InContainer(services));
  rows.Add(Unwalled(kReuse, kPrint, kLeft, *services.reuse));
  rows.Add(Served("glovebox serve, stdio MCP", kPrint, *services.stdio));
  rows.Add(Unwalled(kFork, kFrame, "fresh process", *services.forks_science));
  rows.Add(Served("glovebox serve, HTTP MCP", kPrint, *services.http));
  rows.Add({.name = "validate_code, stdio MCP",
            .state = "fresh box",
            .walls = "every wall",
            .once = [&server = *services.stdio] { return server.Validate(kPrint); }});
  rows.Add(InExecutor(kFrame, *services.executor_science));
  rows.Add(Unwalled(kReuse, kFrame, kLeft, *services.reuse_science));
  rows.Add(Served("glovebox serve, stdio MCP", kFrame, *services.stdio));
  rows.Add(Served("glovebox serve, HTTP MCP", kFrame, *services.http));
}

}  // namespace glovebox::bench
