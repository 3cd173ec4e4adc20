#pragma once

// What the language layer is asked and what it answers, as plain data. The layer itself lives in
// the box (python/zygote/language): what comes back is hostile input like every other word of a
// box.

#include <cstdint>
#include <string>
#include <vector>

#include "python/wire/word_list.h"

namespace glovebox::wire {

inline constexpr std::uint32_t kFindingsMax = 100;
inline constexpr std::uint32_t kAnalysisNamesMax = 1'000;
inline constexpr std::size_t kFindingBytesMax = 1u << 10;
inline constexpr std::size_t kSourceLineBytesMax = 4u << 10;
inline constexpr std::size_t kPolicyBytesMax = 1u << 20;

// The builtins that the layer refuses, and LanguagePolicy::builtins may grant.
inline constexpr const char* kRefusedBuiltins[] = {"eval", "exec", "compile", "open", "breakpoint"};

enum class RunAction : std::uint8_t {
  kRun,       // check, then run
  kValidate,  // check and analyse; nothing is run
};

// Which Python a request may contain. Disabled, which is the default, means all of it.
struct LanguagePolicy {
  bool enabled = false;
  std::string profile;  // how remedies call it: "basic"
  WordList modules;     // dotted names; each brings its submodules
  WordList builtins;    // granted, of kRefusedBuiltins
  WordList rules_off;   // ids of rules that do not apply
  // In pairs, what would allow a module that is not in `modules`: "requests", "profile 'network'".
  WordList remedies;
};

// One thing the layer objects to.
struct Finding {
  std::int32_t line = 0;
  std::int32_t column = 0;  // 1-based, in characters; 0 when unknown
  std::string rule;         // id of the rule: "import"
  std::string what;         // "Import 'os' is not allowed"
  std::string why;
  std::string instead;  // what to do, or what would allow it
  // Whether a program with it is not started. Otherwise it is refused only if it is reached.
  bool refuses_program = true;
};

// What a program consists of, from its syntax tree.
struct CodeAnalysis {
  std::uint32_t complexity = 0;  // cyclomatic: 1 plus the decisions
  std::uint32_t functions = 0;
  std::uint32_t classes = 0;
  std::vector<std::string> imports;  // dotted names, in order of appearance
  std::vector<std::string> names;    // defined at the top level, in order of appearance
};

}  // namespace glovebox::wire
