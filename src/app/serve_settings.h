#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace glovebox {

// Everything `glovebox serve` can be told, as values within their ranges. What each one means, its
// default and its range stand in setting_table.cc and nowhere else; configuration.h fills this.
struct ServeSettings {
  std::string transport;  // "stdio", "http"
  std::string log_level;  // "error", "warning", "info", "debug"

  std::string host;
  std::uint64_t port = 0;
  std::string path;
  std::string api_token;   // may be empty
  std::string token_file;  // may be empty
  std::vector<std::string> server_names;
  std::vector<std::string> allowed_origins;
  std::uint64_t connections_max = 0;
  std::uint64_t connections_per_peer_max = 0;
  std::uint64_t sessions_max = 0;
  std::uint64_t body_bytes_max = 0;
  std::uint64_t drain_seconds_max = 0;

  std::string default_profile;  // empty: basic and what is enabled beside it
  bool enable_full = false;
  bool enable_data_science = false;
  bool enable_filesystem = false;
  bool enable_network = false;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> read_paths;
  std::vector<std::string> write_paths;
  std::vector<std::string> allowed_imports;
  std::vector<std::string> python_path;
  std::string return_mode;  // "xml", "json"

  std::uint64_t timeout_seconds_default = 0;
  std::uint64_t timeout_seconds_max = 0;
  std::uint64_t memory_bytes_default = 0;
  std::uint64_t memory_bytes_max = 0;
  std::uint64_t output_chars_max = 0;
  std::uint64_t code_chars_max = 0;
  std::uint64_t boxes_max = 0;
  std::uint64_t queue_max = 0;

  std::uint64_t warm_boxes = 0;
  std::uint64_t boxes_per_interpreter = 0;

  bool enable_containers = false;
  std::string container_runtime;  // a name of container::RuntimeNames()
  std::string container_image;    // may be empty
  std::uint64_t warm_containers = 0;

  std::string allow_degraded;  // "false", "true"
  std::string cgroup_parent;   // may be empty

  std::string audit_log;  // may be empty: none is kept
  bool audit_log_code = false;
  std::uint64_t audit_log_bytes_max = 0;
  std::uint64_t audit_log_files = 0;

  std::uint64_t requests_per_second = 0;  // 0: no limit
  std::uint64_t burst = 0;
  std::uint64_t concurrent_max = 0;  // 0: half of boxes_max
};

}  // namespace glovebox
