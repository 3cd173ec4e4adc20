#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "executor/outcome.h"
#include "executor/request.h"

namespace glovebox {

struct AuditLogOptions {
  std::string path;
  bool with_code = false;         // the text of programs, not only its hash
  std::uint64_t bytes_max = 0;    // of one file; a larger one is put aside as path.1, path.2, ...
  std::uint32_t files_kept = 10;  // put aside; the oldest beyond them go
};

// What was executed for whom, one JSON object per line. Each line holds the hash of the line before
// it and its own, so that an edited or missing line shows (VerifyAuditLog). The chain goes on from
// file to file and from server to server.
//
// A line is one write(2): a crash can leave an unfinished last line, which the next Open removes
// and says so in a line of its own. One server at a time may write to a log; a second one is
// refused by a lock.
//
// Thread rule: one thread.
class AuditLog {
 public:
  // Errors name the file: it cannot be opened, belongs to another server, or its last line is none.
  static Result<std::unique_ptr<AuditLog>> Open(AuditLogOptions options);

  // Adds a line. An error means that the line is not there; the next one continues the chain.
  Status Record(const ExecutionRequest& request, const Outcome& outcome);

 private:
  explicit AuditLog(AuditLogOptions options) : options_(std::move(options)) {}
  Status OpenFile();
  Status Continue();
  Status Append(const std::string& body);
  Status Rotate();

  const AuditLogOptions options_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t sequence_ = 0;  // of the last line
  std::string last_hash_;
};

// What became of a chain of files.
struct AuditVerdict {
  std::vector<std::string> problems;  // sentences with file and line; empty: nothing was changed
  std::uint64_t lines = 0;
  std::uint64_t first_sequence = 0;
  std::uint64_t last_sequence = 0;
  std::string last_hash;  // compare with one noted earlier: lines cut from the end show only so
};

// Reads the files, in any order. kSystem: one cannot be read.
Result<AuditVerdict> VerifyAuditLog(const std::vector<std::string>& paths);

}  // namespace glovebox
