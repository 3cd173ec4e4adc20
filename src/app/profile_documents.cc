#include "app/profile_documents.h"

#include <string_view>
#include <vector>

#include "base/text.h"
#include "policy/profile.h"

namespace glovebox {
namespace {

constexpr std::string_view kTop = R"(# Profiles

Made from `policies/profiles/` by `make config-docs`; a test compares.

A profile says which modules a program may import, how much of Python it may use and how much memory
it has by default. `execute_code` takes it as `profile`; several are joined by `+`, as in
`basic+data_science`, and a call then gets what any of them grants. A caller can choose only among
the profiles that the operator enabled.

| profile | enabled | memory | language layer | for |
|---|---|---|---|---|
)";

constexpr std::string_view kRules = R"(
A call without `profile` gets `basic` and, where they are enabled, `data_science` and `filesystem`;
`SANDBOX_DEFAULT_PROFILE` says otherwise. `run_python_code` gets `full` where that is enabled.

- **A module brings its submodules**: `collections.abc` passes through `collections`. It does not
  bring its parent: `urllib.parse` does not bring `urllib`. The rule is about imports in the
  program, not about those that libraries make.
- **`allowed_imports`** of a call narrows: only those of its modules that the profile has can be
  imported. An empty list narrows nothing.
- **`SANDBOX_ALLOWED_IMPORTS`** of the operator replaces the modules of every profile but `full`.
- **Memory**: `memory_limit` of a call counts first, then `SANDBOX_DEFAULT_MEMORY_LIMIT` if it is
  set, then the profile's own amount, the largest of several.
- **A module that is allowed and not installed** raises `ModuleNotFoundError`; the error names the
  Debian package that has it. `get_sandbox_info` lists these under `not_installed`.
- **Packages of your own** come from `SANDBOX_PYTHON_PATH`: a virtual environment, or a folder of
  packages. They are read-only in every box and can be imported in `full`, or in other profiles when
  `SANDBOX_ALLOWED_IMPORTS` names them. `.pth` files in them are not read.

None of this is a wall. The language layer and its lists give early, readable feedback; what a box
can do is up to the kernel, in every profile alike, and is held with the language layer off (profile
`full`): [threat model](threat-model.md).
)";

std::string Enabled(const policy::Profile& profile) {
  if (profile.name == "basic") return "always";
  return "`" + policy::EnableVariable(profile.name) + "`, by default " +
         (profile.name == "full" ? "true" : "false");
}

std::string Names(const std::vector<policy::ProfileEntry>& entries) {
  std::string text;
  for (const policy::ProfileEntry& entry : entries) {
    text += (text.empty() ? "`" : ", `") + entry.name + "`";
  }
  return text.empty() ? "none" : text;
}

std::string Section(const policy::Profile& profile) {
  std::string text = "\n## " + profile.name + "\n\n" + profile.summary + ".\n\n| | |\n|---|---|\n";
  const std::string builtins = !profile.language_layer ? "all"
                               : profile.builtins.empty()
                                   ? "all but those that the language layer refuses"
                                   : "besides those of basic: " + Names(profile.builtins);
  text += "| built-ins | " + builtins + " |\n";
  text += "| the kernel allows | " + profile.kernel + " |\n";
  text += "| imported ahead of requests | " + Names(profile.preimports) + " |\n";
  if (!profile.language_layer) return text + "| modules | every installed one |\n";
  text += "\n| module | what for | Debian package |\n|---|---|---|\n";
  for (const policy::ProfileEntry& entry : profile.modules) {
    const std::string package = entry.package.empty() ? "Python's own" : entry.package;
    text += "| `" + entry.name + "` | " + entry.why + " | " + package + " |\n";
  }
  return text;
}

}  // namespace

std::string ProfilesManual() {
  std::string text(kTop);
  for (const policy::Profile& profile : policy::Profiles()) {
    text += "| [" + profile.name + "](#" + profile.name + ") | " + Enabled(profile) + " | " +
            SizeText(profile.memory_bytes) + " | " + (profile.language_layer ? "yes" : "no") +
            " | " + profile.summary + " |\n";
  }
  text += kRules;
  for (const policy::Profile& profile : policy::Profiles()) text += Section(profile);
  return text;
}

}  // namespace glovebox
