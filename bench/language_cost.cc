// What the language layer adds to parsing a program: ast.parse alone, and parse with the layer's
// check, in turns on the same text.
//
//   language_cost PROGRAM.py RESULTS.json ROUNDS

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "percentile.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/language/layer.h"

namespace glovebox::bench {
namespace {

using zygote::PyRef;
using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Error PythonFailed(const std::string& act) {
  return Error(Errc::kInternal, act + ": " + zygote::TakePythonError());
}

// The policy of the profile `basic`, as far as this program needs it.
wire::RunRequest RequestFor(const std::string& code) {
  wire::RunRequest request;
  request.code = code;
  request.language.enabled = true;
  request.language.profile = "basic";
  request.language.modules = {"math", "json", "re", "statistics", "collections", "dataclasses"};
  return request;
}

Status Measure(const std::string& code, const std::string& results, int rounds) {
  wire::ZygoteSetup setup;
  setup.stdlib = GLOVEBOX_PYTHON_STDLIB;
  setup.preimports = {"ast"};
  TRY(zygote::StartInterpreter(setup));
  const PyRef ast(PyImport_ImportModule("ast"));
  const PyRef parse(ast ? PyObject_GetAttrString(ast.get(), "parse") : nullptr);
  if (!parse) return PythonFailed("finding ast.parse");
  const wire::RunRequest request = RequestFor(code);
  const PyRef layer = zygote::StartLanguageLayer(request);
  if (!layer) return PythonFailed("starting the language layer");
  PyObject* check = PyTuple_GetItem(layer.get(), 0);

  std::vector<double> alone;
  std::vector<double> checked;
  for (int round = 0; round < rounds; ++round) {
    for (const bool with_layer : {false, true}) {
      const PyRef names(PyDict_New());
      const Clock::time_point start = Clock::now();
      {
        const PyRef tree(PyObject_CallFunction(parse.get(), "s", code.c_str()));
        if (!tree) return PythonFailed("parsing");
        const PyRef known(
            with_layer ? PyObject_CallFunctionObjArgs(check, tree.get(), names.get(), nullptr)
                       : PyLong_FromLong(0));
        if (!known) return PythonFailed("the layer");
      }
      (with_layer ? checked : alone).push_back(MicrosecondsSince(start));
    }
  }
  std::ofstream file(results);
  file << "{\"language\": {\"parse_us\": " << Percentile(alone, 0.5)
       << ", \"parse_and_check_us\": " << Percentile(checked, 0.5)
       << ", \"characters\": " << code.size() << "}}\n";
  if (!file.flush()) return Error(Errc::kSystem, "cannot write " + results);
  return {};
}

}  // namespace
}  // namespace glovebox::bench

int main(int argc, char** argv) {
  const int rounds = argc == 4 ? std::atoi(argv[3]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: language_cost PROGRAM.py RESULTS.json ROUNDS\n");
    return 2;
  }
  const std::optional<std::string> code = glovebox::ReadFile(argv[1]);
  if (!code) {
    std::fprintf(stderr, "language_cost: cannot read %s\n", argv[1]);
    return 1;
  }
  const glovebox::Status done = glovebox::bench::Measure(*code, argv[2], rounds);
  if (done) return 0;
  std::fprintf(stderr, "language_cost: %s\n", done.error().message().c_str());
  return 1;
}
