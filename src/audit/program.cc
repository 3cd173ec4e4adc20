#include "audit/program.h"

#include <algorithm>
#include <cctype>

#include "embedded/audit_programs.h"

namespace glovebox::audit {
namespace {

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether `name` stands in `text` as a word of its own.
bool Uses(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !IsNameCharacter(text[at - 1]);
    const bool ends = end == text.size() || !IsNameCharacter(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

// In two pieces: see ProgramText. Values are ours and hold no quotes.
std::string Literal(const std::variant<std::uint64_t, std::string>& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  const auto& text = std::get<std::string>(value);
  const std::size_t half = text.size() / 2;
  return "\"" + text.substr(0, half) + "\" + \"" + text.substr(half) + "\"";
}

std::string Assemble(std::string_view prelude, std::string_view source, const Bindings& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings) {
    if (!Uses(source, name) && !Uses(prelude, name)) continue;
    text += name + " = " + Literal(value) + "\n";
  }
  text += prelude;
  text += "\n\n";
  text += source;
  return text;
}

std::string_view PreludeOf(const Probe& probe) {
  return probe.is(kPlain) ? ProgramSource("plain_prelude") : RawPrelude();
}

}  // namespace

std::string_view ProgramSource(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(embedded::kAuditPrograms), std::end(embedded::kAuditPrograms),
                   [&](const embedded::NamedText& file) { return file.name == name; });
  return found == std::end(embedded::kAuditPrograms) ? std::string_view() : found->text;
}

std::string_view RawPrelude() { return ProgramSource("prelude"); }

std::string ProgramText(const Probe& probe, const Bindings& bindings) {
  return Assemble(PreludeOf(probe), ProgramSource(probe.name), bindings);
}

std::string FirstProgramText(const Probe& probe, const Bindings& bindings) {
  return Assemble(PreludeOf(probe), ProgramSource(std::string(probe.name) + ".first"), bindings);
}

}  // namespace glovebox::audit
