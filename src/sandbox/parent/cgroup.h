#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/parent/cgroup_layout.h"

namespace glovebox::sandbox {

struct CgroupLimits {
  std::uint64_t memory_bytes_max = 0;
  std::uint32_t processes_max = 0;
  double cpus_max = 1.0;
  // From and to each disk, 0: as the disk likes. A tree made without disks holds no other value.
  std::uint64_t io_bytes_per_second_max = 0;

  bool operator==(const CgroupLimits&) const = default;
};

struct CgroupUsage {
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t oom_kills = 0;          // these two, and the time, since CountFromHere()
  std::uint64_t processes_refused = 0;  // forks that hit the limit
};

// The groups of one box, one directory per hierarchy, used again and again: making and removing
// them costs four times as much as resetting them.
class CgroupSlot {
 public:
  CgroupSlot(CgroupSlot&&) = default;
  CgroupSlot& operator=(CgroupSlot&&) = delete;
  ~CgroupSlot();  // kills what is inside and removes the directories

  // v1: files into which a thread writes "0" to join. Owned by the slot.
  const std::vector<int>& join_fds() const { return join_fds_; }

  // v2: the directory a child is born into (CLONE_INTO_CGROUP); -1 when no controller is on v2.
  int birth_fd() const { return birth_.get(); }

  // v1 tells of an out-of-memory kill here (readable); -1 on v2, where the whole group dies at
  // once.
  int oom_event_fd() const { return oom_event_.get(); }

  // Sets the limits, and the peak begins anew. Precondition: nobody is inside.
  Status Prepare(const CgroupLimits& limits);

  // Puts a process that has one thread inside, and so what it will fork.
  Status Adopt(pid_t pid) const;

  // What is inside at this moment.
  std::uint64_t MemoryNow() const;
  std::uint32_t ProcessesNow() const;
  // The peak begins anew at what is inside, where the kernel can do that.
  void ResetPeak() const;

  // New limits for whoever is inside; the counters go on. Costs nothing if they are in force.
  Status SetLimits(const CgroupLimits& limits);

  // Starts counting anew, except for the peak, whoever is inside.
  void CountFromHere() { start_ = RawCounts(); }

  CgroupUsage Usage() const;

  // No CPU limit any more: dying takes CPU time, and a throttled group would die slowly.
  void LiftCpuLimit();

  // Kills everything inside until nothing is left; false when something survived 2 seconds of it.
  bool KillAll() const;

 private:
  friend class CgroupTree;
  CgroupSlot() = default;
  std::string File(std::string_view controller, std::string_view name) const;
  // A counter that is read for every box, kept open: looking a path up costs more than reading.
  struct Counter {
    UniqueFd file;
    std::string key;  // of the line that holds it; empty: the whole file is a number
    std::string_view Text(std::span<char> buffer) const;  // empty if it cannot be read
    std::uint64_t Read() const;
  };
  Result<Counter> OpenCounter(std::string_view controller, std::string_view file,
                              std::string_view key) const;
  Status OpenCounters();
  Status OpenJoin(const std::string& directory);
  bool IsV2(std::string_view controller) const;
  bool IsEmpty() const;
  CgroupUsage RawCounts() const;  // all but the peak
  Status WriteLimits(const CgroupLimits& limits);
  Status SetMemory(std::uint64_t bytes);
  Status SetIo(std::uint64_t bytes_per_second);

  std::vector<ControllerPlace> places_;  // directory = this slot's own
  std::vector<std::string> directories_;
  std::vector<std::string> joined_;  // co-mounted controllers share a directory
  std::vector<UniqueFd> join_owned_;
  std::vector<int> join_fds_;
  UniqueFd birth_;
  UniqueFd oom_event_;
  std::optional<CgroupLimits> in_force_;  // nothing: some were written, or none yet
  Counter processes_;
  Counter peak_;
  Counter oom_kills_;
  Counter processes_refused_;
  std::optional<Counter> cpu_us_;  // where a controller counts it
  std::optional<Counter> cpu_ns_;
  CgroupUsage start_;
};

// Kills what is in `directories`, branches of a server that is gone, and removes them. Directories
// that do not exist (any more) are fine.
void SweepBranches(const std::vector<std::string>& directories);

// Our own branch of every hierarchy this host offers, named after our uid range.
class CgroupTree {
 public:
  // Makes the branches. A host without a memory or pids controller that we can use is kUnsupported,
  // with the reason. `zygote`: whose children are born into the slots, where that is not us: v2
  // asks for its right to write to the group, and to the one that holds both the group and the
  // zygote.
  static Result<CgroupTree> Create(const CgroupLayout& layout, std::uint32_t index,
                                   std::optional<uid_t> zygote = std::nullopt);

  // Where the branches of `index` would stand; for a record that outlives us, written before
  // Create.
  static std::vector<std::string> BranchesOf(const CgroupLayout& layout, std::uint32_t index);

  CgroupTree(CgroupTree&&) = default;
  CgroupTree& operator=(CgroupTree&&) = delete;
  ~CgroupTree();  // removes the branches. Precondition: all slots are gone.

  Result<CgroupSlot> MakeSlot(std::uint32_t number) const;

  // v2: the file that takes the zygote's pid, so that it lives beside the slots; empty on v1.
  std::string zygote_file() const;

 private:
  CgroupTree() = default;
  std::vector<ControllerPlace> places_;  // directory = our branch
  std::vector<std::string> directories_;
  std::string zygote_directory_;  // v2
  std::optional<uid_t> zygote_;
};

}  // namespace glovebox::sandbox
