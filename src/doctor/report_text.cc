#include "doctor/report_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace glovebox::doctor {
namespace {

constexpr std::size_t kWidthMin = 40;
constexpr std::size_t kWidthMax = 120;
constexpr std::size_t kMarkColumns = 4;    // two blanks, a mark, a blank; or "ok" with its blanks
constexpr std::size_t kLabelColumns = 15;  // the longest name of a wall, and a gap

constexpr const char* kBold = "1";
constexpr const char* kDim = "2";
constexpr const char* kRed = "31";
constexpr const char* kGreen = "32";
constexpr const char* kYellow = "33";
constexpr const char* kCyan = "36";

enum class Mark { kGood, kBad, kWeak };

std::string Variable(const char* name) {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The first of the three that is set decides, as in setlocale(3).
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = Variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

// Pieces of at most `columns`, broken between words; a longer word stays whole.
std::vector<std::string> Wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : Split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string Milliseconds(double seconds) {
  char text[32];
  const double ms = seconds * 1000;
  std::snprintf(text, sizeof(text), ms < 9.95 ? "%.1f ms" : "%.0f ms", ms);
  return text;
}

class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style) {}

  std::string Take() && { return std::move(text_); }

  void Head(const std::string& text) { text_ += Coloured(kBold, text) + "\n"; }
  void Blank() { text_ += "\n"; }

  void Marked(Mark mark, const std::string& label, const std::string& text) {
    Line("  " + MarkText(mark) + " ", label, text, nullptr);
  }
  void Row(const std::string& label, const std::string& text) {
    Line(std::string(kMarkColumns, ' '), label, text, nullptr);
  }
  // Something about the line before.
  void Detail(const std::string& label, const std::string& text) {
    Line(std::string(kMarkColumns, ' '), Right(label), text, kDim);
  }
  // Whole, however long: it is there to be copied.
  void Command(const std::string& label, const std::string& text) {
    text_ += std::string(kMarkColumns, ' ') + Coloured(kDim, Right(label)) + Coloured(kCyan, text) +
             "\n";
  }
  void Closing(Mark mark, const std::string& text) {
    const std::size_t indent = style_.symbols ? 2 : 0;
    std::string lead = style_.symbols ? MarkText(mark) + " " : "";
    for (const std::string& line : Broken(text, indent)) {
      text_ += lead + Coloured(kBold, line) + "\n";
      lead = std::string(indent, ' ');
    }
  }

 private:
  std::string Coloured(const char* colour, const std::string& text) const {
    if (!style_.colour || colour == nullptr) return text;
    return "\x1b[" + std::string(colour) + "m" + text + "\x1b[0m";
  }

  // One column of symbols; in words, the blank before it makes room for two
  // letters.
  std::string MarkText(Mark mark) const {
    switch (mark) {
      case Mark::kGood: return Coloured(kGreen, style_.symbols ? "\u2714" : "ok");
      case Mark::kBad: return Coloured(kRed, style_.symbols ? "\u2718" : "NO");
      case Mark::kWeak: return Coloured(kYellow, style_.symbols ? "!" : "!!");
    }
    return "";
  }

  static std::string Right(const std::string& label) {
    const std::size_t room = kLabelColumns - 2;
    return std::string(room > label.size() ? room - label.size() : 0, ' ') + label + "  ";
  }

  std::vector<std::string> Broken(const std::string& text, std::size_t indent) const {
    if (style_.width == 0) return {text};
    return Wrapped(text, style_.width - std::min(style_.width - 20, indent));
  }

  void Line(std::string lead, const std::string& label, const std::string& text,
            const char* label_colour) {
    if (!style_.symbols && lead.size() > kMarkColumns) lead.erase(0, 1);
    const std::size_t indent = kMarkColumns + kLabelColumns;
    std::string padded = label;
    if (!padded.ends_with(' ')) padded += ' ';
    padded.resize(std::max(kLabelColumns, padded.size()), ' ');
    lead += Coloured(label_colour, padded);
    for (const std::string& line : Broken(text, indent)) {
      text_ += lead + line + "\n";
      lead = std::string(indent, ' ');
    }
  }

  const TextStyle style_;
  std::string text_;
};

std::string Joined(const std::vector<std::string>& parts, const char* between) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : between) + part;
  return joined;
}

// The wall whose trouble is the same, so that one cause is told once.
const WallReport* SameTrouble(const std::vector<WallReport>& walls, std::size_t before) {
  for (std::size_t i = 0; i < before; ++i) {
    const std::optional<Trouble>& other = walls[i].trouble;
    if (other && other->cause == walls[before].trouble->cause &&
        other->fix == walls[before].trouble->fix) {
      return &walls[i];
    }
  }
  return nullptr;
}

void Walls(const HostReport& report, Page& page) {
  page.Head("Walls");
  for (std::size_t i = 0; i < report.walls.size(); ++i) {
    const WallReport& wall = report.walls[i];
    page.Marked(wall.stands() ? Mark::kGood : Mark::kBad, wall.name, wall.what);
    if (wall.stands()) continue;
    page.Detail("tried", wall.trouble->reason);
    if (const WallReport* same = SameTrouble(report.walls, i); same != nullptr) {
      page.Detail("fix", "as for " + same->name);
      continue;
    }
    if (!wall.trouble->cause.empty()) page.Detail("why", wall.trouble->cause);
    page.Command("fix", wall.trouble->fix);
  }
}

std::string LandlockText(const LandlockReport& landlock) {
  if (landlock.abi == 0) return "none";
  const std::string abi = "ABI " + std::to_string(landlock.abi);
  if (landlock.lacks.empty()) return abi + ", which has all that boxes use";
  return abi + ", which lacks " + Joined(landlock.lacks, ", ") + "; Linux 6.12 has them";
}

std::string CgroupText(const CgroupReport& cgroups) {
  std::vector<std::string> parts;
  for (const ControllerReport& controller : cgroups.controllers) {
    parts.push_back(controller.name + " (v" + std::to_string(controller.version) + ")");
  }
  return parts.empty() ? cgroups.layout : cgroups.layout + ": " + Joined(parts, ", ");
}

std::string LimitsText(const std::string& tier) {
  if (tier == "cgroup") return "tier A: the kernel holds memory and processes, exactly";
  if (tier == "supervisor") {
    return "tier B: rlimits, and a supervisor that holds memory to the limit + "
           "25 %";
  }
  return "unknown: no box was built";
}

std::string PythonText(const PythonReport& python) {
  std::string text = python.path + " " + python.version;
  return text +
         (python.reason.empty() ? ", the one glovebox-python was built for" : "; " + python.reason);
}

std::string RuntimesText(const std::vector<ProgramReport>& runtimes) {
  std::vector<std::string> found;
  std::vector<std::string> missing;
  for (const ProgramReport& program : runtimes) {
    if (program.path.empty()) {
      missing.push_back(program.name);
    } else {
      found.push_back(program.name + " " + program.version +
                      (program.version.empty() ? "(" : " (") + program.path + ")");
    }
  }
  std::string text = Joined(found, ", ");
  if (!missing.empty())
    text += (text.empty() ? "none of " : "; not found: ") + Joined(missing, ", ");
  return text;
}

// Boxes need none: a host without containers lacks nothing that is promised.
std::string ContainerText(const ContainerReport& container) {
  if (!container.ran) {
    return container.reason.empty() ? "not tried" : "not available: " + container.reason;
  }
  return container.runtime + ": print(2+2) in " + Milliseconds(container.run_seconds) + ", " +
         Milliseconds(container.start_seconds) + " before that to find and start it";
}

void Host(const HostReport& report, Page& page) {
  page.Head("Host");
  page.Row("Landlock", LandlockText(report.landlock));
  page.Row("cgroups", CgroupText(report.cgroups));
  page.Row("limits", LimitsText(report.box.limits_tier));
  if (report.no_cgroups) {
    page.Detail("why", report.no_cgroups->reason.empty()
                           ? report.no_cgroups->cause
                           : report.no_cgroups->reason + "; " + report.no_cgroups->cause);
    page.Command("tier A", report.no_cgroups->fix);
  }
  page.Row("Python", PythonText(report.python));
  page.Row("runtimes", RuntimesText(report.runtimes));
  page.Row("containers", ContainerText(report.container));
}

void Packages(const HostReport& report, Page& page) {
  page.Head("Packages");
  std::vector<std::string> installed;
  std::vector<std::string> missing;
  std::vector<std::string> debian;
  for (const PackageReport& package : report.packages) {
    if (package.version.empty()) {
      missing.push_back(package.module);
      debian.push_back(package.debian);
    } else {
      installed.push_back(package.module + " " + package.version);
    }
  }
  page.Row("installed", installed.empty() ? "none" : Joined(installed, ", "));
  if (missing.empty()) return;
  page.Row("missing", Joined(missing, ", "));
  page.Command("fix", "apt-get install " + Joined(debian, " "));
}

void Box(const BoxReport& box, Page& page) {
  page.Head("A box");
  if (!box.ran) {
    page.Marked(Mark::kBad, box.code.empty() ? "none" : box.code, box.reason);
    return;
  }
  page.Marked(Mark::kGood, box.code,
              "printed " + box.output + " in " + Milliseconds(box.run_seconds) + "; " +
                  Milliseconds(box.start_seconds) + " before that to start Python and build it");
  for (const std::string& missing : box.missing_walls) page.Marked(Mark::kWeak, "without", missing);
}

}  // namespace

TextStyle StyleFor(int fd) {
  TextStyle style;
  if (::isatty(fd) != 1) return style;
  winsize size = {};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  style.width = std::clamp<std::size_t>(known ? size.ws_col : 80, kWidthMin, kWidthMax);
  const bool dumb = Variable("TERM") == "dumb";
  style.colour = !dumb && Variable("NO_COLOR").empty();
  style.symbols = !dumb && LocaleIsUtf8();
  return style;
}

std::string ReportText(const HostReport& report, const TextStyle& style) {
  Page page(style);
  std::string head =
      "glovebox " + report.glovebox_version + " on " + report.kernel + ", as " + report.user;
  if (!report.setting.empty()) head += ", " + report.setting;
  page.Head(head);
  page.Blank();
  Walls(report, page);
  page.Blank();
  Host(report, page);
  page.Blank();
  Packages(report, page);
  page.Blank();
  Box(report.box, page);
  page.Blank();
  const Mark mark = report.strength == Strength::kFull       ? Mark::kGood
                    : report.strength == Strength::kDegraded ? Mark::kWeak
                                                             : Mark::kBad;
  page.Closing(mark, report.verdict);
  return std::move(page).Take();
}

}  // namespace glovebox::doctor
