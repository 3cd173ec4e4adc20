#pragma once

#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {

// Two connected Unix sockets: one to keep, one to hand over.
struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

// SOCK_SEQPACKET: messages keep their bounds. Close-on-exec, blocking. An error says "making WHAT".
Result<SocketPair> MakeSocketPair(std::string_view what);

}  // namespace glovebox
