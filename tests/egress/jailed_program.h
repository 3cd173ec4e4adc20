#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/egress.h"
#include "sandbox/parent/uid_range.h"

// Programs in a network namespace of their own with an egress: what a box is to the proxy.
class JailedProgram {
 public:
  // Finds out how this host holds boxes; takes uids where we are root.
  JailedProgram();

  struct Ran {
    std::string output;  // stdout and stderr
    std::vector<glovebox::egress::ConnectionReport> reports;
  };
  // Runs Python code under `rules`; names are those of `hosts`, as /etc/hosts has them.
  Ran Python(const std::string& code, const std::vector<std::string>& rules,
             const std::string& hosts = "");

  // Underneath: a running proxy for a namespace in which `program` runs.
  glovebox::sandbox::HostMode mode() const { return mode_; }

 private:
  std::optional<glovebox::sandbox::UidRange> uids_;
  glovebox::sandbox::HostMode mode_;
};

// Where glovebox-egress is: $GLOVEBOX_EGRESS, set by ctest.
std::string EgressProgram();
