#pragma once

// A box that executes somebody else's program, as plain data: what its init and the program's
// process do to themselves. The steps are in sandbox/child/jail_child.cc.

#include <cstdint>
#include <type_traits>

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// What is tried in the box, with every wall but the filter up, before the program starts.
enum class PathProof : std::uint8_t {
  kReadable,  // can be opened
  kWritable,  // something can be made in it, or it can be opened for writing
  kReadOnly,  // can be opened, and not for writing
  kRefused,   // cannot be opened
};

struct PathProbe {
  const char* path;
  PathProof proof;
};

struct JailPlan {
  int failure_fd = -1;           // O_CLOEXEC; end-of-file without a record means exec
  int parent_ready_fd = -1;      // one byte arrives when id maps are in place
  bool switch_identity = false;  // become `first_uid`, which builds the root
  uid_t first_uid = 0;
  std::uint64_t kept_capabilities = 0;  // of the host's root, who becomes another uid
  RootPlan root;
  BoxPlan box;                 // the rest of the walls; its fresh mounts are in the root already
  bool writable_code = false;  // the program makes code as it runs (JIT)
  // For a host on which somebody above us listens already: the filter that hands nothing over.
  const sock_filter* unobserved_filter = nullptr;
  std::uint16_t unobserved_filter_length = 0;
  const PathProbe* probes = nullptr;
  std::uint16_t probe_count = 0;
  int input_fd = -1;
  int output_fd = -1;
  int error_fd = -1;
  int listener_socket = -1;  // takes one byte and, unless somebody else listens, the listener
  int status_fd = -1;        // takes a JailEnd
  const char* executable = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
};
static_assert(std::is_trivially_copyable_v<JailPlan> && std::is_trivially_destructible_v<JailPlan>);

// How a jailed program ended, written by its init. The program never holds the pipe.
struct JailEnd {
  std::int32_t wait_status;   // as wait4 gave it
  std::uint32_t left_behind;  // processes that were alive then, and are dead now
  std::uint64_t cpu_us;       // user and system time of the program and its reaped children
  char names[112];            // of those processes, by comma, as many as fit; NUL-terminated
};
static_assert(sizeof(JailEnd) == 128 && std::is_trivially_copyable_v<JailEnd>);

}  // namespace glovebox::sandbox
