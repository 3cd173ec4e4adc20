#include "audit/witness.h"

#include <algorithm>

#include "audit/cage.h"

namespace glovebox::audit {
namespace {

constexpr int kSurvivalMs = 150;  // a survivor is one that is there that long after
constexpr int kDeliveryMs = 30;
constexpr int kSettleMs = 300;  // for a box to be gone

bool Holds(std::string_view output, std::string_view text) {
  return !text.empty() && output.find(text) != std::string_view::npos;
}

}  // namespace

Observation::Observation(Scene& scene, std::string_view probe, Witness witness)
    : scene_(scene),
      probe_(probe),
      witness_(witness),
      nonce_("N" + RandomHex(20)),
      tag_(scene.cookie() + "-" + RandomHex(8)),
      neighbour_secret_("P" + RandomHex(14)) {
  const Status reset = scene_.Reset();
  CHECK(reset.ok());
  if (witness_ == Witness::kMemory) memory_before_ = scene_.MemoryBytes();
  if (Settles() || witness_ == Witness::kTasks) tasks_before_ = scene_.Tasks();
}

Bindings Observation::FirstGlobals() const {
  Bindings bindings = Globals();
  bindings.emplace_back("secret", neighbour_secret_);
  return bindings;
}

void Observation::Tick() {
  scene_.AnswerNames();
  if (witness_ == Witness::kMemory) memory_most_ = std::max(memory_most_, scene_.MemoryBytes());
  if (witness_ == Witness::kTasks) tasks_most_ = std::max(tasks_most_, scene_.Tasks());
  if (witness_ == Witness::kKnock) scene_.KnockAtBox();
}

std::optional<std::string> Observation::Effect(std::string_view output, const Wait& wait) {
  std::optional<std::string> effect = Judge(output, wait);
  // What a dying box still does belongs to this run, not to the next.
  if (Settles()) wait([&] { return scene_.Tasks() <= tasks_before_; }, kSettleMs);
  return effect;
}

std::optional<std::string> Observation::Judge(std::string_view output, const Wait& wait) {
  switch (witness_) {
    case Witness::kNonce:
    case Witness::kAnswer: break;
    case Witness::kSecret:
      if (Holds(output, scene_.secret())) return "the secret came out";
      break;
    case Witness::kNeighbour:
      if (Holds(output, neighbour_secret_)) return "another execution's secret came out";
      return std::nullopt;
    case Witness::kFact: {
      const std::string fact = scene_.Fact(probe_);
      if (!fact.empty() && Holds(output, "fact[" + fact + "]")) {
        return "the host's own came out";
      }
      return std::nullopt;
    }
    case Witness::kFolder: return scene_.FolderChanged();
    case Witness::kLeft: return scene_.LeftBehind(tag_);
    case Witness::kListeners: return scene_.SomethingHeard();
    case Witness::kKnock:
      if (scene_.box_answered()) return "the program answered on a port of the host";
      break;
    case Witness::kVictim:
      // A signal is counted when the victim gets to run.
      wait([&] { return scene_.victim().Harm().has_value(); }, kDeliveryMs);
      return scene_.victim().Harm();
    case Witness::kTasks:
      if (tasks_most_ > tasks_before_ + kProcessesEffect) {
        return std::to_string(tasks_most_ - tasks_before_) + " tasks at once";
      }
      break;
    case Witness::kMemory:
      if (memory_most_ > memory_before_ + kMemoryEffectBytes) {
        return std::to_string((memory_most_ - memory_before_) >> 20) + " MiB at once";
      }
      break;
    case Witness::kSurvivor: {
      wait([] { return false; }, kSurvivalMs);
      const std::optional<std::string> pid = scene_.Survivor();
      scene_.KillSurvivors();
      if (pid) return "process " + *pid + " outlived the execution";
      break;
    }
    case Witness::kTerminal: return scene_.TerminalTyped();
    case Witness::kHostName: return scene_.HostNameChanged();
    case Witness::kMounts: return scene_.MountsChanged();
    case Witness::kIpc: return scene_.IpcTouched();
  }
  if (Holds(output, nonce_)) return "the program says so";
  return std::nullopt;
}

}  // namespace glovebox::audit
