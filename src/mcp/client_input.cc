#include "mcp/client_input.h"

#include <array>
#include <limits>
#include <memory>
#include <utility>

#include <boost/json/array.hpp>

#include "mcp/result_reader.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

using Done = std::function<void(Result<json::object>)>;

// Answers once: the first time, or when the last copy of a handler's Reply is gone.
class Once {
 public:
  explicit Once(Done done) : done_(std::move(done)) {}
  ~Once() { Take(Error(Errc::kInternal, "the question was dropped without an answer")); }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  void Take(Result<json::object> answer) {
    if (const auto done = std::exchange(done_, nullptr)) done(std::move(answer));
  }

 private:
  Done done_;
};

json::object AnswerToJson(const ElicitationAnswer& answer) {
  constexpr std::array<std::string_view, 3> kActions = {"accept", "decline", "cancel"};
  json::object object = {{"action", kActions.at(static_cast<std::size_t>(answer.action))}};
  if (answer.action == ElicitationAnswer::Action::kAccept) object["content"] = answer.content;
  return object;
}

json::object AnswerToJson(const SamplingAnswer& answer) {
  return {{"role", answer.role == Role::kUser ? "user" : "assistant"},
          {"content", ToJson(answer.content, kModernVersion)},
          {"model", answer.model},
          {"stopReason", answer.stop_reason}};
}

json::object AnswerToJson(const std::vector<Root>& roots) {
  json::array list;
  for (const Root& root : roots) {
    json::object entry = {{"uri", root.uri}};
    AddText(entry, "name", root.name);
    list.push_back(std::move(entry));
  }
  return {{"roots", std::move(list)}};
}

template <typename Answer>
Reply<Answer> MakeReply(Done done) {
  return [once = std::make_shared<Once>(std::move(done))](Result<Answer> answer) {
    if (!answer.ok()) return once->Take(std::move(answer).error());
    once->Take(AnswerToJson(answer.value()));
  };
}

Error Unanswerable(std::string_view what) {
  return Error(Errc::kUnsupported,
               "the server asks for " + std::string(what) + ", which this client did not offer");
}

// One overload for each kind of question.
class Asker {
 public:
  Asker(const InputHandlers& handlers, Done done) : handlers_(handlers), done_(std::move(done)) {}

  void operator()(const FormElicitation& form) {
    if (!handlers_.form) return done_(Unanswerable("a form for the user"));
    handlers_.form(form, MakeReply<ElicitationAnswer>(std::move(done_)));
  }
  void operator()(const UrlElicitation& url) {
    if (!handlers_.url) return done_(Unanswerable("a page for the user to visit"));
    handlers_.url(url, MakeReply<ElicitationAnswer>(std::move(done_)));
  }
  void operator()(const SamplingRequest& request) {
    if (!handlers_.sampling) return done_(Unanswerable("a completion by a model"));
    handlers_.sampling(request, MakeReply<SamplingAnswer>(std::move(done_)));
  }
  void operator()(const RootsRequest&) {
    if (!handlers_.roots) return done_(Unanswerable("the client's folders"));
    handlers_.roots(MakeReply<std::vector<Root>>(std::move(done_)));
  }

 private:
  const InputHandlers& handlers_;
  Done done_;
};

Result<InputRequest> ReadElicitation(const ResultReader& reader) {
  const std::string mode = TRY(reader.OptionalText("mode")).value_or("form");
  std::string message = TRY(reader.RequiredText("message"));
  if (mode == "url") {
    return InputRequest(UrlElicitation{std::move(message), TRY(reader.RequiredText("url")),
                                       TRY(reader.Text("elicitationId"))});
  }
  if (mode != "form") return reader.Wrong("mode", "form or url");
  TRY(reader.RequiredInner("requestedSchema"));
  return InputRequest(FormElicitation{std::move(message), TRY(reader.Object("requestedSchema"))});
}

Result<InputRequest> ReadSampling(const ResultReader& reader) {
  SamplingRequest request;
  const json::value* messages = reader.Find("messages");
  if (messages == nullptr || !messages->is_array()) return reader.Wrong("messages", "an array");
  request.messages = messages->get_array();
  request.system_prompt = TRY(reader.Text("systemPrompt"));
  const auto tokens = TRY(reader.Count("maxTokens"));
  constexpr auto kTokensMax = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (!tokens || *tokens > kTokensMax) return reader.Wrong("maxTokens", "a number of tokens");
  request.max_tokens = static_cast<int>(*tokens);
  return InputRequest(std::move(request));
}

}  // namespace

ClientCapabilities CapabilitiesOf(const InputHandlers& handlers) {
  ClientCapabilities capabilities;
  capabilities.elicitation_form = handlers.form != nullptr;
  capabilities.elicitation_url = handlers.url != nullptr;
  capabilities.sampling = handlers.sampling != nullptr;
  capabilities.roots = handlers.roots != nullptr;
  return capabilities;
}

json::object ToJson(const ClientCapabilities& capabilities, ProtocolVersion version) {
  json::object object;
  if (capabilities.sampling) object["sampling"] = json::object();
  if (capabilities.roots) object["roots"] = json::object();
  // Before 2025-11-25 there are forms only, and no word for it.
  const bool has_modes = version >= ProtocolVersion::k2025_11_25;
  const bool elicits = capabilities.elicitation_form || (has_modes && capabilities.elicitation_url);
  if (elicits && version >= ProtocolVersion::k2025_06_18) {
    json::object modes;
    if (has_modes && capabilities.elicitation_form) modes["form"] = json::object();
    if (has_modes && capabilities.elicitation_url) modes["url"] = json::object();
    object["elicitation"] = std::move(modes);
  }
  if (capabilities.tasks && IsModern(version)) {
    object["extensions"] = {{kTasksExtension, json::object()}};
  }
  return object;
}

bool IsInputMethod(std::string_view method) {
  return method == "elicitation/create" || method == "sampling/createMessage" ||
         method == "roots/list";
}

Result<InputRequest> InputRequestFromJson(std::string_view method, const json::object& params) {
  const ResultReader reader(params, "params");
  if (method == "elicitation/create") return ReadElicitation(reader);
  if (method == "sampling/createMessage") return ReadSampling(reader);
  if (method == "roots/list") return InputRequest(RootsRequest{});
  return Error(Errc::kUnsupported, "no client can be asked for that");
}

void AnswerInput(const InputHandlers& handlers, const InputRequest& request, Done done) {
  std::visit(Asker(handlers, std::move(done)), request);
}

}  // namespace glovebox::mcp
