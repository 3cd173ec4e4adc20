#pragma once

// One walk over a program's syntax tree: what it may not contain, what has to be looked at when it
// is reached, and what it consists of.

#include <string>
#include <vector>

#include "python/wire/language.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/language/policy.h"

namespace glovebox::zygote {

struct Checked {
  std::vector<wire::Finding> findings;  // in the order of the program, at most wire::kFindingsMax
  bool refused = false;                 // one of them keeps the program from being started
  bool rewritten = false;               // the tree is no longer that of the text
  bool complete = true;                 // false: memory ran short, an exception is set
  std::vector<std::string> mentioned_modules;  // allowed, used, never bound: `math.pi` alone
  std::uint32_t complexity = 1;
  std::uint32_t functions = 0;
  std::uint32_t classes = 0;
  std::vector<std::string> imports;
};

enum class TreeUse : std::uint8_t {
  kCompiled,     // attributes whose meaning depends on the object are rewritten, in place
  kOnlyChecked,  // somebody else compiles the text: such attributes are objected to
};

Checked CheckTree(PyObject* tree, const ActivePolicy& policy, TreeUse use);

// The names a module defines at its top level, in order of appearance.
std::vector<std::string> TopLevelNames(PyObject* tree);

}  // namespace glovebox::zygote
