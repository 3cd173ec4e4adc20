#pragma once

// What the language layer says no with, at run time: an exception in the program, a finding and an
// event in the result.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "python/wire/gate.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/language/policy.h"

namespace glovebox::zygote {

// Makes the two exception types. Once per process, before any fork.
Status PrepareRefusals();

// SecurityError, a PermissionError. Borrowed.
PyObject* SecurityErrorType();

// The refusals of one run.
class RefusalLog {
 public:
  void Start(const ActivePolicy* policy) {
    policy_ = policy;
    findings_.clear();
  }
  const ActivePolicy* policy() const { return policy_; }
  void Add(const wire::Finding& finding, const std::string& target);
  std::vector<wire::Finding> Take() { return std::move(findings_); }

 private:
  const ActivePolicy* policy_ = nullptr;
  std::vector<wire::Finding> findings_;
};
RefusalLog& Refusals();

// Sets the exception, notes finding and event; always answers null. `module` is what the remedy is
// about, when it is about one.
PyObject* RefuseNow(RuleId rule, const std::string& what, const std::string& target,
                    std::string_view module = {});
// The same with the ImportError that programs expect of an import.
PyObject* RefuseImport(const std::string& module);

// Whether an uncaught exception is one of ours.
bool IsRefusal(PyObject* exception);

}  // namespace glovebox::zygote
