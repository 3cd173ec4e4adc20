#include "base/result.h"

#include <cstdio>
#include <system_error>

namespace glovebox {

Error Error::FromErrno(std::string act, int sys_errno) {
  Error error(Errc::kSystem, std::move(act) + ": " + std::generic_category().message(sys_errno));
  error.sys_errno_ = sys_errno;
  return error;
}

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "glovebox: internal error: %s does not hold (%s:%d)\n", condition, file,
               line);
  std::abort();
}

}  // namespace glovebox
