#pragma once

// CPython's own syntax tree, as objects, walked without looking any name up: a node's type says
// what it is, its dictionary holds its fields. Prepared once in the zygote.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// The nodes the checker treats specially; every other kind is only walked through.
enum class NodeKind : std::uint8_t {
  kNone,  // no node at all
  kLeaf,  // Load, Store, operators: nothing inside
  kOther,
  kDecision,  // adds a path: if, for, while, except, assert, a condition
  kAlias,
  kArg,
  kAttribute,
  kBoolOp,
  kCall,
  kClassDef,
  kComprehension,
  kConstant,
  kExceptHandler,
  kFunctionDef,
  kGlobal,
  kImport,
  kImportFrom,
  kMatchClass,
  kMatchName,  // MatchAs, MatchStar
  kName,
  kSubscript,
};

// Interned names of fields, compared by address.
struct FieldNames {
  PyObject* arg;
  PyObject* args;
  PyObject* asname;
  PyObject* attr;
  PyObject* body;
  PyObject* col_offset;
  PyObject* ctx;
  PyObject* elts;
  PyObject* func;
  PyObject* id;
  PyObject* kwd_attrs;
  PyObject* level;
  PyObject* lineno;
  PyObject* module;
  PyObject* name;
  PyObject* names;
  PyObject* slice;
  PyObject* targets;
  PyObject* target;
  PyObject* value;
  PyObject* values;
};

class SyntaxTree {
 public:
  // Loads _ast. Once per process, before any fork.
  static Status Prepare();
  static const SyntaxTree& Get();

  NodeKind KindOf(PyObject* object) const {
    const PyTypeObject* type = Py_TYPE(object);
    for (std::size_t slot = Slot(type);; slot = (slot + 1) % kSlots) {
      if (types_[slot] == type) return kinds_[slot];
      if (types_[slot] == nullptr) return NodeKind::kNone;
    }
  }
  const FieldNames& fields() const { return fields_; }

  // A field of a node, borrowed; null when it has none of that name.
  PyObject* Field(PyObject* node, PyObject* name) const;
  bool IsLoad(PyObject* attribute_or_name) const {
    PyObject* context = Field(attribute_or_name, fields_.ctx);
    return context != nullptr && Py_TYPE(context) == Py_TYPE(load_);
  }

  // `callee(receiver, "name")` in the place of the attribute `node`. Null with an exception set
  // when memory is short.
  PyRef CallInsteadOf(PyObject* node, PyObject* callee_name) const;

 private:
  static constexpr std::size_t kSlots = 1024;
  static std::size_t Slot(const PyTypeObject* type) {
    return (reinterpret_cast<std::uintptr_t>(type) >> 4) * 0x9E3779B97F4A7C15ull >> 54;
  }
  void Add(PyTypeObject* type, NodeKind kind);

  std::array<const PyTypeObject*, kSlots> types_{};
  std::array<NodeKind, kSlots> kinds_{};
  FieldNames fields_{};
  PyObject* module_ = nullptr;
  PyObject* load_ = nullptr;
};

}  // namespace glovebox::zygote
