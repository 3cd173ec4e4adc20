#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace glovebox {

// How far an audit is, on standard error: one line that changes on a terminal, a line per quarter
// of a stage elsewhere.
class AuditProgress {
 public:
  explicit AuditProgress(bool quiet);
  ~AuditProgress();
  AuditProgress(const AuditProgress&) = delete;
  AuditProgress& operator=(const AuditProgress&) = delete;

  void Show(std::string_view stage, std::size_t done, std::size_t total);

 private:
  const bool quiet_;
  const bool terminal_;
  bool open_line_ = false;
  std::string stage_;
  std::size_t told_ = 0;
};

}  // namespace glovebox
