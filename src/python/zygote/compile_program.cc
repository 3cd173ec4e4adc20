// The parser's tree has no public interface in C; these headers are installed beside Python.h.
#define Py_BUILD_CORE
#include "python/zygote/compile_program.h"

#include <cstring>
#include <memory>
#include <utility>

#include <internal/pycore_ast.h>
#include <internal/pycore_compile.h>
#include <internal/pycore_parser.h>
#include <internal/pycore_pyarena.h>

namespace glovebox::zygote {
namespace {

constexpr int kOptimizeAsInterpreter = -1;

struct FreeArena {
  void operator()(PyArena* arena) const { _PyArena_Free(arena); }
};
using Arena = std::unique_ptr<PyArena, FreeArena>;  // owns a tree

PyCompilerFlags Flags() {
  PyCompilerFlags flags = {};
  flags.cf_flags = PyCF_ALLOW_TOP_LEVEL_AWAIT;
  flags.cf_feature_version = PY_MINOR_VERSION;
  return flags;
}

// Takes the last statement away from the program if it is an expression.
expr_ty TakeFinalExpression(mod_ty program) {
  asdl_stmt_seq* body = program->v.Module.body;
  if (body == nullptr || body->size == 0) return nullptr;
  stmt_ty last = body->typed_elements[body->size - 1];
  if (last->kind != Expr_kind) return nullptr;
  --body->size;
  return last->v.Expr.value;
}

// Adds the code of `tree` to `steps`.
bool AddStep(mod_ty tree, PyObject* filename, PyArena* arena, PyObject* steps) {
  if (tree == nullptr) return false;
  PyCompilerFlags flags = Flags();
  const PyRef code(reinterpret_cast<PyObject*>(
      _PyAST_Compile(tree, filename, &flags, kOptimizeAsInterpreter, arena)));
  return code && PyList_Append(steps, code.get()) == 0;
}

mod_ty Parse(PyObject* source, PyObject* filename, PyArena* arena) {
  const char* text = PyBytes_AS_STRING(source);
  if (std::strlen(text) != static_cast<std::size_t>(PyBytes_GET_SIZE(source))) {
    PyErr_SetString(PyExc_ValueError, "source code string cannot contain null bytes");
    return nullptr;
  }
  PyCompilerFlags flags = Flags();
  return _PyParser_ASTFromString(text, filename, Py_file_input, &flags, arena);
}

// The program as it is after the check, and in `bound` what that bound; null with an exception.
mod_ty Checked(mod_ty program, PyObject* check, PyObject* space, PyArena* arena, PyRef& bound) {
  const PyRef tree(PyAST_mod2obj(program));
  if (!tree) return nullptr;
  const PyRef answer(PyObject_CallFunctionObjArgs(check, tree.get(), space, nullptr));
  PyObject* names = nullptr;
  int changed = 0;
  if (!answer || PyArg_ParseTuple(answer.get(), "Op", &names, &changed) == 0) return nullptr;
  bound = PyRef(Py_NewRef(names));
  if (changed == 0) return program;
  constexpr int kProgram = 0;  // not a single expression, not interactive
  mod_ty changed_program = PyAST_obj2mod(tree.get(), arena, kProgram);
  if (changed_program == nullptr || _PyAST_Validate(changed_program) == 0) return nullptr;
  return changed_program;
}

PyObject* CompileProgram(PyObject* /*self*/, PyObject* arguments) {
  PyObject* source = nullptr;
  PyObject* filename = nullptr;
  PyObject* check = nullptr;
  PyObject* space = nullptr;
  if (PyArg_ParseTuple(arguments, "SUOO", &source, &filename, &check, &space) == 0) return nullptr;
  const Arena arena(_PyArena_New());
  if (!arena) return PyErr_NoMemory();
  mod_ty program = Parse(source, filename, arena.get());
  PyRef bound(PyTuple_New(0));
  if (program != nullptr && check != Py_None) {
    program = Checked(program, check, space, arena.get(), bound);
  }
  if (program == nullptr || !bound) return nullptr;
  const PyRef steps(PyList_New(0));
  expr_ty final_value = TakeFinalExpression(program);
  const asdl_stmt_seq* statements = program->v.Module.body;
  if (!steps || (statements != nullptr && statements->size > 0 &&
                 !AddStep(program, filename, arena.get(), steps.get()))) {
    return nullptr;
  }
  if (final_value != nullptr &&
      !AddStep(_PyAST_Expression(final_value, arena.get()), filename, arena.get(), steps.get())) {
    return nullptr;
  }
  return PyTuple_Pack(2, steps.get(), bound.get());
}

PyMethodDef kCompileProgram = {"compile_program", &CompileProgram, METH_VARARGS, nullptr};

}  // namespace

PyRef MakeCompileProgram() { return PyRef(PyCFunction_New(&kCompileProgram, nullptr)); }

}  // namespace glovebox::zygote
