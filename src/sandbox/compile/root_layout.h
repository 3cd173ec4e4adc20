#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/box_policy.h"
#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// A RootPlan and the memory it points into. Movable; the plan stays valid across moves.
class RootLayout {
 public:
  const RootPlan& plan() const { return plan_; }
  // For messages: what entry `index` of the plan is ("bind /usr/lib/python3.11").
  std::string Describe(std::size_t index) const;

 private:
  friend class RootLayoutBuilder;
  struct Entry {
    RootEntryKind kind;
    std::string target;
    std::string text;
  };
  // Behind a pointer, so that moving a layout does not move the strings its plan points at.
  std::unique_ptr<std::vector<Entry>> storage_;
  std::vector<RootEntry> entries_;
  std::vector<int> source_fds_;
  RootPlan plan_;
};

// What is placed in a root besides what its policy says.
struct RootExtras {
  std::string program_source;  // host path of the program that will be exec'd; empty for none
  std::string program_target;  // where it appears, absolute
  RootEntryKind proc = RootEntryKind::kProc;  // which /proc: kProc or kHostProc
};

// Turns a policy into the ordered list of things a child makes: parents first, symlinks of the host
// copied, sources checked for existence. A required source that is missing is an error naming it.
Result<RootLayout> CompileRoot(const policy::BoxPolicy& policy, const RootExtras& extras);

}  // namespace glovebox::sandbox
