#include "app/audit_progress.h"

#include <unistd.h>

#include <cstdio>

namespace glovebox {

AuditProgress::AuditProgress(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

AuditProgress::~AuditProgress() {
  if (open_line_) std::fputs("\n", stderr);
}

void AuditProgress::Show(std::string_view stage, std::size_t done, std::size_t total) {
  if (quiet_ || total == 0) return;
  const std::size_t quarter = done * 4 / total;
  const bool changed = stage != stage_;
  const std::string name(stage);
  if (terminal_) {
    if (changed && open_line_) std::fputs("\n", stderr);
    std::fprintf(stderr, "\r%s: %zu of %zu", name.c_str(), done, total);
    open_line_ = true;
  } else if (changed || quarter != told_) {
    std::fprintf(stderr, "%s: %zu of %zu\n", name.c_str(), done, total);
  }
  std::fflush(stderr);
  stage_ = name;
  told_ = quarter;
}

}  // namespace glovebox
