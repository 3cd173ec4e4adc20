#include "mcp/prompt_registry.h"

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "mcp/list_method.h"

namespace glovebox::mcp {

void PromptRegistry::Add(PromptDefinition definition, Handler handler) {
  for (const Entry& entry : prompts_) CHECK(entry.definition.name != definition.name);
  prompts_.push_back({std::move(definition), std::move(handler)});
}

void PromptRegistry::AddCompleter(CompleteParams::Kind kind, std::string reference,
                                  Completer completer) {
  const bool added =
      completers_.emplace(std::pair(kind, std::move(reference)), std::move(completer)).second;
  CHECK(added);
}

void PromptRegistry::Get(const GetPromptParams& params,
                         Responder<GetPromptResult> responder) const {
  const auto found = std::find_if(prompts_.begin(), prompts_.end(), [&](const Entry& entry) {
    return entry.definition.name == params.name;
  });
  if (found == prompts_.end()) {
    return responder.Fail(Error(Errc::kInvalidArgument, "Unknown prompt: " + params.name));
  }
  for (const PromptArgument& argument : found->definition.arguments) {
    if (argument.required && !params.arguments.contains(argument.name)) {
      return responder.Fail(WrongField("arguments." + argument.name, "given"));
    }
  }
  found->handler(params.arguments, std::move(responder));
}

void PromptRegistry::Register(Router& router, CacheHint cache, std::size_t page_items_max) {
  HandleList<PromptDefinition>(
      router, "prompts/list", prompts_, {cache, page_items_max},
      [](const Entry& entry) -> const PromptDefinition& { return entry.definition; });
  router.Handle<GetPromptParams, GetPromptResult>(
      "prompts/get", [this](const GetPromptParams& params, Responder<GetPromptResult> responder) {
        Get(params, std::move(responder));
      });
  if (!completes()) return;
  router.Handle<CompleteParams, CompleteResult>(
      "completion/complete",
      [this](const CompleteParams& params, const Responder<CompleteResult>& responder) {
        const auto found = completers_.find(std::pair(params.kind, params.reference));
        if (found == completers_.end()) return responder.Reply({});
        responder.Reply(found->second(params));
      });
}

}  // namespace glovebox::mcp
