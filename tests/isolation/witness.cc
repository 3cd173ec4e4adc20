#include "witness.h"

#include <algorithm>

#include "box_runner.h"
#include "cage.h"

namespace glovebox::isolation {
namespace {

constexpr int kSurvivalMs = 150;  // a survivor is one that is there that long after
constexpr int kDeliveryMs = 30;
constexpr int kSettleMs = 300;  // for a box to be gone

bool Holds(const wire::Value& value, const std::string& text) {
  if (const auto* string = std::get_if<std::string>(&value.data)) {
    return string->find(text) != std::string::npos;
  }
  if (const auto* list = std::get_if<wire::Value::List>(&value.data)) {
    return std::any_of(list->begin(), list->end(),
                       [&](const wire::Value& item) { return Holds(item, text); });
  }
  if (const auto* dict = std::get_if<wire::Value::Dict>(&value.data)) {
    return std::any_of(dict->begin(), dict->end(), [&](const auto& item) {
      return item.name.find(text) != std::string::npos || Holds(item.value, text);
    });
  }
  return false;
}

std::string Shortened(const std::string& text) {
  return text.size() <= 300 ? text : text.substr(0, 300) + "...";
}

}  // namespace

Observation::Observation(Scene& scene, Witness witness)
    : scene_(scene), witness_(witness), nonce_("N" + RandomHex(20)) {
  const Status reset = scene_.Reset();
  CHECK(reset.ok());
  memory_before_ = CageMemoryBytes();
  tasks_before_ = CageTasks();
}

void Observation::Tick() {
  if (witness_ == Witness::kMemory) memory_most_ = std::max(memory_most_, CageMemoryBytes());
  if (witness_ == Witness::kTasks) tasks_most_ = std::max(tasks_most_, CageTasks());
  if (witness_ == Witness::kKnock) scene_.KnockAtBox();
}

std::optional<std::string> Observation::Effect(const Outcome& outcome) {
  std::optional<std::string> effect = Judge(outcome);
  // What a dying box still does belongs to this run, not to the next.
  Runner().RunUntil([&] { return CageTasks() <= tasks_before_; }, kSettleMs);
  return effect;
}

std::optional<std::string> Observation::Judge(const Outcome& outcome) {
  switch (witness_) {
    case Witness::kNonce: break;
    case Witness::kSecret:
      if (AppearsIn(outcome, scene_.secret())) return "the secret came out";
      break;
    case Witness::kFolder: return scene_.FolderChanged();
    case Witness::kListeners: return scene_.SomethingHeard();
    case Witness::kKnock:
      if (scene_.box_answered()) return "the box answered on a port of the host";
      break;
    case Witness::kVictim:
      // A signal is counted when the victim gets to run.
      Runner().RunUntil([&] { return scene_.victim().Harm().has_value(); }, kDeliveryMs);
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
      Runner().RunUntil([] { return false; }, kSurvivalMs);
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
  if (AppearsIn(outcome, nonce_)) return "the payload says so";
  return std::nullopt;
}

bool AppearsIn(const Outcome& outcome, const std::string& text) {
  for (const std::string* place :
       {&outcome.stdout_stream.text, &outcome.stdout_stream.tail, &outcome.stderr_stream.text,
        &outcome.stderr_stream.tail, &outcome.value_repr, &outcome.message}) {
    if (place->find(text) != std::string::npos) return true;
  }
  if (outcome.error && (outcome.error->message.find(text) != std::string::npos ||
                        outcome.error->traceback.find(text) != std::string::npos)) {
    return true;
  }
  return Holds(outcome.value, text);
}

std::string Summary(const Outcome& outcome) {
  std::string text = std::string(StatusName(outcome.status));
  if (outcome.exit_code) text += ", exit " + std::to_string(*outcome.exit_code);
  if (outcome.signal) text += ", signal " + std::to_string(*outcome.signal);
  text += ", " + std::to_string(outcome.wall_seconds) + " s";
  for (const std::string& limit : outcome.limits_hit) text += ", limit " + limit;
  if (!outcome.message.empty()) text += ", message: " + Shortened(outcome.message);
  if (outcome.error) text += ", " + outcome.error->type + ": " + Shortened(outcome.error->message);
  if (!outcome.stdout_stream.text.empty()) {
    text += "\n  stdout: " + Shortened(outcome.stdout_stream.text);
  }
  if (!outcome.stderr_stream.text.empty()) {
    text += "\n  stderr: " + Shortened(outcome.stderr_stream.text);
  }
  return text;
}

}  // namespace glovebox::isolation
