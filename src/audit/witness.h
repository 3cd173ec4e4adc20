#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "audit/probe.h"
#include "audit/scene.h"

namespace glovebox::audit {

// Lets the world go on until `done` says so or the time is over.
using Wait = std::function<void(const std::function<bool()>& done, int milliseconds)>;

// Watches one run: made before it, ticked during it, asked after it.
class Observation {
 public:
  Observation(Scene& scene, std::string_view probe, Witness witness);
  // What the program finds bound.
  Bindings Globals() const { return scene_.Globals(nonce_, tag_); }
  // The same for the first of two programs, which has a secret of its own.
  Bindings FirstGlobals() const;
  void Tick();
  // What happened, or nothing. `output` is everything that came out of the run.
  std::optional<std::string> Effect(std::string_view output, const Wait& wait);

 private:
  // Elsewhere than in the cage, others come and go.
  bool Settles() const { return scene_.stage() == Stage::kCage; }
  std::optional<std::string> Judge(std::string_view output, const Wait& wait);

  Scene& scene_;
  std::string probe_;
  Witness witness_;
  std::string nonce_;
  std::string tag_;
  std::string neighbour_secret_;
  std::uint64_t memory_before_ = 0;
  std::uint64_t memory_most_ = 0;
  std::uint32_t tasks_before_ = 0;
  std::uint32_t tasks_most_ = 0;
};

}  // namespace glovebox::audit
