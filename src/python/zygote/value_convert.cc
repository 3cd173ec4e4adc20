#include "python/zygote/value_convert.h"

#include <optional>

#include "python/wire/gate.h"

namespace glovebox::zygote {
namespace {

constexpr std::size_t kValueBytesMax = 1u << 20;  // JSON can make 13 bytes of one

// Lone surrogates have no UTF-8: they are shown as Python's own escapes.
std::optional<std::string> Utf8(PyObject* text) {
  const PyRef bytes(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) {
    PyErr_Clear();
    return std::nullopt;
  }
  return std::string(PyBytes_AS_STRING(bytes.get()),
                     static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
}

std::string Cut(std::string text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string TextOf(PyObject* object, PyObject* (*convert)(PyObject*), std::size_t bytes_max) {
  const PyRef shown(convert(object));
  std::optional<std::string> text = shown ? Utf8(shown.get()) : std::nullopt;
  if (!text) {
    const std::string reason = TakePythonError();
    return Cut(
        "<" + std::string(Py_TYPE(object)->tp_name) + " object; showing it raised " + reason + ">",
        bytes_max);
  }
  return Cut(std::move(*text), bytes_max);
}

// Plain data or nothing: the caller falls back to text as a whole.
class Flattener {
 public:
  std::optional<wire::Value> Flatten(PyObject* object, int depth) {
    if (depth > wire::kValueDepthMax || ++nodes_ > wire::kValueNodesMax) return std::nullopt;
    if (object == Py_None) return wire::Value{};
    if (PyBool_Check(object)) return wire::Value{object == Py_True};
    if (PyLong_Check(object)) return Integer(object);
    if (PyFloat_Check(object)) return wire::Value{PyFloat_AS_DOUBLE(object)};
    if (PyUnicode_Check(object)) return Text(object);
    if (PyList_Check(object) || PyTuple_Check(object)) return Sequence(object, depth);
    if (PyDict_Check(object)) return Mapping(object, depth);
    return std::nullopt;
  }

 private:
  static std::optional<wire::Value> Integer(PyObject* object) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return wire::Value{static_cast<std::int64_t>(number)};
    if (overflow < 0) return std::nullopt;
    const unsigned long long large = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    return wire::Value{static_cast<std::uint64_t>(large)};
  }

  std::optional<wire::Value> Text(PyObject* object) {
    std::optional<std::string> text = Utf8(object);
    if (!text || (bytes_ += text->size()) > kValueBytesMax) return std::nullopt;
    return wire::Value{std::move(*text)};
  }

  std::optional<wire::Value> Sequence(PyObject* object, int depth) {
    wire::Value::List items;
    // Asked anew each round: nothing runs in between today, but a list can change its length.
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      std::optional<wire::Value> item = Flatten(PySequence_Fast_GET_ITEM(object, i), depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    }
    return wire::Value{std::move(items)};
  }

  std::optional<wire::Value> Mapping(PyObject* object, int depth) {
    wire::Value::Dict items;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value) != 0) {
      if (!PyUnicode_Check(key)) return std::nullopt;
      std::optional<std::string> name = Utf8(key);
      std::optional<wire::Value> item = name ? Flatten(value, depth + 1) : std::nullopt;
      if (!item || (bytes_ += name->size()) > kValueBytesMax) return std::nullopt;
      items.push_back({std::move(*name), std::move(*item)});
    }
    return wire::Value{std::move(items)};
  }

  std::uint32_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

struct Build {
  PyRef operator()(std::monostate) const { return PyRef(Py_NewRef(Py_None)); }
  PyRef operator()(bool value) const { return PyRef(PyBool_FromLong(value ? 1 : 0)); }
  PyRef operator()(std::int64_t value) const { return PyRef(PyLong_FromLongLong(value)); }
  PyRef operator()(std::uint64_t value) const { return PyRef(PyLong_FromUnsignedLongLong(value)); }
  PyRef operator()(double value) const { return PyRef(PyFloat_FromDouble(value)); }
  PyRef operator()(const std::string& value) const {
    return PyRef(
        PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace"));
  }
  PyRef operator()(const wire::Value::List& items) const {
    PyRef list(PyList_New(0));
    for (const wire::Value& item : items) {
      const PyRef built = ToPython(item);
      if (!list || !built || PyList_Append(list.get(), built.get()) != 0) return PyRef();
    }
    return list;
  }
  PyRef operator()(const wire::Value::Dict& items) const {
    PyRef dict(PyDict_New());
    for (const auto& [name, item] : items) {
      const PyRef key = (*this)(name);
      const PyRef built = ToPython(item);
      if (!dict || !key || !built || PyDict_SetItem(dict.get(), key.get(), built.get()) != 0) {
        return PyRef();
      }
    }
    return dict;
  }
};

}  // namespace

wire::Value FromPython(PyObject* object) {
  if (std::optional<wire::Value> flat = Flattener().Flatten(object, 0)) return std::move(*flat);
  return wire::Value{StrText(object, wire::kReprBytesMax)};
}

PyRef ToPython(const wire::Value& value) { return std::visit(Build(), value.data); }

std::string ReprText(PyObject* object, std::size_t bytes_max) {
  return TextOf(object, &PyObject_Repr, bytes_max);
}

std::string StrText(PyObject* object, std::size_t bytes_max) {
  return TextOf(object, &PyObject_Str, bytes_max);
}

}  // namespace glovebox::zygote
