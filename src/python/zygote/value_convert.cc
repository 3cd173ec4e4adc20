#include "python/zygote/value_convert.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

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

constexpr char kNotFinite[] = "NaN and infinite numbers are null here: JSON has none";
constexpr char kLargeInteger[] = "integers beyond 64 bits are given as text";
constexpr char kKeysAsText[] = "dictionary keys that are not text became text";

// Plain data, or a reason why there is none: then the caller falls back to text as a whole.
class Flattener {
 public:
  std::optional<wire::Value> Flatten(PyObject* object, int depth) {
    if (depth > wire::kValueDepthMax) return Abandon("nested too deeply for JSON");
    if (++nodes_ > wire::kValueNodesMax) return Abandon("too large for JSON");
    if (object == Py_None) return wire::Value{};
    if (PyBool_Check(object)) return wire::Value{object == Py_True};
    if (PyUnicode_Check(object)) return Text(Utf8(object).value_or(""));
    if (PyLong_Check(object)) return Integer(object);
    if (PyFloat_Check(object)) return Float(PyFloat_AS_DOUBLE(object));
    const bool sequence = PyList_Check(object) || PyTuple_Check(object);
    if (!sequence && !PyDict_Check(object)) return Foreign(object, depth);
    if (std::find(open_.begin(), open_.end(), object) != open_.end()) {
      return Abandon("refers to itself");
    }
    open_.push_back(object);
    std::optional<wire::Value> value = sequence ? Sequence(object, depth) : Mapping(object, depth);
    open_.pop_back();
    return value;
  }

  const std::string& why_not() const { return why_not_; }
  std::vector<std::string> TakeNotes() { return std::move(notes_); }

 private:
  std::nullopt_t Abandon(const char* why) {
    if (why_not_.empty()) why_not_ = why;
    return std::nullopt;
  }

  void Note(const char* note) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.emplace_back(note);
  }

  std::optional<wire::Value> Integer(PyObject* object) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return wire::Value{static_cast<std::int64_t>(number)};
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (overflow > 0 && PyErr_Occurred() == nullptr) {
      return wire::Value{static_cast<std::uint64_t>(large)};
    }
    PyErr_Clear();
    Note(kLargeInteger);
    return Text(StrText(object, wire::kReprBytesMax));
  }

  std::optional<wire::Value> Float(double number) {
    if (!std::isfinite(number)) Note(kNotFinite);
    return wire::Value{number};
  }

  std::optional<wire::Value> Text(std::string text) {
    if ((bytes_ += text.size()) > kValueBytesMax) return Abandon("too large for JSON");
    return wire::Value{std::move(text)};
  }

  // User code runs in between: a list can change its length, an element can go.
  std::optional<wire::Value> Sequence(PyObject* object, int depth) {
    wire::Value::List items;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      const PyRef element(Py_NewRef(PySequence_Fast_GET_ITEM(object, i)));
      std::optional<wire::Value> item = Flatten(element.get(), depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    }
    return wire::Value{std::move(items)};
  }

  std::optional<wire::Value> Mapping(PyObject* object, int depth) {
    const PyRef pairs(PyDict_Items(object));
    if (!pairs) return Abandon(TakePythonError().c_str());
    wire::Value::Dict items;
    std::set<std::string> names;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs.get()); ++i) {
      PyObject* pair = PyList_GET_ITEM(pairs.get(), i);
      std::string name = Key(PyTuple_GET_ITEM(pair, 0));
      if ((bytes_ += name.size()) > kValueBytesMax) return Abandon("too large for JSON");
      std::optional<wire::Value> item = Flatten(PyTuple_GET_ITEM(pair, 1), depth + 1);
      if (!item) return std::nullopt;
      if (!names.insert(name).second) return Abandon("two of its keys are the same text");
      items.push_back({std::move(name), std::move(*item)});
    }
    return wire::Value{std::move(items)};
  }

  std::string Key(PyObject* key) {
    if (PyUnicode_Check(key)) return Utf8(key).value_or("");
    Note(kKeysAsText);
    const PyRef simpler = Simplify(key);
    const bool plain = simpler && (PyUnicode_Check(simpler.get()) || PyLong_Check(simpler.get()) ||
                                   PyFloat_Check(simpler.get()));
    return StrText(plain ? simpler.get() : key, wire::kMessageBytesMax);
  }

  std::optional<wire::Value> Foreign(PyObject* object, int depth) {
    const PyRef simpler = Simplify(object);
    if (simpler) return Flatten(simpler.get(), depth + 1);
    return Text(StrText(object, wire::kReprBytesMax));
  }

  // Null when text says it best, also when asking raised.
  static PyRef Simplify(PyObject* object) {
    PyObject* prelude = ValuesPrelude();
    PyObject* simplify = prelude != nullptr ? PyDict_GetItemString(prelude, "simplify") : nullptr;
    if (simplify == nullptr) return PyRef();
    PyRef simpler(PyObject_CallOneArg(simplify, object));
    if (!simpler) PyErr_Clear();
    if (simpler.get() == Py_NotImplemented) return PyRef();
    return simpler;
  }

  std::uint32_t nodes_ = 0;
  std::size_t bytes_ = 0;
  std::vector<PyObject*>
      open_;  // the containers we are inside of; kept alive by whoever holds them
  std::string why_not_;
  std::vector<std::string> notes_;
};

bool IsPlain(PyObject* object) {
  return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
         PyUnicode_Check(object) || PyList_Check(object) || PyTuple_Check(object) ||
         PyDict_Check(object);
}

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

PlainValue FromPython(PyObject* object) {
  PlainValue plain;
  Flattener flattener;
  std::optional<wire::Value> data = flattener.Flatten(object, 0);
  if (!data) {
    plain.data = wire::Value{StrText(object, wire::kReprBytesMax)};
    plain.notes = {"given as text: " + flattener.why_not()};
    return plain;
  }
  plain.data = std::move(*data);
  plain.notes = flattener.TakeNotes();
  const bool is_text = std::holds_alternative<std::string>(plain.data.data);
  if (!IsPlain(object) && !is_text) plain.text = StrText(object, wire::kReprBytesMax);
  return plain;
}

PyRef ToPython(const wire::Value& value) { return std::visit(Build(), value.data); }

std::string ReprText(PyObject* object, std::size_t bytes_max) {
  return TextOf(object, &PyObject_Repr, bytes_max);
}

std::string StrText(PyObject* object, std::size_t bytes_max) {
  return TextOf(object, &PyObject_Str, bytes_max);
}

}  // namespace glovebox::zygote
