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

// Our only child is the zygote, its children are the boxes' inits, theirs the Pythons.
struct Family {
  std::string zygote;
  std::vector<std::pair<std::string, std::string>> boxes;  // init, Python
};

Family OurFamily() {
  Family family;
  for (const std::string& zygote : ChildrenOf(std::to_string(::getpid()))) {
    family.zygote = zygote;
    for (const std::string& init : ChildrenOf(zygote)) {
      for (const std::string& python : ChildrenOf(init)) family.boxes.emplace_back(init, python);
    }
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
  for (const auto& [init, python] : family.boxes) {
    for (const std::string& process : {init, python}) {
      memory.private_dirty_bytes += MemoryBytes(process, "\nPrivate_Dirty:");
    }
  }
  if (memory.boxes > 0) memory.private_dirty_bytes /= memory.boxes;
  return memory;
}

}  // namespace glovebox::bench
