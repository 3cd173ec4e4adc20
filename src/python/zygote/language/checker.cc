#include "python/zygote/language/checker.h"

#include <algorithm>
#include <string_view>

#include "python/zygote/language/format_text.h"
#include "python/zygote/language/name_tables.h"
#include "python/zygote/language/syntax_tree.h"

namespace glovebox::zygote {
namespace {

std::string Text(PyObject* text) {
  if (text == nullptr || !PyUnicode_Check(text)) return {};
  const char* utf8 = PyUnicode_AsUTF8(text);
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 != nullptr ? utf8 : "";
}

long Number(PyObject* number) {
  return number != nullptr && PyLong_Check(number) ? PyLong_AsLong(number) : 0;
}

// A name that a program loads, until it is known whether the program binds it too.
struct Load {
  PyObject* name;  // borrowed from the tree
  PyObject* node;
};

class Checker {
 public:
  Checker(const ActivePolicy& policy, TreeUse use) : policy_(policy), use_(use) {}

  Checked Check(PyObject* tree) {
    if (!Walk(tree)) checked_.complete = false;
    JudgeLoads();
    std::stable_sort(checked_.findings.begin(), checked_.findings.end(),
                     [](const wire::Finding& a, const wire::Finding& b) {
                       return std::pair(a.line, a.column) < std::pair(b.line, b.column);
                     });
    return std::move(checked_);
  }

 private:
  // --- walking --------------------------------------------------------------------------------

  // The children of `node`. False with an exception set when memory is short.
  bool Walk(PyObject* node) {
    const PyRef dict(PyObject_GenericGetDict(node, nullptr));
    if (!dict) return false;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(dict.get(), &position, &key, &value) != 0) {
      if (PyList_CheckExact(value)) {
        if (!WalkList(value)) return false;
        continue;
      }
      const NodeKind kind = tree_.KindOf(value);
      if (kind == NodeKind::kNone || kind == NodeKind::kLeaf) continue;
      PyRef replacement;
      if (!Visit(value, kind, replacement)) return false;
      // The key is there already: changing its value leaves the iteration whole.
      if (replacement && PyDict_SetItem(dict.get(), key, replacement.get()) != 0) return false;
    }
    return true;
  }

  bool WalkList(PyObject* list) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      PyObject* item = PyList_GET_ITEM(list, i);
      const NodeKind kind = tree_.KindOf(item);
      if (kind == NodeKind::kNone || kind == NodeKind::kLeaf) continue;
      PyRef replacement;
      if (!Visit(item, kind, replacement)) return false;
      if (replacement && PyList_SetItem(list, i, replacement.release()) != 0) return false;
    }
    return true;
  }

  bool Visit(PyObject* node, NodeKind kind, PyRef& replacement) {
    switch (kind) {
      case NodeKind::kConstant: return true;
      case NodeKind::kName: VisitName(node); return true;
      case NodeKind::kAttribute: return VisitAttribute(node, replacement);
      case NodeKind::kCall: VisitCall(node); break;
      case NodeKind::kSubscript: VisitSubscript(node); break;
      case NodeKind::kImport: VisitImport(node); return true;
      case NodeKind::kImportFrom: VisitImportFrom(node); return true;
      case NodeKind::kMatchClass: VisitMatchClass(node); break;
      case NodeKind::kGlobal: VisitGlobal(node); return true;
      case NodeKind::kFunctionDef:
        ++checked_.functions;
        Bind(tree_.Field(node, names_.name));
        break;
      case NodeKind::kClassDef:
        ++checked_.classes;
        Bind(tree_.Field(node, names_.name));
        break;
      case NodeKind::kArg: Bind(tree_.Field(node, arg_)); break;
      case NodeKind::kExceptHandler:
        ++checked_.complexity;
        Bind(tree_.Field(node, names_.name));
        break;
      case NodeKind::kMatchName: Bind(tree_.Field(node, names_.name)); break;
      case NodeKind::kDecision:
      case NodeKind::kComprehension: ++checked_.complexity; break;
      case NodeKind::kBoolOp:
        if (PyObject* values = tree_.Field(node, names_.values)) {
          checked_.complexity += static_cast<std::uint32_t>(PyList_GET_SIZE(values)) - 1;
        }
        break;
      case NodeKind::kAlias:
      case NodeKind::kNone:
      case NodeKind::kLeaf:
      case NodeKind::kOther: break;
    }
    return Walk(node);
  }

  // --- findings -------------------------------------------------------------------------------

  void Add(PyObject* node, wire::Finding finding) {
    if (checked_.findings.size() >= wire::kFindingsMax) return;
    finding.line = static_cast<std::int32_t>(Number(tree_.Field(node, names_.lineno)));
    finding.column = static_cast<std::int32_t>(Number(tree_.Field(node, names_.col_offset))) + 1;
    checked_.refused = checked_.refused || finding.refuses_program;
    checked_.findings.push_back(std::move(finding));
  }

  void Refuse(PyObject* node, RuleId rule, std::string what) {
    if (policy_.applies(rule)) Add(node, policy_.Find(rule, std::move(what)));
  }

  // --- names ----------------------------------------------------------------------------------

  void Bind(PyObject* name) {
    if (name == nullptr || !PyUnicode_Check(name)) return;
    if (tables_.IsRefusedBuiltin(name) || tables_.IsModule(name)) bound_.push_back(name);
  }

  void VisitName(PyObject* node) {
    PyObject* name = tree_.Field(node, names_.id);
    if (name == nullptr) return;
    if (tables_.IsRefusedBuiltin(name) || tables_.IsModule(name)) {
      if (tree_.IsLoad(node)) {
        loads_.push_back({name, node});
      } else {
        bound_.push_back(name);
      }
      return;
    }
    const AttributeRule* rule = tables_.Attribute(name);
    if (rule == nullptr || rule->rule != RuleId::kInterpreterAttribute) return;
    // `__import__` is guarded in a program's own builtins, and `__loader__` is not in them.
    const bool import = PyUnicode_CompareWithASCIIString(name, "__import__") == 0;
    const bool builtins = PyUnicode_CompareWithASCIIString(name, "__builtins__") == 0;
    if (builtins || (import && use_ == TreeUse::kOnlyChecked)) {
      Refuse(node, rule->rule, "Name '" + Text(name) + "' is not allowed");
    }
  }

  bool IsBound(PyObject* name) const {
    return std::find(bound_.begin(), bound_.end(), name) != bound_.end();
  }

  // Names are interned: the same name is the same object.
  void JudgeLoads() {
    for (const Load& load : loads_) {
      if (IsBound(load.name)) continue;
      const std::string name = Text(load.name);
      if (tables_.IsRefusedBuiltin(load.name)) {
        if (!policy_.Grants(name)) {
          Refuse(load.node, RuleId::kBuiltin, "Builtin '" + name + "' is not allowed");
        }
      } else if (policy_.Allows(name) &&
                 std::find(checked_.mentioned_modules.begin(), checked_.mentioned_modules.end(),
                           name) == checked_.mentioned_modules.end()) {
        checked_.mentioned_modules.push_back(name);
      }
    }
  }

  void VisitGlobal(PyObject* node) {
    PyObject* names = tree_.Field(node, names_.names);
    for (Py_ssize_t i = 0; names != nullptr && i < PyList_GET_SIZE(names); ++i) {
      PyObject* name = PyList_GET_ITEM(names, i);
      if (PyUnicode_CompareWithASCIIString(name, "__builtins__") == 0) {
        Refuse(node, RuleId::kInterpreterAttribute, "Name '__builtins__' is not allowed");
      }
    }
  }

  // --- imports --------------------------------------------------------------------------------

  void JudgeImport(PyObject* node, const std::string& module) {
    if (!policy_.applies(RuleId::kImport)) return;
    Add(node, policy_.Find(RuleId::kImport, "Import '" + module + "' is not allowed", module));
  }

  void NoteImport(const std::string& module) {
    if (checked_.imports.size() >= wire::kAnalysisNamesMax || module.empty()) return;
    if (std::find(checked_.imports.begin(), checked_.imports.end(), module) ==
        checked_.imports.end()) {
      checked_.imports.push_back(module);
    }
  }

  void BindAlias(PyObject* alias, PyObject* imported) {
    PyObject* as = tree_.Field(alias, names_.asname);
    if (as != nullptr && as != Py_None) return Bind(as);
    // `import a.b` binds a.
    const std::string name = Text(imported);
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) return Bind(imported);
    PyObject* top = PyUnicode_InternFromString(name.substr(0, dot).c_str());
    if (top == nullptr) return PyErr_Clear();
    Bind(top);
    tops_.emplace_back(top);
  }

  void VisitImport(PyObject* node) {
    PyObject* aliases = tree_.Field(node, names_.names);
    for (Py_ssize_t i = 0; aliases != nullptr && i < PyList_GET_SIZE(aliases); ++i) {
      PyObject* alias = PyList_GET_ITEM(aliases, i);
      PyObject* name = tree_.Field(alias, names_.name);
      BindAlias(alias, name);
      const std::string module = Text(name);
      NoteImport(module);
      if (!policy_.Allows(module)) JudgeImport(alias, module);
    }
  }

  void VisitImportFrom(PyObject* node) {
    const std::string module = Text(tree_.Field(node, names_.module));
    const bool relative = Number(tree_.Field(node, names_.level)) > 0;
    NoteImport(module);
    const bool allowed = relative || policy_.Allows(module);
    PyObject* aliases = tree_.Field(node, names_.names);
    for (Py_ssize_t i = 0; aliases != nullptr && i < PyList_GET_SIZE(aliases); ++i) {
      PyObject* alias = PyList_GET_ITEM(aliases, i);
      PyObject* name = tree_.Field(alias, names_.name);
      BindAlias(alias, name);
      const AttributeRule* rule = tables_.Attribute(name);
      if (rule != nullptr && rule->action == AttributeAction::kRefuse) {
        Refuse(alias, rule->rule, "Name '" + Text(name) + "' cannot be imported");
      }
      JudgeMember(alias, module, Text(name));
      if (!allowed && !policy_.Allows(module + "." + Text(name))) {
        JudgeImport(node, module);
        return;  // once per statement
      }
    }
  }

  void JudgeMember(PyObject* node, const std::string& module, const std::string& member) {
    if (const MemberRule* rule = MemberRuleOf(module, member)) {
      Refuse(node, rule->rule, "'" + module + "." + member + "' is not allowed");
    }
  }

  // --- attributes -----------------------------------------------------------------------------

  bool VisitAttribute(PyObject* node, PyRef& replacement) {
    PyObject* name = tree_.Field(node, names_.attr);
    const AttributeRule* rule = tables_.Attribute(name);
    PyObject* receiver = tree_.Field(node, names_.value);
    if (rule != nullptr && policy_.applies(rule->rule)) {
      if (rule->action == AttributeAction::kRefuse) {
        Refuse(node, rule->rule, "Attribute '" + Text(name) + "' is not allowed");
      } else if (!JudgeGuarded(node, receiver, *rule, replacement)) {
        return false;
      }
    } else if (receiver != nullptr && IsClassWalk(name)) {
      JudgeWalk(node, receiver, name);
    } else if (receiver != nullptr && tree_.KindOf(receiver) == NodeKind::kName) {
      JudgeMember(node, Text(tree_.Field(receiver, names_.id)), Text(name));
    }
    // The receiver, which a replacement has taken over.
    return Walk(replacement ? replacement.get() : node);
  }

  // Depends on the object: decided now where the text decides it, else when it is reached.
  bool JudgeGuarded(PyObject* node, PyObject* receiver, const AttributeRule& rule,
                    PyRef& replacement) {
    if (!tree_.IsLoad(node) || receiver == nullptr) return true;
    const bool literal = IsLiteral(receiver);
    if (rule.rule == RuleId::kFormat && literal) {
      PyObject* text = tree_.Field(receiver, names_.value);
      const AttributeRule* broken =
          text != nullptr && PyUnicode_Check(text) ? RefusedField(text) : nullptr;
      if (broken != nullptr) {
        Refuse(node, RuleId::kFormat,
               std::string("Format string reads '") + broken->name + "', which is not allowed");
      }
      return true;
    }
    if (rule.rule == RuleId::kClassWalk && !CanBeOwnClass(receiver)) {
      Refuse(node, rule.rule, std::string("Attribute '") + rule.name + "' is not allowed here");
      return true;
    }
    if (rule.rule == RuleId::kPickle) {
      if (!IsSuperCall(receiver)) {
        Refuse(node, rule.rule, std::string("Attribute '") + rule.name + "' is not allowed here");
      }
      return true;
    }
    if (use_ == TreeUse::kOnlyChecked) {
      if (rule.rule != RuleId::kFormat) {
        Refuse(node, rule.rule, std::string("Attribute '") + rule.name + "' is not allowed here");
      }
      return true;
    }
    checked_.rewritten = true;
    replacement = tree_.CallInsteadOf(node, tables_.guard_name());
    return static_cast<bool>(replacement);
  }

  bool IsLiteral(PyObject* node) const {
    switch (tree_.KindOf(node)) {
      case NodeKind::kConstant: return true;
      case NodeKind::kOther: {
        const std::string_view type = Py_TYPE(node)->tp_name;
        return type.ends_with("Tuple") || type.ends_with("List") || type.ends_with("Dict") ||
               type.ends_with("Set") || type.ends_with("JoinedStr") || type.ends_with("Lambda");
      }
      default: return false;
    }
  }

  bool IsClassWalk(PyObject* name) const {
    for (const char* step : {"__base__", "__bases__", "__mro__", "mro"}) {
      if (PyUnicode_CompareWithASCIIString(name, step) == 0) return true;
    }
    return false;
  }

  // ().__class__.__base__ and its like: no program needs the ancestors of a literal.
  void JudgeWalk(PyObject* node, PyObject* receiver, PyObject* name) {
    PyObject* inner = receiver;
    while (inner != nullptr && tree_.KindOf(inner) == NodeKind::kAttribute) {
      inner = tree_.Field(inner, names_.value);
    }
    if (inner == nullptr || inner == receiver || !IsLiteral(inner)) return;
    Refuse(node, RuleId::kClassWalk,
           "Attribute '" + Text(name) + "' of a literal's class is not allowed");
  }

  // C.__subclasses__(), cls.__subclasses__(), type(self).__subclasses__(), but nothing that is
  // known to be a class of the interpreter.
  bool CanBeOwnClass(PyObject* receiver) const {
    const NodeKind kind = tree_.KindOf(receiver);
    if (kind == NodeKind::kName) {
      PyObject* name = tree_.Field(receiver, names_.id);
      PyObject* builtin = PyDict_GetItem(PyEval_GetBuiltins(), name);
      return builtin == nullptr || !PyType_Check(builtin);
    }
    if (kind == NodeKind::kCall) return true;
    if (kind != NodeKind::kAttribute) return false;
    PyObject* owner = tree_.Field(receiver, names_.value);
    return owner != nullptr && tree_.KindOf(owner) == NodeKind::kName;
  }

  bool IsSuperCall(PyObject* node) const {
    if (tree_.KindOf(node) != NodeKind::kCall) return false;
    PyObject* callee = tree_.Field(node, names_.func);
    return callee != nullptr && tree_.KindOf(callee) == NodeKind::kName &&
           PyUnicode_CompareWithASCIIString(tree_.Field(callee, names_.id), "super") == 0;
  }

  // --- calls, keys, patterns --------------------------------------------------------------------

  // Names given as text: getattr(x, "__globals__"), attrgetter("a.__globals__").
  void VisitCall(PyObject* node) {
    PyObject* callee = tree_.Field(node, names_.func);
    PyObject* name = nullptr;
    if (callee != nullptr && tree_.KindOf(callee) == NodeKind::kName) {
      name = tree_.Field(callee, names_.id);
    } else if (callee != nullptr && tree_.KindOf(callee) == NodeKind::kAttribute) {
      name = tree_.Field(callee, names_.attr);
    }
    if (name == nullptr || !tables_.IsLookup(name)) return;
    PyObject* arguments = tree_.Field(node, names_.args);
    for (Py_ssize_t i = 0; arguments != nullptr && i < PyList_GET_SIZE(arguments); ++i) {
      PyObject* argument = PyList_GET_ITEM(arguments, i);
      if (tree_.KindOf(argument) != NodeKind::kConstant) continue;
      PyObject* text = tree_.Field(argument, names_.value);
      if (text == nullptr || !PyUnicode_Check(text)) continue;
      const AttributeRule* rule = RefusedPath(text);
      if (rule == nullptr || rule->action != AttributeAction::kRefuse) continue;
      Refuse(node, RuleId::kDynamicAttribute,
             "Attribute '" + std::string(rule->name) + "' by " + Text(name) + " is not allowed");
    }
  }

  void VisitSubscript(PyObject* node) {
    PyObject* key = tree_.Field(node, names_.slice);
    if (key == nullptr || tree_.KindOf(key) != NodeKind::kConstant) return;
    PyObject* text = tree_.Field(key, names_.value);
    if (text == nullptr || !PyUnicode_Check(text) || !tables_.IsNamespaceKey(text)) return;
    Refuse(node, RuleId::kNamespace, "Key '" + Text(text) + "' is not allowed");
  }

  void VisitMatchClass(PyObject* node) {
    PyObject* names = tree_.Field(node, names_.kwd_attrs);
    for (Py_ssize_t i = 0; names != nullptr && i < PyList_GET_SIZE(names); ++i) {
      PyObject* name = PyList_GET_ITEM(names, i);
      const AttributeRule* rule = tables_.Attribute(name);
      if (rule == nullptr || rule->rule == RuleId::kFormat) continue;
      Refuse(node, rule->rule, "Attribute '" + Text(name) + "' in a pattern is not allowed");
    }
  }

  const SyntaxTree& tree_ = SyntaxTree::Get();
  const FieldNames& names_ = SyntaxTree::Get().fields();
  const NameTables& tables_ = NameTables::Get();
  const ActivePolicy& policy_;
  const TreeUse use_;
  PyObject* arg_ = SyntaxTree::Get().fields().arg;
  Checked checked_;
  std::vector<PyObject*> bound_;  // borrowed from the tree, or kept by tops_
  std::vector<PyRef> tops_;
  std::vector<Load> loads_;
};

void AddTarget(const SyntaxTree& tree, PyObject* target, std::vector<std::string>& names) {
  if (target == nullptr || names.size() >= wire::kAnalysisNamesMax) return;
  if (tree.KindOf(target) == NodeKind::kName) {
    std::string name = Text(tree.Field(target, tree.fields().id));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
    return;
  }
  PyObject* elements = tree.Field(target, tree.fields().elts);
  for (Py_ssize_t i = 0; elements != nullptr && i < PyList_GET_SIZE(elements); ++i) {
    AddTarget(tree, PyList_GET_ITEM(elements, i), names);
  }
}

}  // namespace

Checked CheckTree(PyObject* tree, const ActivePolicy& policy, TreeUse use) {
  return Checker(policy, use).Check(tree);
}

std::vector<std::string> TopLevelNames(PyObject* tree) {
  const SyntaxTree& syntax = SyntaxTree::Get();
  const FieldNames& fields = syntax.fields();
  std::vector<std::string> names;
  PyObject* body = syntax.Field(tree, fields.body);
  for (Py_ssize_t i = 0; body != nullptr && i < PyList_GET_SIZE(body); ++i) {
    PyObject* statement = PyList_GET_ITEM(body, i);
    const NodeKind kind = syntax.KindOf(statement);
    if (kind == NodeKind::kFunctionDef || kind == NodeKind::kClassDef) {
      if (names.size() < wire::kAnalysisNamesMax) {
        names.push_back(Text(syntax.Field(statement, fields.name)));
      }
      continue;
    }
    AddTarget(syntax, syntax.Field(statement, fields.target), names);
    PyObject* targets = syntax.Field(statement, fields.targets);
    for (Py_ssize_t t = 0; targets != nullptr && t < PyList_GET_SIZE(targets); ++t) {
      AddTarget(syntax, PyList_GET_ITEM(targets, t), names);
    }
  }
  return names;
}

}  // namespace glovebox::zygote
