#include "python/zygote/language/format_text.h"

#include <string>
#include <string_view>

namespace glovebox::zygote {
namespace {

const AttributeRule* RuleOfWord(std::string_view word) {
  const PyRef name(PyUnicode_FromStringAndSize(word.data(), static_cast<Py_ssize_t>(word.size())));
  if (!name) {
    PyErr_Clear();
    return nullptr;
  }
  const AttributeRule* rule = NameTables::Get().Attribute(name.get());
  // A field only shows what it reads: methods that need a call to do harm do none here.
  if (rule != nullptr && rule->rule == RuleId::kFormat) return nullptr;
  return rule;
}

bool IsWordEnd(char c) {
  return c == '.' || c == '[' || c == ']' || c == '}' || c == '{' || c == '!' || c == ':';
}

std::string_view Text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {utf8, static_cast<std::size_t>(size)};
}

}  // namespace

// Every word after a dot inside braces counts, nested fields included; which braces are escapes
// does not matter, because no ordinary text has such words.
const AttributeRule* RefusedField(PyObject* text) {
  const std::string_view format = Text(text);
  bool inside = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{') inside = true;
    if (!inside || format[i] != '.') continue;
    std::size_t end = i + 1;
    while (end < format.size() && !IsWordEnd(format[end])) ++end;
    if (const AttributeRule* rule = RuleOfWord(format.substr(i + 1, end - i - 1))) return rule;
  }
  return nullptr;
}

const AttributeRule* RefusedPath(PyObject* text) {
  std::string_view path = Text(text);
  while (!path.empty()) {
    const std::size_t end = path.find('.');
    if (const AttributeRule* rule = RuleOfWord(path.substr(0, end))) return rule;
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return nullptr;
}

}  // namespace glovebox::zygote
