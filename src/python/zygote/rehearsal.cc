#include "python/zygote/rehearsal.h"

#include <optional>
#include <string>

#include "python/wire/gate.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/run_cell.h"
#include "python/zygote/value_convert.h"
#include "sandbox/plan/walls.h"

namespace glovebox::zygote {
namespace {

constexpr char kFilename[] = "<rehearsal>";

Status Failed(const std::string& reason) {
  return Error(Errc::kInternal, "the rehearsal failed: " + reason);
}

}  // namespace

Status Rehearse(RehearsalPlace place) {
  PyObject* in_box = place == RehearsalPlace::kBox ? Py_True : Py_False;
  const PyRef source(PyObject_CallOneArg(PreludeFunction("rehearsal"), in_box));
  if (!source || !PyBytes_Check(source.get())) return Failed(TakePythonError());
  wire::RunRequest request;
  request.last = false;  // the end of a program is its own: exit handlers must not run here
  request.code.assign(PyBytes_AS_STRING(source.get()),
                      static_cast<std::size_t>(PyBytes_GET_SIZE(source.get())));
  request.filename = kFilename;
  request.argv = {kFilename};
  // A superset of what a program without the layer does.
  request.language.enabled = true;
  request.language.modules = {"numpy", "pandas"};
  const std::optional<wire::RunRequest> received =
      wire::DecodeRunRequest(wire::EncodeRunRequest(request));
  if (!received) return Failed("a request does not survive its own encoding");
  const wire::RunResult result = RunCell(*received, sandbox::Walls::All());
  const std::string frame = wire::Frame(wire::FrameKind::kResult, wire::EncodeRunResult(result));
  const PyRef forgotten(PyObject_CallFunction(PreludeFunction("forget_rehearsal"), "s", kFilename));
  if (!forgotten) return Failed(TakePythonError());
  if (result.ending != wire::Ending::kReturned || frame.empty()) {
    return Failed(result.error.type + ": " + result.error.message);
  }
  return {};
}

}  // namespace glovebox::zygote
