#include "app/audit_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "mcp/json_writer.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::string_view kHashKey = R"(,"hash":")";
constexpr std::size_t kHashChars = 64;
constexpr std::size_t kTailChars = kHashKey.size() + kHashChars + 2;  // with the last quote and }
constexpr std::size_t kEventsMax = 32;                                // of one line
const std::string kNoHash(kHashChars, '0');

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(ms));
  return std::string(text.data(), size) + fraction.data();
}

json::array Events(const Outcome& outcome) {
  json::array events;
  for (const Event& event : outcome.events) {
    if (events.size() == kEventsMax) break;
    events.push_back({{"operation", event.operation},
                      {"target", event.target},
                      {"layer", event.layer},
                      {"refused", event.refused}});
  }
  return events;
}

json::object Describe(const ExecutionRequest& request, const Outcome& outcome, bool with_code) {
  json::object line;
  line["who"] = request.caller;
  line["execution_id"] = outcome.execution_id;
  line["action"] = request.action == wire::RunAction::kValidate ? "validate" : "run";
  line["profile"] = request.language.enabled ? request.language.profile : "full";
  line["code_sha256"] = HexOf(Sha256Of(request.code));
  if (with_code) line["code"] = request.code;
  line["status"] = StatusName(outcome.status);
  if (const auto category = ErrorCategory(outcome); !category.empty()) {
    line["error_category"] = category;
  }
  if (outcome.error) line["error_type"] = outcome.error->type;
  line["limits"] = {{"wall_ms", request.limits.wall_ms_max},
                    {"memory_bytes", request.limits.memory_bytes_max}};
  line["limits_hit"] = json::array(outcome.limits_hit.begin(), outcome.limits_hit.end());
  line["wall_seconds"] = outcome.wall_seconds;
  line["cpu_seconds"] = outcome.cpu_seconds;
  line["peak_memory_bytes"] = outcome.peak_memory_bytes;
  line["events"] = Events(outcome);
  const std::uint64_t listed = line["events"].get_array().size();
  line["events_total"] = outcome.events.size() + outcome.events_dropped;
  line["events_listed"] = listed;
  return line;
}

// One line of the chain, taken apart.
struct Link {
  std::uint64_t sequence = 0;
  std::string previous;
  std::string hash;
  bool intact = false;  // the hash is that of the rest
};

std::optional<Link> ParseLine(std::string_view line) {
  if (line.size() < kTailChars || !line.ends_with("\"}")) return std::nullopt;
  const std::string_view tail = line.substr(line.size() - kTailChars);
  if (!tail.starts_with(kHashKey)) return std::nullopt;
  const std::string body = std::string(line.substr(0, line.size() - kTailChars)) + "}";
  boost::system::error_code error;
  const json::value value = json::parse(body, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  const json::value* sequence = object->if_contains("sequence");
  const json::value* previous = object->if_contains("previous");
  if (sequence == nullptr || !sequence->is_int64() || previous == nullptr ||
      !previous->is_string()) {
    return std::nullopt;
  }
  Link link;
  link.sequence = static_cast<std::uint64_t>(sequence->get_int64());
  link.previous = std::string(previous->get_string());
  link.hash = std::string(tail.substr(kHashKey.size(), kHashChars));
  link.intact = HexOf(Sha256Of(body)) == link.hash;
  return link;
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::Open(AuditLogOptions options) {
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(options)));
  TRY(log->OpenFile());
  TRY(log->Continue());
  return log;
}

Status AuditLog::OpenFile() {
  const std::string& path = options_.path;
  file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file_) return Error::FromErrno("opening the audit log " + path, errno);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error(Errc::kInvalidArgument,
                 "the audit log " + path + " is in use by another server; give each its own");
  }
  return {};
}

// Finds the end of the chain in the file, or, when that is new, in the one put aside last.
Status AuditLog::Continue() {
  std::string text = ReadFile(options_.path).value_or("");
  const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no line
  const std::size_t torn = text.size() - whole;
  if (torn > 0 && ::ftruncate(file_.get(), static_cast<off_t>(whole)) != 0) {
    return Error::FromErrno("removing the unfinished line of " + options_.path, errno);
  }
  text.resize(whole);
  bytes_ = whole;
  if (text.empty()) text = ReadFile(options_.path + ".1").value_or("");
  last_hash_ = kNoHash;
  if (!text.empty()) {
    text.pop_back();
    const std::size_t begin = text.rfind('\n') + 1;
    const std::optional<Link> last = ParseLine(std::string_view(text).substr(begin));
    if (!last) {
      return Error(Errc::kInvalidArgument,
                   "the last line of the audit log " + options_.path +
                       " is none of ours; move the file away to begin a new log");
    }
    sequence_ = last->sequence;
    last_hash_ = last->hash;
  }
  if (torn == 0) return {};
  json::object note = {{"note", "an unfinished line was removed"}, {"bytes", torn}};
  return Append(mcp::WriteJson(note));
}

// `body` is a JSON object; its place in the chain goes in front.
Status AuditLog::Append(const std::string& body) {
  json::object place;
  place["sequence"] = sequence_ + 1;
  place["time"] = Now();
  place["previous"] = last_hash_;
  std::string line = mcp::WriteJson(place);
  line.back() = ',';
  line += std::string_view(body).substr(1);
  const std::string hash = HexOf(Sha256Of(line));
  line.pop_back();
  line.append(kHashKey).append(hash).append("\"}\n");
  const ssize_t put = ::write(file_.get(), line.data(), line.size());
  if (put != static_cast<ssize_t>(line.size())) {
    const int error = put < 0 ? errno : ENOSPC;
    // What was written of it must not stand before the next line.
    if (put > 0 && ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) {
      return Error::FromErrno("taking back an unfinished line of " + options_.path, errno);
    }
    return Error::FromErrno("writing to the audit log " + options_.path, error);
  }
  bytes_ += line.size();
  ++sequence_;
  last_hash_ = hash;
  return {};
}

Status AuditLog::Rotate() {
  const auto name = [this](std::uint32_t number) {
    return options_.path + "." + std::to_string(number);
  };
  ::unlink(name(options_.files_kept).c_str());
  for (std::uint32_t number = options_.files_kept; number > 1; --number) {
    ::rename(name(number - 1).c_str(), name(number).c_str());
  }
  if (::rename(options_.path.c_str(), name(1).c_str()) != 0) {
    return Error::FromErrno("putting the audit log " + options_.path + " aside", errno);
  }
  bytes_ = 0;
  return OpenFile();
}

Status AuditLog::Record(const ExecutionRequest& request, const Outcome& outcome) {
  if (options_.bytes_max > 0 && bytes_ >= options_.bytes_max) TRY(Rotate());
  return Append(mcp::WriteJson(Describe(request, outcome, options_.with_code)));
}

namespace {

struct ReadLog {
  std::string path;
  std::vector<std::pair<int, std::optional<Link>>> lines;  // with their numbers
  std::uint64_t first_sequence = 0;
};

Result<ReadLog> ReadLogFile(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  if (!text) return Error::FromErrno("reading " + path, errno);
  ReadLog log{path, {}, 0};
  int number = 0;
  for (const std::string_view line : Split(*text, '\n')) {
    ++number;
    if (line.empty()) continue;
    std::optional<Link> link = ParseLine(line);
    if (link && log.first_sequence == 0) log.first_sequence = link->sequence;
    log.lines.emplace_back(number, std::move(link));
  }
  return log;
}

}  // namespace

Result<AuditVerdict> VerifyAuditLog(const std::vector<std::string>& paths) {
  std::vector<ReadLog> logs;
  for (const std::string& path : paths) logs.push_back(TRY(ReadLogFile(path)));
  std::sort(logs.begin(), logs.end(),
            [](const ReadLog& a, const ReadLog& b) { return a.first_sequence < b.first_sequence; });
  AuditVerdict verdict;
  std::string expected;  // empty before the first line
  for (const ReadLog& log : logs) {
    for (const auto& [number, link] : log.lines) {
      const std::string where = log.path + ", line " + std::to_string(number) + ": ";
      ++verdict.lines;
      if (!link) {
        verdict.problems.push_back(where + "not a line of an audit log, or cut off");
        continue;
      }
      if (!link->intact) verdict.problems.push_back(where + "changed after it was written");
      if (expected.empty()) {
        verdict.first_sequence = link->sequence;
        if (link->sequence == 1 && link->previous != kNoHash) {
          verdict.problems.push_back(where + "is no beginning of a log");
        }
      } else if (link->sequence != verdict.last_sequence + 1 || link->previous != expected) {
        verdict.problems.push_back(where + "does not follow the line before it: record " +
                                   std::to_string(verdict.last_sequence + 1) +
                                   " was removed, changed or moved");
      }
      verdict.last_sequence = link->sequence;
      expected = link->hash;
    }
  }
  verdict.last_hash = expected;
  return verdict;
}

}  // namespace glovebox
