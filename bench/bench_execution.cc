// What running a piece of Python costs, every way this machine offers it, in turns.
//
//   bench_execution GLOVEBOX PYTHON_SERVER RESULTS.json ROUNDS

#include <stdlib.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/result.h"
#include "box_memory.h"
#include "percentile.h"
#include "rows.h"
#include "throughput.h"

namespace glovebox::bench {
namespace {

namespace json = boost::json;

constexpr int kRoundsPerSlice = 20;  // of throughput
constexpr int kSlicesMin = 10;       // a neighbour that wakes up in one or two moves no median

// A folder that goes with this object.
class ScratchFolder {
 public:
  static Result<ScratchFolder> Make() {
    std::string path = "/tmp/glovebox-bench-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return Error::FromErrno("mkdtemp", errno);
    return ScratchFolder(std::move(path));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

json::array RowsJson(const Rows& rows) {
  json::array document;
  for (const Row& row : rows.measured()) {
    document.push_back({{"name", row.name},
                        {"workload", row.workload->name},
                        {"state", row.state},
                        {"walls", row.walls},
                        {"calls", row.milliseconds.size()},
                        {"turns", row.rested_milliseconds.size()},
                        {"p50_ms", Percentile(row.milliseconds, 0.5)},
                        {"p99_ms", Percentile(row.milliseconds, 0.99)},
                        {"rested_p50_ms", Percentile(row.rested_milliseconds, 0.5)}});
  }
  return document;
}

json::array AbsentJson(const Rows& rows) {
  json::array document;
  for (const AbsentRow& row : rows.absent()) {
    document.push_back({{"name", row.name}, {"workload", row.workload}, {"reason", row.reason}});
  }
  return document;
}

json::array ThroughputJson(const std::vector<ThroughputRow>& rows) {
  json::array document;
  for (const ThroughputRow& row : rows) {
    document.push_back(
        {{"name", row.name},
         {"workload", row.workload->name},
         {"per_second", Percentile(row.per_second, 0.5)},
         {"lowest", *std::min_element(row.per_second.begin(), row.per_second.end())},
         {"highest", *std::max_element(row.per_second.begin(), row.per_second.end())}});
  }
  return document;
}

json::object MemoryJson(const BoxMemory& memory) {
  return {{"workload", memory.workload->name},
          {"boxes", memory.boxes},
          {"private_dirty_bytes", memory.private_dirty_bytes},
          {"zygote_bytes", memory.zygote_bytes}};
}

Result<json::object> Measure(const std::string& glovebox, const std::string& python_server,
                             int rounds) {
  const ScratchFolder folder = TRY(ScratchFolder::Make());
  const Places places{glovebox, python_server, folder.path()};
  json::array memory;
  for (const Workload* workload : {&kPrint, &kFrame}) {
    std::fprintf(stderr, "\rmemory of waiting boxes ");
    memory.push_back(MemoryJson(TRY(MeasureBoxMemory(glovebox + "-python", *workload))));
  }
  std::fprintf(stderr, "\r\033[Kstarting everybody ");
  const WarmServices services = TRY(WarmServices::Start(places));
  Rows rows;
  AddProgramRows(rows, places);
  AddContainerRows(rows, places);
  AddWarmRows(rows, services);
  TRY(rows.Measure(rounds));
  const std::vector<ThroughputRow> throughput =
      TRY(MeasureThroughput(services, std::max(rounds / kRoundsPerSlice, kSlicesMin)));
  return json::object{{"rows", RowsJson(rows)},
                      {"absent", AbsentJson(rows)},
                      {"throughput", ThroughputJson(throughput)},
                      {"box_memory", std::move(memory)}};
}

int Main(const std::string& glovebox, const std::string& python_server, const std::string& results,
         int rounds) {
  const Result<json::object> document = Measure(glovebox, python_server, rounds);
  if (!document) {
    std::fprintf(stderr, "\nbench_execution: %s\n", document.error().message().c_str());
    return 1;
  }
  std::ofstream file(results);
  file << json::serialize(*document) << "\n";
  return file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace glovebox::bench

int main(int argc, char** argv) {
  const int rounds = argc == 5 ? std::atoi(argv[4]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: bench_execution GLOVEBOX PYTHON_SERVER RESULTS.json ROUNDS\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return glovebox::bench::Main(argv[1], argv[2], argv[3], rounds);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "\nbench_execution: %s\n", exception.what());
    return 1;
  }
}
