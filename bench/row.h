#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::bench {

// A piece of Python that every row runs, and what it prints.
struct Workload {
  const char* name;
  const char* code;
  const char* output;
  const char* profile;  // of `glovebox serve`, which has its modules imported
};

inline constexpr Workload kPrint = {"print", "print(2+2)", "4\n", "basic"};
inline constexpr Workload kFrame = {
    "frame", "import numpy, pandas; print(pandas.DataFrame({'a':[1,2,3]}).a.sum())", "6\n",
    "data_science"};

// One way to run a workload, timed in turn with all the others.
struct Row {
  std::string name;
  const Workload* workload = &kPrint;
  std::string state;  // what a call finds: a fresh process, a fresh box, what earlier calls left
  std::string walls;  // what stands around it
  int every = 1;      // timed in one of so many rounds; slow rows need no more
  int calls = 3;      // of one turn, one after the other
  std::function<Status()> once;      // one execution; fails unless the workload's output came back
  std::function<void()> after = {};  // what a running service does between turns; not timed
  std::vector<double> milliseconds = {};         // of every call
  std::vector<double> rested_milliseconds = {};  // of the first in each turn, after a pause
};

// A row that this machine cannot run, and why.
struct AbsentRow {
  std::string name;
  std::string workload;
  std::string reason;
};

class Rows {
 public:
  // Ours, and the baseline: failing is an error of the run.
  void Add(Row row) { rows_.push_back(std::move(row)); }
  // Somebody else's: done once; if that fails, listed as absent with the reason.
  void AddPeer(Row row);

  // Does every row in turn, `rounds` times, and says on stderr how far it is.
  Status Measure(int rounds);

  const std::vector<Row>& measured() const { return rows_; }
  const std::vector<AbsentRow>& absent() const { return absent_; }

 private:
  std::vector<Row> rows_;
  std::vector<AbsentRow> absent_;
};

}  // namespace glovebox::bench
