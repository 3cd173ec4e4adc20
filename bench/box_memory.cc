#include "box_memory.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "warm_executor.h"

namespace glovebox::bench {
namespace {

constexpr double kPatience = 10;  // seconds until all boxes must wait
constexpr double kStep = 0.1;

std::string Process(const std::string& pid) { return "/proc/" + pid; }

std::vector<std::string> ChildrenOf(const std::string& pid) {
  std::istringstream list(ReadFile(Process(pid) + "/task/" + pid + "/children").value_or(""));
  std::vector<std::string> children;
  for (std::string child; list >> child;) children.push_back(child);
  return children;
}

// `key` of /proc/PID/smaps_rollup, such as "\nPrivate_Dirty:".
double MemoryBytes(const std::string& pid, std::string_view key) {
  const std::string rollup = ReadFile(Process(pid) + "/smaps_rollup").value_or("");
  const std::size_t at = rollup.find(key);
  if (at == std::string::npos) return 0;
  return std::strtod(rollup.c_str() + at + key.size(), nullptr) * 1024;
}

// Our only child is the zygote; its children make boxes, whose inits are their children, unless it
// makes them itself. Each init has a Python.
struct Family {
  std::string zygote;
  std::vector<std::string> makers;
  std::vector<std::pair<std::string, std::string>> boxes;  // init, Python
};

void AddBoxesOf(const std::string& maker, Family& family) {
  for (const std::string& init : ChildrenOf(maker)) {
    for (const std::string& python : ChildrenOf(init)) family.boxes.emplace_back(init, python);
  }
}

bool IsInit(const std::string& pid) {
  return ReadFile(Process(pid) + "/comm").value_or("") == "glovebox-init\n";
}

Family OurFamily() {
  Family family;
  for (const std::string& zygote : ChildrenOf(std::to_string(::getpid()))) {
    family.zygote = zygote;
    std::vector<std::string> children = ChildrenOf(zygote);
    if (children.empty() || IsInit(children.front())) {
      AddBoxesOf(zygote, family);
      continue;
    }
    for (const std::string& maker : children) AddBoxesOf(maker, family);
    family.makers = std::move(children);
  }
  return family;
}

}  // namespace

Result<BoxMemory> MeasureBoxMemory(const std::string& zygote, const Workload& workload) {
  const std::unique_ptr<WarmExecutor> executor = TRY(WarmExecutor::Start(zygote, workload));
  Family family;
  for (double waited = 0; waited < kPatience && family.boxes.size() < WarmExecutor::kWarmBoxes;
       waited += kStep) {
    executor->Idle(kStep);
    family = OurFamily();
  }
  executor->Idle(1);  // what they do before they wait is over
  family = OurFamily();
  BoxMemory memory{.workload = &workload, .boxes = static_cast<int>(family.boxes.size())};
  memory.zygote_bytes = MemoryBytes(family.zygote, "\nRss:");
  for (const std::string& maker : family.makers) {
    memory.zygote_bytes += MemoryBytes(maker, "\nPrivate_Dirty:");
  }
  for (const auto& [init, python] : family.boxes) {
    for (const std::string& process : {init, python}) {
      memory.private_dirty_bytes += MemoryBytes(process, "\nPrivate_Dirty:");
    }
  }
  if (memory.boxes > 0) memory.private_dirty_bytes /= memory.boxes;
  return memory;
}

}  // namespace glovebox::bench
