#pragma once

// What one program of others may do: the words of `glovebox run` and of policy files.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::policy {

// What the paths among a program's arguments are granted for.
enum class ArgumentGrant : std::uint8_t { kNone, kRead, kWrite };

// A policy as it was said; nothing in it is looked up on the host. A value that is not there was
// not said.
struct JailPolicy {
  std::string summary;  // for people
  std::optional<std::string> profile;
  std::vector<std::string> read;
  std::vector<std::string> write;
  std::vector<std::string> allow_sensitive;
  std::vector<std::string> net;
  std::vector<std::string> env;  // NAME or NAME=VALUE
  std::optional<ArgumentGrant> arguments;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> pids;
  std::optional<double> cpus;
  std::optional<std::uint32_t> files;
  std::optional<std::uint64_t> io_bytes_per_second;
  std::optional<double> timeout_seconds;
  std::optional<double> idle_seconds;
  std::optional<bool> reasons;  // whether failed tool calls are told what was refused meanwhile

  bool operator==(const JailPolicy&) const = default;
};

inline constexpr std::string_view kJailProfiles[] = {"node", "python", "generic"};

// Reads a policy file. Strict: an unknown key, a path that is neither absolute nor below ~, a value
// out of range is an error that names the key, the rule and the fix.
Result<JailPolicy> ParseJailPolicy(std::string_view text);

// `base` with what `more` says: lists grow, single values are replaced.
JailPolicy Merge(JailPolicy base, const JailPolicy& more);

// The readers of single words, for flags: the message of an error is the rule.
Result<double> ParseDuration(std::string_view text);  // 500ms, 30s, 10m, 2h; seconds
Result<ArgumentGrant> ParseArgumentGrant(std::string_view text);
Status CheckEnvironmentWord(std::string_view word);
Status CheckJailProfile(std::string_view name);
// Limits in the ranges that can be held.
Status CheckJailLimits(const JailPolicy& policy);

std::string_view ArgumentGrantText(ArgumentGrant grant);
std::string DurationText(double seconds);

}  // namespace glovebox::policy
