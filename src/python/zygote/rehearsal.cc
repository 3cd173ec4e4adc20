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
// About what a profile's policy has, so that room for it is found where a request will find it.
constexpr std::size_t kPolicyBytes = 2800;

Status Failed(const std::string& reason) {
  return Error(Errc::kInternal, "the rehearsal failed: " + reason);
}

Status RunOnce(PyObject* source, bool language_layer) {
  wire::RunRequest request;
  request.last = false;  // the end of a program is its own: exit handlers must not run here
  request.code.assign(PyBytes_AS_STRING(source),
                      static_cast<std::size_t>(PyBytes_GET_SIZE(source)));
  request.filename = kFilename;
  request.argv = {kFilename};
  request.language.enabled = language_layer;
  request.language.modules = {"numpy", "pandas"};
  request.language.remedies = {"rehearsal", std::string(kPolicyBytes, ' ')};
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

}  // namespace

Status Rehearse(RehearsalPlace place) {
  const PyRef source(
      PyObject_CallFunction(PreludeFunction("rehearsal"), "i", static_cast<int>(place)));
  if (!source || !PyBytes_Check(source.get())) return Failed(TakePythonError());
  // With the layer nearly everything happens that happens without it.
  TRY(RunOnce(source.get(), true));
  return place == RehearsalPlace::kNextBox ? RunOnce(source.get(), false) : Status();
}

}  // namespace glovebox::zygote
