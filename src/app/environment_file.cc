#include "app/environment_file.h"

#include <algorithm>

#include "base/text.h"

namespace glovebox {
namespace {

std::string_view ValueOf(std::string_view text) {
  text = Trim(text);
  if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
    const std::size_t close = text.find(text.front(), 1);
    if (close != std::string_view::npos) return text.substr(1, close - 1);
  }
  if (text.starts_with('#')) return {};
  const std::size_t comment = std::min(text.find(" #"), text.find("\t#"));
  return Trim(text.substr(0, comment));
}

}  // namespace

std::vector<EnvironmentLine> ReadEnvironmentFile(std::string_view text) {
  constexpr std::string_view kExport = "export ";
  std::vector<EnvironmentLine> lines;
  int number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    line = Trim(line);
    if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    lines.push_back({std::string(Trim(line.substr(0, equals))),
                     std::string(ValueOf(line.substr(equals + 1))), number});
  }
  return lines;
}

}  // namespace glovebox
