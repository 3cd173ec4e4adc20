#include "python/zygote/language/rules.h"

#include <algorithm>
#include <iterator>

namespace glovebox::zygote {
namespace {

constexpr Rule kRules[] = {
    {RuleId::kImport, "import", Moment::kReached, "an import of a module the profile does not list",
     "a profile grants modules by name",
     "use a listed module, or the profile 'full', which has every installed one"},
    {RuleId::kModuleWalk, "module-walk", Moment::kReached,
     "a module reached through another: random._os",
     "what a module imports for itself is not what it was granted for",
     "import the module by its own name, if the profile lists it"},
    {RuleId::kPrivateMember, "private-member", Moment::kReached,
     "a private function of a library module, or one that makes code",
     "internals of allowed modules do more than the modules promise",
     "use the module's public functions"},
    {RuleId::kBuiltin, "builtin", Moment::kBoth, "a builtin that runs text as code or opens files",
     "text that becomes code cannot be checked beforehand, and files are granted by profile",
     "write the operation out; ast.literal_eval-like parsing is json.loads; files need the "
     "profile 'filesystem', the others the profile 'full'"},
    {RuleId::kInterpreterAttribute, "interpreter-attribute", Moment::kBoth,
     "__globals__, __code__, __builtins__ and their like",
     "they lead from any function to everything its module can do",
     "pass what is needed as an argument; the profile 'full' has no language layer"},
    {RuleId::kClassWalk, "class-walk", Moment::kBoth,
     "__subclasses__ of a class that is not the program's, or a chain from a literal to object",
     "it lists every class of the interpreter, those that open files and run programs included",
     "use type(x), isinstance(x, C), C.__name__ and the __subclasses__ of own classes"},
    {RuleId::kFrame, "frame", Moment::kBoth, "frames of generators, coroutines and tracebacks",
     "a frame shows the namespaces of code that is not the program's",
     "use the exception's own attributes, or the traceback's tb_lineno"},
    {RuleId::kPickle, "pickle", Moment::kBoth,
     "__reduce__ called by hand, and pickles of foreign "
     "modules",
     "a pickle is a program in another language", "use copy.copy, or json for data"},
    {RuleId::kFormat, "format", Moment::kBoth,
     "a format string that walks attributes of the "
     "interpreter",
     "str.format reads attributes by name, past every other rule",
     "use an f-string, or pass the value itself"},
    {RuleId::kDynamicAttribute, "dynamic-attribute", Moment::kBoth,
     "getattr, attrgetter or methodcaller with a name the other rules refuse",
     "a name put together at run time is the same name", "write the attribute out"},
    {RuleId::kStringEvaluator, "string-evaluator", Moment::kReached,
     "text handed to a library that evaluates it", "the text is held to the rules of the program",
     "keep such texts to plain expressions"},
    {RuleId::kNamespace, "namespace", Moment::kBoth, "the namespace of a module or builtin class",
     "a namespace hands out every member without a look at its name",
     "use the member's name, or vars() of own objects"},
    {RuleId::kSystemCall, "system-call", Moment::kReached,
     "an operation on the system whose module was never granted",
     "whoever comes this far came by a way that no rule foresaw",
     "use a profile that grants the module"},
    {RuleId::kFile, "file", Moment::kReached, "a file outside the box's own folders, by a library",
     "files are granted by profile",
     "pass text instead of a path, or use the profile 'filesystem'"},
};
static_assert(std::size(kRules) == static_cast<std::size_t>(RuleId::kCount));

constexpr AttributeRule Refuse(const char* name, RuleId rule) {
  return {name, rule, AttributeAction::kRefuse};
}
constexpr AttributeRule Guard(const char* name, RuleId rule) {
  return {name, rule, AttributeAction::kGuard};
}

constexpr AttributeRule kAttributes[] = {
    // Functions, methods, code.
    Refuse("__globals__", RuleId::kInterpreterAttribute),
    Refuse("__code__", RuleId::kInterpreterAttribute),
    Refuse("__closure__", RuleId::kInterpreterAttribute),
    Refuse("__builtins__", RuleId::kInterpreterAttribute),
    Refuse("__loader__", RuleId::kInterpreterAttribute),
    Refuse("__spec__", RuleId::kInterpreterAttribute),
    Refuse("__import__", RuleId::kInterpreterAttribute),
    Refuse("func_globals", RuleId::kInterpreterAttribute),
    Refuse("func_code", RuleId::kInterpreterAttribute),
    Refuse("cell_contents", RuleId::kInterpreterAttribute),
    Refuse("co_code", RuleId::kInterpreterAttribute),
    Refuse("co_consts", RuleId::kInterpreterAttribute),
    Refuse("_Printer__filenames", RuleId::kInterpreterAttribute),
    Guard("__self__", RuleId::kInterpreterAttribute),
    Guard("__getattribute__", RuleId::kDynamicAttribute),
    // Classes.
    Guard("__subclasses__", RuleId::kClassWalk),
    Guard("__dict__", RuleId::kNamespace),
    // Frames.
    Refuse("f_globals", RuleId::kFrame),
    Refuse("f_locals", RuleId::kFrame),
    Refuse("f_builtins", RuleId::kFrame),
    Refuse("f_back", RuleId::kFrame),
    Refuse("f_code", RuleId::kFrame),
    Refuse("gi_frame", RuleId::kFrame),
    Refuse("gi_code", RuleId::kFrame),
    Refuse("gi_yieldfrom", RuleId::kFrame),
    Refuse("cr_frame", RuleId::kFrame),
    Refuse("cr_code", RuleId::kFrame),
    Refuse("cr_await", RuleId::kFrame),
    Refuse("cr_origin", RuleId::kFrame),
    Refuse("ag_frame", RuleId::kFrame),
    Refuse("ag_code", RuleId::kFrame),
    Refuse("ag_await", RuleId::kFrame),
    Refuse("tb_frame", RuleId::kFrame),
    // Pickles: super().__reduce__() is how an own class takes part.
    Guard("__reduce__", RuleId::kPickle),
    Guard("__reduce_ex__", RuleId::kPickle),
    // Format strings that are not literals.
    Guard("format", RuleId::kFormat),
    Guard("format_map", RuleId::kFormat),
};

constexpr MemberRule kMembers[] = {
    {"types", "CodeType", RuleId::kPrivateMember},
    {"inspect", "currentframe", RuleId::kFrame},
    {"inspect", "stack", RuleId::kFrame},
    {"inspect", "getattr_static", RuleId::kDynamicAttribute},
    {"sys", "modules", RuleId::kNamespace},
    {"sys", "_getframe", RuleId::kFrame},
    {"sys", "_current_frames", RuleId::kFrame},
};

constexpr EffectRule kEffects[] = {
    {"os.", "os"},         {"shutil.", "shutil"},   {"ctypes.", "ctypes"},
    {"signal.", "signal"}, {"mmap.", "mmap"},       {"gc.", "gc"},
    {"sys._", "sys"},      {"sys.set", "sys"},      {"marshal.", "marshal"},
    {"code.", "code"},     {"fcntl.", "fcntl"},     {"resource.", "resource"},
    {"syslog.", "syslog"}, {"function.", "types"},  {"glob.", "glob"},
    {"pty.", "pty"},       {"sqlite3.", "sqlite3"}, {"tempfile.", "tempfile"},
};

}  // namespace

std::span<const Rule> Rules() { return kRules; }

const Rule& RuleOf(RuleId id) { return kRules[static_cast<std::size_t>(id)]; }

std::optional<RuleId> RuleByName(std::string_view name) {
  for (const Rule& rule : kRules) {
    if (name == rule.name) return rule.id;
  }
  return std::nullopt;
}

std::span<const AttributeRule> AttributeRules() { return kAttributes; }
std::span<const EffectRule> EffectRules() { return kEffects; }

const MemberRule* MemberRuleOf(std::string_view module, std::string_view member) {
  const auto* const found = std::find_if(
      std::begin(kMembers), std::end(kMembers),
      [&](const MemberRule& rule) { return module == rule.module && member == rule.member; });
  return found == std::end(kMembers) ? nullptr : found;
}

}  // namespace glovebox::zygote
