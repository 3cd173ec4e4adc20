#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::audit {

// What came of one program at a target.
struct Attempt {
  bool ran = true;      // false: the target could not run it at all; `problem` says why
  bool ended = true;    // false: stopped by us, for it took too long; no effect then says nothing
  std::string output;   // everything that came out, whatever the way
  std::string problem;  // for people: the last thing that went wrong; may be empty
};

// A program that is running. Destroying it ends the program.
class RunningProgram {
 public:
  virtual ~RunningProgram() = default;
  // Null until the program has ended.
  virtual const Attempt* attempt() const = 0;
};

// Somewhere that untrusted Python runs: the host itself, a box, a container, somebody's MCP server,
// any jail with a command line. Implement this to have another one audited.
//
// Thread rule: the thread that made it.
class Target {
 public:
  virtual ~Target() = default;

  // Begins to run `code`. Several may run at once.
  virtual std::unique_ptr<RunningProgram> Start(const std::string& code) = 0;
  // Lets running programs go on for up to `milliseconds`; returns earlier when something happened.
  virtual void Turn(int milliseconds) = 0;

  // For reports: "box, profile full".
  virtual std::string description() const = 0;
  // Of a box that is weaker than promised; empty at full strength.
  virtual std::vector<std::string> missing_walls() const { return {}; }
};

}  // namespace glovebox::audit
