#include "tools/validation_json.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include <boost/json/array.hpp>

#include "base/utf8.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::string_view kPassed = "Code passed validation";
constexpr std::string_view kRestricted = "Code contains restricted operations";
// The usual thresholds of cyclomatic complexity.
constexpr std::uint32_t kMediumComplexity = 5;
constexpr std::uint32_t kHighComplexity = 20;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return Contains(text, part); });
}

// Advice by plain search: a comment is enough. Null when there is none.
json::value Warnings(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSigns = {{
      {"__import__", "Dynamic imports detected"},
      {"eval(", "Use of eval detected"},
      {"exec(", "Use of exec detected"},
      {"compile(", "Use of compile detected"},
      {"open(", "File operations detected"},
  }};
  json::array warnings;
  for (const auto& [sign, warning] : kSigns) {
    if (Contains(code, sign)) warnings.emplace_back(warning);
  }
  return warnings.empty() ? json::value() : json::value(std::move(warnings));
}

// What clients know: anything with a decision or a definition is more than low.
std::string_view ComplexityWord(std::string_view code, const wire::CodeAnalysis* analysis) {
  std::string_view word = "low";
  if (ContainsAny(code, {"for", "while", "if", "def", "class"})) word = "medium";
  if (ContainsAny(code, {"nested", "recursive", "lambda"})) word = "high";
  if (analysis == nullptr) return word;
  if (analysis->complexity >= kHighComplexity) return "high";
  if (analysis->complexity >= kMediumComplexity && word == "low") return "medium";
  return word;
}

json::object Analysis(std::string_view code, const Outcome& outcome) {
  const wire::CodeAnalysis* analysis = outcome.analysis ? &*outcome.analysis : nullptr;
  json::object document = {{"line_count", std::count(code.begin(), code.end(), '\n') + 1},
                           {"character_count", CountCodePoints(code)},
                           {"estimated_complexity", ComplexityWord(code, analysis)}};
  if (analysis == nullptr) return document;
  document["cyclomatic_complexity"] = analysis->complexity;
  document["function_count"] = analysis->functions;
  document["class_count"] = analysis->classes;
  document["imports"] = json::array(analysis->imports.begin(), analysis->imports.end());
  document["names_defined"] = json::array(analysis->names.begin(), analysis->names.end());
  return document;
}

json::array Recommendations(std::string_view code) {
  constexpr int kManyLines = 50;
  std::string lower(code);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  json::array list;
  if (std::count(code.begin(), code.end(), '\n') + 1 > kManyLines) {
    list.emplace_back("Consider breaking large code blocks into smaller functions");
  }
  if (Contains(code, "print(")) list.emplace_back("Output will be captured automatically");
  if (ContainsAny(lower, {"import", "open", "file"})) {
    list.emplace_back("Some operations may be restricted in sandbox environment");
  }
  return list;
}

json::object Document(std::string_view code, const Outcome& outcome, json::object verdict,
                      json::object validation) {
  json::object document = std::move(verdict);
  document["validation"] = std::move(validation);
  document["analysis"] = Analysis(code, outcome);
  document["recommendations"] = Recommendations(code);
  return document;
}

json::object Valid(std::string_view code, const Outcome& outcome) {
  return Document(code, outcome,
                  {{"valid", true}, {"message", kPassed}, {"warnings", Warnings(code)}},
                  {{"valid", true}, {"message", kPassed}, {"compiled", true}});
}

json::object Invalid(std::string_view code, const Outcome& outcome, json::object verdict) {
  json::array errors;
  errors.push_back(verdict.at("error"));
  verdict["valid"] = false;
  return Document(
      code, outcome, std::move(verdict),
      {{"valid", false}, {"message", "Code could not be compiled"}, {"errors", std::move(errors)}});
}

json::object FindingToJson(const wire::Finding& finding) {
  return {{"line", finding.line}, {"column", finding.column}, {"rule", finding.rule},
          {"what", finding.what}, {"why", finding.why},       {"instead", finding.instead}};
}

json::object Restricted(std::string_view code, const Outcome& outcome) {
  json::array errors;
  json::array findings;
  for (const wire::Finding& finding : outcome.findings) {
    errors.emplace_back("Line " + std::to_string(finding.line) + ": " + finding.what);
    findings.emplace_back(FindingToJson(finding));
  }
  json::object verdict = {{"valid", false},
                          {"errors", errors},
                          {"message", kRestricted},
                          {"warnings", Warnings(code)},
                          {"findings", std::move(findings)}};
  return Document(code, outcome, std::move(verdict),
                  {{"valid", false}, {"errors", std::move(errors)}, {"message", kRestricted}});
}

bool IsSyntaxError(const PythonError& error) {
  return error.type == "SyntaxError" || error.type == "IndentationError" ||
         error.type == "TabError" ||
         // How the compiler refuses a NUL byte.
         (error.type == "ValueError" && Contains(error.message, "null bytes"));
}

json::object SyntaxFailure(std::string_view code, const Outcome& outcome) {
  const PythonError& error = *outcome.error;
  std::string text = "Syntax error: " + error.message;
  const std::string where = " (<sandbox>, line " + std::to_string(error.line) + ")";
  if (error.line > 0 && !text.ends_with(where)) text += where;
  const bool placed = error.line > 0;
  const json::value nothing;
  json::object verdict = {{"error", text},
                          {"line", placed ? json::value(error.line) : nothing},
                          {"offset", error.offset > 0 ? json::value(error.offset) : nothing},
                          {"text", error.text.empty() ? nothing : json::value(error.text)}};
  if (error.offset > 0) verdict["caret"] = CaretText(error.text, error.offset);
  return Invalid(code, outcome, std::move(verdict));
}

}  // namespace

std::string CaretText(std::string_view text, int offset) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (text.empty() || offset <= 0) return {};
  const std::size_t before = PrefixOfCodePoints(text, static_cast<std::size_t>(offset - 1));
  std::string mark;
  // Tabs stay tabs, so that the mark stands below its character in every terminal.
  for (const char c : text.substr(0, before)) {
    if ((c & 0xC0) != 0x80) mark += c == '\t' ? '\t' : ' ';
  }
  return std::string(text) + "\n" + mark + "^";
}

json::object InvalidToJson(std::string_view code, std::string_view error) {
  return Invalid(code, {}, {{"error", error}});
}

json::object ValidationToJson(std::string_view code, const Outcome& outcome) {
  if (outcome.error && IsSyntaxError(*outcome.error)) return SyntaxFailure(code, outcome);
  if (outcome.status != ExecutionStatus::kCompleted) {
    const std::string reason = outcome.message.empty() ? "the compiler failed" : outcome.message;
    return Invalid(code, outcome, {{"error", "Compilation error: " + reason}});
  }
  return outcome.findings.empty() ? Valid(code, outcome) : Restricted(code, outcome);
}

}  // namespace glovebox
