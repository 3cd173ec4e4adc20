#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mcp/call.h"
#include "mcp/prompt_messages.h"
#include "mcp/router.h"

namespace glovebox::mcp {

// The prompts of a server, in the order clients see, and the completion of arguments.
class PromptRegistry {
 public:
  using Arguments = std::map<std::string, std::string>;
  using Handler = std::function<void(const Arguments& arguments, Responder<GetPromptResult>)>;
  using Completer = std::function<CompleteResult(const CompleteParams& params)>;

  // A name twice is a CHECK.
  void Add(PromptDefinition definition, Handler handler);
  // Completes an argument of a prompt or a variable of a template (`reference` is its name or URI).
  void AddCompleter(CompleteParams::Kind kind, std::string reference, Completer completer);

  bool empty() const { return prompts_.empty(); }
  bool completes() const { return !completers_.empty(); }

  // Answers prompts/list, prompts/get and, if anything completes, completion/complete. An unknown
  // prompt or a missing required argument is -32602; an unknown reference completes to nothing.
  void Register(Router& router, CacheHint cache, std::size_t page_items_max);

 private:
  struct Entry {
    PromptDefinition definition;
    Handler handler;
  };
  void Get(const GetPromptParams& params, Responder<GetPromptResult> responder) const;

  std::vector<Entry> prompts_;
  std::map<std::pair<CompleteParams::Kind, std::string>, Completer> completers_;
};

}  // namespace glovebox::mcp
