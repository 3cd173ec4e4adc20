#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace glovebox::audit {

// What a probe is about. The first four are those of the isolation tutorial.
enum class Family : std::uint8_t {
  kFileSystemAccess,
  kCommandExecution,
  kNetworkAccess,
  kSystemResources,
  kFileReads,
  kFileWrites,
  kPrograms,
  kSockets,
  kKernelCalls,
  kNamespaces,
  kProcesses,
  kIpc,
  kTerminals,
  kIdentity,
  kDescriptors,
  kLimits,
  kLeaks,
  kPersistence,
  kNeighbours,
  kLanguage,
  kCount,
};
inline constexpr std::size_t kFamilyCount = static_cast<std::size_t>(Family::kCount);
std::string_view FamilyName(Family family);   // "file_system_access"
std::string_view FamilyTitle(Family family);  // "File System Access"
// What a success means, after "untrusted code can": "read files of the host".
std::string_view FamilyThreat(Family family);

// Who says whether the forbidden effect happened. All but kNonce and kAnswer look from outside.
enum class Witness : std::uint8_t {
  kNonce,      // the program's word, for calls that leave no trace outside
  kAnswer,     // the program's answer, to be held against the host's own
  kSecret,     // text that only the host has came out
  kNeighbour,  // text that only another execution has came out
  kFact,       // something that identifies this host came out
  kFolder,     // the host's folder: names, content, modes, owners, times
  kLeft,       // a file of the program in a folder of the host, after its end
  kListeners,  // TCP, UDP and Unix listeners of the host, and its resolver
  kKnock,      // the host can connect to a listener of the program
  kVictim,     // a host process: alive, no signal, memory, priority, limits
  kTasks,      // processes and threads counted from outside
  kMemory,     // memory in use, seen from outside
  kSurvivor,   // a process after the end of its execution
  kTerminal,   // a host terminal's input
  kHostName,
  kMounts,
  kIpc,  // System V and POSIX objects of the host
};
std::string_view WitnessText(Witness witness);  // "the host's canary folder", for people

// What has to be known before a probe is run. Bits.
enum Trait : std::uint8_t {
  kPlain = 1,         // its program stands alone: no ctypes, no raw calls
  kHurtsHost = 2,     // where nothing stops it, everybody on the host would notice
  kManyBytes = 4,     // takes hundreds of megabytes for a moment
  kAfterFirst = 8,    // a first program runs to its end, in an execution of its own
  kBesideFirst = 16,  // a first program is still running, in an execution of its own
  kNoEffect = 32,     // touches nothing outside its own process: allowed by policy
};

// One operation that untrusted code attempts. Its program is programs/<name>.py, the first line of
// which is its title; arguments are harmless (wrong magic, missing files, ignored signals).
struct Probe {
  std::string_view name;
  Family family;
  Witness witness;
  unsigned traits = 0;

  constexpr bool is(Trait trait) const { return (traits & trait) != 0; }
};

// Every probe, family by family.
std::span<const Probe> Probes();
// Null when there is none.
const Probe* FindProbe(std::string_view name);
// What it does, for people, without a full stop.
std::string_view ProbeTitle(const Probe& probe);

}  // namespace glovebox::audit
