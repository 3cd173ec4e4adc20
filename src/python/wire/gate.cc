#include "python/wire/gate.h"

#include <cstring>

#include "python/wire/codec.h"

namespace glovebox::wire {
namespace {

std::string BoundedText(Reader& reader, std::size_t bytes_max) {
  std::string text = reader.Text();
  if (text.size() > bytes_max) reader.Fail();
  return text;
}

RunEvent ReadEvent(Reader& reader) {
  RunEvent event;
  event.seconds = reader.Number<double>();
  event.operation = BoundedText(reader, kMessageBytesMax);
  event.target = BoundedText(reader, kMessageBytesMax);
  event.line = reader.Number<std::int32_t>();
  event.refused = reader.Number<std::uint8_t>() != 0;
  event.rule = BoundedText(reader, kMessageBytesMax);
  event.remedy = BoundedText(reader, kMessageBytesMax);
  return event;
}

void WriteEvent(Writer& writer, const RunEvent& event) {
  writer.Number(event.seconds);
  writer.Text(event.operation);
  writer.Text(event.target);
  writer.Number(event.line);
  writer.Number(static_cast<std::uint8_t>(event.refused ? 1 : 0));
  writer.Text(event.rule);
  writer.Text(event.remedy);
}

void WriteWords(Writer& writer, const std::vector<std::string>& words) {
  writer.List(words, [&](const std::string& word) { writer.Text(word); });
}

std::vector<std::string> ReadWords(Reader& reader, std::uint32_t count_max, std::size_t bytes_max) {
  std::vector<std::string> words;
  reader.List(count_max, [&] { words.push_back(BoundedText(reader, bytes_max)); });
  return words;
}

bool ReadFlag(Reader& reader) { return reader.Number<std::uint8_t>() != 0; }

void WriteFlag(Writer& writer, bool flag) {
  writer.Number(static_cast<std::uint8_t>(flag ? 1 : 0));
}

// A request without a language layer pays one byte for it.
void WritePolicy(Writer& writer, const LanguagePolicy& policy) {
  WriteFlag(writer, policy.enabled);
  if (!policy.enabled) return;
  writer.Text(policy.profile);
  for (const WordList* words :
       {&policy.modules, &policy.builtins, &policy.rules_off, &policy.remedies}) {
    writer.Text(words->bytes());
  }
}

LanguagePolicy ReadPolicy(Reader& reader) {
  LanguagePolicy policy;
  policy.enabled = ReadFlag(reader);
  if (!policy.enabled) return policy;
  policy.profile = BoundedText(reader, kMessageBytesMax);
  for (WordList* words : {&policy.modules, &policy.builtins, &policy.rules_off, &policy.remedies}) {
    std::optional<WordList> read = WordList::FromBytes(BoundedText(reader, kPolicyBytesMax));
    if (!read) reader.Fail();
    *words = std::move(read).value_or(WordList());
  }
  return policy;
}

void WriteFinding(Writer& writer, const Finding& finding) {
  writer.Number(finding.line);
  writer.Number(finding.column);
  writer.Text(finding.rule);
  writer.Text(finding.what);
  writer.Text(finding.why);
  writer.Text(finding.instead);
  WriteFlag(writer, finding.refuses_program);
}

Finding ReadFinding(Reader& reader) {
  Finding finding;
  finding.line = reader.Number<std::int32_t>();
  finding.column = reader.Number<std::int32_t>();
  finding.rule = BoundedText(reader, kFindingBytesMax);
  finding.what = BoundedText(reader, kFindingBytesMax);
  finding.why = BoundedText(reader, kFindingBytesMax);
  finding.instead = BoundedText(reader, kFindingBytesMax);
  finding.refuses_program = ReadFlag(reader);
  return finding;
}

void WriteAnalysis(Writer& writer, const std::optional<CodeAnalysis>& analysis) {
  WriteFlag(writer, analysis.has_value());
  if (!analysis) return;
  writer.Number(analysis->complexity);
  writer.Number(analysis->functions);
  writer.Number(analysis->classes);
  WriteWords(writer, analysis->imports);
  WriteWords(writer, analysis->names);
}

std::optional<CodeAnalysis> ReadAnalysis(Reader& reader) {
  if (!ReadFlag(reader)) return std::nullopt;
  CodeAnalysis analysis;
  analysis.complexity = reader.Number<std::uint32_t>();
  analysis.functions = reader.Number<std::uint32_t>();
  analysis.classes = reader.Number<std::uint32_t>();
  analysis.imports = ReadWords(reader, kAnalysisNamesMax, kFindingBytesMax);
  analysis.names = ReadWords(reader, kAnalysisNamesMax, kFindingBytesMax);
  return analysis;
}

}  // namespace

std::string EncodeRunRequest(const RunRequest& request) {
  Writer writer;
  writer.Number(request.nonce);
  writer.Number(static_cast<std::uint8_t>(request.merged_output ? 1 : 0));
  writer.Number(static_cast<std::uint8_t>(request.last ? 1 : 0));
  writer.Number(request.action);
  writer.Number(request.data_bytes_max);
  writer.Number(request.cpu_seconds_max);
  writer.Number(request.processes_max);
  writer.Text(request.code);
  writer.Text(request.filename);
  writer.List(request.argv, [&](const std::string& text) { writer.Text(text); });
  writer.List(request.environment, [&](const auto& pair) {
    writer.Text(pair.first);
    writer.Text(pair.second);
  });
  WriteValue(writer, {request.globals});
  WritePolicy(writer, request.language);
  return std::move(writer).Take();
}

std::optional<RunRequest> DecodeRunRequest(std::string_view payload) {
  Reader reader(payload);
  RunRequest request;
  request.nonce = reader.Number<std::uint64_t>();
  request.merged_output = reader.Number<std::uint8_t>() != 0;
  request.last = reader.Number<std::uint8_t>() != 0;
  request.action = reader.Number<RunAction>();
  if (request.action > RunAction::kValidate) reader.Fail();
  request.data_bytes_max = reader.Number<std::uint64_t>();
  request.cpu_seconds_max = reader.Number<std::uint32_t>();
  request.processes_max = reader.Number<std::uint32_t>();
  request.code = reader.Text();
  request.filename = reader.Text();
  reader.List(kRunBytesMax, [&] { request.argv.push_back(reader.Text()); });
  reader.List(kRunBytesMax, [&] {
    std::string name = reader.Text();
    request.environment.emplace_back(std::move(name), reader.Text());
  });
  Value globals = ReadValue(reader);
  if (auto* dict = std::get_if<Value::Dict>(&globals.data)) {
    request.globals = std::move(*dict);
  } else {
    reader.Fail();
  }
  request.language = ReadPolicy(reader);
  if (!reader.finished()) return std::nullopt;
  return request;
}

std::string EncodeRunResult(const RunResult& result) {
  Writer writer;
  writer.Number(result.nonce);
  writer.Number(result.ending);
  writer.Number(result.exit_code);
  WriteValue(writer, result.value);
  writer.Text(result.value_repr);
  writer.Text(result.value_text);
  WriteWords(writer, result.value_notes);
  writer.List(result.variables, [&](const std::string& name) { writer.Text(name); });
  writer.Text(result.error.type);
  writer.Text(result.error.message);
  writer.Text(result.error.traceback);
  writer.Number(result.error.line);
  writer.Number(result.error.offset);
  writer.Text(result.error.text);
  writer.List(result.events, [&](const RunEvent& event) { WriteEvent(writer, event); });
  writer.Number(result.events_dropped);
  writer.List(result.findings, [&](const Finding& finding) { WriteFinding(writer, finding); });
  WriteAnalysis(writer, result.analysis);
  return std::move(writer).Take();
}

std::optional<RunResult> DecodeRunResult(std::string_view payload, std::uint64_t nonce) {
  Reader reader(payload);
  RunResult result;
  result.nonce = reader.Number<std::uint64_t>();
  if (result.nonce != nonce) return std::nullopt;  // before anything else costs time
  result.ending = reader.Number<Ending>();
  if (result.ending > Ending::kRefused) reader.Fail();
  result.exit_code = reader.Number<std::int32_t>();
  result.value = ReadValue(reader);
  result.value_repr = BoundedText(reader, kReprBytesMax);
  result.value_text = BoundedText(reader, kReprBytesMax);
  result.value_notes = ReadWords(reader, kNotesMax, kMessageBytesMax);
  reader.List(kVariablesMax,
              [&] { result.variables.push_back(BoundedText(reader, kMessageBytesMax)); });
  result.error.type = BoundedText(reader, kMessageBytesMax);
  result.error.message = BoundedText(reader, kMessageBytesMax);
  result.error.traceback = BoundedText(reader, kTracebackBytesMax);
  result.error.line = reader.Number<std::int32_t>();
  result.error.offset = reader.Number<std::int32_t>();
  result.error.text = BoundedText(reader, kSourceLineBytesMax);
  reader.List(kEventsMax, [&] { result.events.push_back(ReadEvent(reader)); });
  result.events_dropped = reader.Number<std::uint64_t>();
  reader.List(kFindingsMax, [&] { result.findings.push_back(ReadFinding(reader)); });
  result.analysis = ReadAnalysis(reader);
  if (!reader.finished()) return std::nullopt;
  return result;
}

std::string Frame(FrameKind kind, std::string_view payload) {
  const FrameHeader header = {kind, static_cast<std::uint32_t>(payload.size())};
  std::string frame;
  frame.reserve(sizeof(header) + payload.size());
  frame.append(reinterpret_cast<const char*>(&header), sizeof(header));
  frame.append(payload);
  return frame;
}

void FrameParser::Append(std::string_view bytes) {
  if (!broken_) buffer_.append(bytes);
}

std::optional<FrameParser::Parsed> FrameParser::Next() {
  FrameHeader header;
  if (broken_ || buffer_.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, buffer_.data(), sizeof(header));
  const bool legal = (header.kind == FrameKind::kReady && header.length == 0) ||
                     (header.kind == FrameKind::kResult && header.length <= kResultBytesMax);
  if (!legal) {
    broken_ = true;
    buffer_.clear();
    return std::nullopt;
  }
  if (buffer_.size() - sizeof(header) < header.length) return std::nullopt;
  Parsed parsed{header.kind, buffer_.substr(sizeof(header), header.length)};
  buffer_.erase(0, sizeof(header) + header.length);
  return parsed;
}

}  // namespace glovebox::wire
