#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/serve_settings.h"
#include "base/result.h"

namespace glovebox {

// One thing a user can set. The table of them is the only place where a setting is described:
// flags, environment variables, the TOML file, --help, .env.example and docs/configuration.md are
// made from it.
struct Setting {
  using Target =
      std::variant<std::string ServeSettings::*, std::uint64_t ServeSettings::*,
                   bool ServeSettings::*,
                   std::vector<std::string> ServeSettings::*>;  // a list is written with commas
  enum class Unit : std::uint8_t { kNone, kSeconds, kBytes, kCharacters, kPerSecond };

  std::string_view name;                    // of the flag, without its dashes
  std::vector<std::string_view> variables;  // the first one that is set counts
  std::string_view key;                     // in the TOML file
  Target target;
  std::string_view default_text;
  std::uint64_t minimum = 0;  // of numbers
  std::uint64_t maximum = 0;
  Unit unit = Unit::kNone;
  std::vector<std::string_view> choices = {};  // of texts that are one of a few
  std::string_view form = {};                  // of other texts, in words: "a path"
  // Never shown. Has no flag: every user of a machine can read every command line on it.
  bool secret = false;
  std::string_view description;  // one sentence

  // "http" of "http.port"; empty for keys outside of tables.
  std::string_view section() const;
  // True or false: the bare flag means true.
  bool is_switch() const { return choices.size() == 2 && choices[1] == "true"; }
  // What may be written, as in "must be <rule>".
  std::string Rule() const;
  // Puts `text` where it belongs. kInvalidArgument: breaks the rule; the message is only that rule.
  Status Apply(std::string_view text, ServeSettings& settings) const;
};

// In the order in which people read about them; keys of one section together.
const std::vector<Setting>& SettingTable();

}  // namespace glovebox
