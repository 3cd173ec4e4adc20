#include "policy/egress_policy.h"

#include <algorithm>

#include "base/text.h"

namespace glovebox::policy {
namespace {

constexpr std::size_t kRuleMax = 1024;

Error BadRule(std::string_view text, const std::string& what) {
  return Error(Errc::kInvalidArgument,
               "'" + std::string(text) + "': " + what +
                   "; a rule is HOST, HOST:PORT or [METHODS ]http://HOST[:PORT]/PATH");
}

bool IsMethodChar(char c) { return (c >= 'A' && c <= 'Z') || c == '-'; }

Status ReadMethods(std::string_view text, std::string_view words, EgressRule& rule) {
  for (const std::string_view word : Split(words, '|')) {
    if (word.empty() || word.size() > 32 || !std::all_of(word.begin(), word.end(), IsMethodChar)) {
      return BadRule(text, "methods are upper-case words joined by '|'");
    }
    if (word == "CONNECT")
      return BadRule(text, "CONNECT is a tunnel, which a rule without methods allows");
    rule.methods.emplace_back(word);
  }
  rule.http_only = true;
  return {};
}

Status ReadPath(std::string_view text, std::string_view path, EgressRule& rule) {
  const std::string_view plain = path.ends_with('*') ? path.substr(0, path.size() - 1) : path;
  for (const char c : plain) {
    if (c <= ' ' || c > '~' || c == '*' || c == '?' || c == '#' || c == '\\' || c == '%') {
      return BadRule(text, "a path is plain ASCII, with '*' at its end only");
    }
  }
  rule.path = path;
  rule.http_only = true;
  return {};
}

Status ReadHost(std::string_view text, std::string_view name, EgressRule& rule) {
  if (name.starts_with("*.")) {
    rule.below = true;
    name.remove_prefix(2);
  }
  if (name == "*")
    return BadRule(text, "'*' alone would allow every host; name those that are needed");
  auto host = NetworkHost::Parse(name);
  if (!host) return BadRule(text, host.error().message());
  if (rule.below && (host->address || host->name.find('.') == std::string::npos)) {
    return BadRule(text, "after '*.' stands a name of at least two labels");
  }
  rule.host = std::move(*host);
  return {};
}

Status ReadAuthority(std::string_view text, std::string_view authority, EgressRule& rule) {
  // A colon inside brackets belongs to the address.
  const std::size_t bracket = authority.rfind(']');
  std::size_t colon = authority.rfind(':');
  if (bracket != std::string_view::npos && colon != std::string_view::npos && colon < bracket) {
    colon = std::string_view::npos;
  }
  TRY(ReadHost(text, authority.substr(0, colon), rule));
  if (colon == std::string_view::npos) return {};
  const std::string_view port = authority.substr(colon + 1);
  if (port == "*") {
    rule.ports.clear();
    return {};
  }
  const auto number = ParsePort(port);
  if (!number) return BadRule(text, "a port is a number from 1 to 65535, or '*'");
  rule.ports = {*number};
  return {};
}

// Two servers may read such a path differently: dots, doubled and encoded separators.
bool IsPlainPath(std::string_view path) {
  if (path.find("//") != std::string_view::npos || path.find('\\') != std::string_view::npos) {
    return false;
  }
  for (std::string_view segment : Split(path, '/')) {
    segment = segment.substr(0, segment.find(';'));
    if (segment == "." || segment == "..") return false;
  }
  for (std::size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    std::string code(path.substr(at + 1, 2));
    std::transform(code.begin(), code.end(), code.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (code.size() < 2 || code == "2f" || code == "2e" || code == "5c" || code == "25" ||
        code == "00" || code == "3b") {
      return false;
    }
  }
  return true;
}

bool AllowsRequest(const EgressRule& rule, const EgressAsk& ask, std::string& why_not) {
  if (!rule.http_only) return true;
  const std::string place = ask.host.Text() + ":" + std::to_string(ask.port);
  if (!ask.method) {
    why_not = "the rule for " + place + " allows plain HTTP requests, not a tunnel";
    return false;
  }
  if (!rule.methods.empty() &&
      std::find(rule.methods.begin(), rule.methods.end(), *ask.method) == rule.methods.end()) {
    why_not = "the rule for " + place + " does not allow the method " + *ask.method;
    return false;
  }
  if (rule.path.empty()) return true;
  const bool prefix = rule.path.ends_with('*');
  const std::string_view wanted = std::string_view(rule.path).substr(0, rule.path.size() - prefix);
  if (!(prefix ? ask.path.starts_with(wanted) : ask.path == wanted)) {
    why_not = "the rule for " + place + " does not allow the path " + ask.path;
    return false;
  }
  if (!IsPlainPath(ask.path)) {
    why_not = "the path " + ask.path + " can be read in two ways";
    return false;
  }
  return true;
}

}  // namespace

bool EgressRule::AllowsPort(std::uint16_t port) const {
  return ports.empty() || std::find(ports.begin(), ports.end(), port) != ports.end();
}

bool EgressRule::AllowsHost(const NetworkHost& asked) const {
  if (!below) return asked == host;
  if (asked.address) return false;
  return asked.name.size() > host.name.size() + 1 && asked.name.ends_with(host.name) &&
         asked.name[asked.name.size() - host.name.size() - 1] == '.';
}

Result<EgressRule> ParseEgressRule(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  if (trimmed.empty()) return BadRule(text, "it is empty");
  if (trimmed.size() > kRuleMax) return BadRule(text.substr(0, 64), "it is too long");
  EgressRule rule;
  rule.text = trimmed;
  rule.ports = {kHttpPort, kTlsPort};
  std::string_view rest = trimmed;
  if (const std::size_t space = rest.find(' '); space != std::string_view::npos) {
    TRY(ReadMethods(trimmed, rest.substr(0, space), rule));
    rest = Trim(rest.substr(space + 1));
  }
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    rule.ports = {kHttpPort};
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
    rule.ports = {kTlsPort};
    if (rule.http_only || rest.find('/') != std::string_view::npos) {
      return BadRule(trimmed, "methods and paths inside TLS cannot be seen");
    }
  }
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    TRY(ReadPath(trimmed, rest.substr(slash), rule));
    rest = rest.substr(0, slash);
  }
  // What is judged by method or path is plain HTTP, whose port is 80 unless another is named.
  if (rule.http_only) rule.ports = {kHttpPort};
  TRY(ReadAuthority(trimmed, rest, rule));
  return rule;
}

EgressVerdict EgressPolicy::Judge(const EgressAsk& ask) const {
  EgressVerdict verdict;
  verdict.reason = "no rule names " + ask.host.Text();
  bool named = false;
  for (const EgressRule& rule : rules) {
    if (!rule.AllowsHost(ask.host)) continue;
    if (!rule.AllowsPort(ask.port)) {
      if (!named) {
        verdict.reason =
            "no rule for " + ask.host.Text() + " names port " + std::to_string(ask.port);
      }
      named = true;
      continue;
    }
    std::string why_not;
    if (AllowsRequest(rule, ask, why_not)) return {true, rule.text, {}};
    verdict.reason = std::move(why_not);
    named = true;
  }
  return verdict;
}

EgressVerdict EgressPolicy::JudgeAddress(const EgressAsk& ask, const IpAddress& address) const {
  const bool own = std::find(own_addresses.begin(), own_addresses.end(), Unwrapped(address)) !=
                   own_addresses.end();
  const AddressKind kind = KindOf(address);
  if (kind == AddressKind::kPublic && !own) return {true, {}, {}};
  const NetworkHost literal = NetworkHost::Of(address);
  for (const EgressRule& rule : rules) {
    if (rule.AllowsHost(literal) && rule.AllowsPort(ask.port)) return {true, rule.text, {}};
  }
  const std::string what =
      own ? "one of this host's own addresses" : "a " + std::string(NameOf(kind)) + " address";
  return {false,
          {},
          ask.host.Text() + " leads to " + address.Text() + ", " + what + ", which no rule names"};
}

std::string EgressPolicy::RemedyFor(const NetworkHost& host, std::uint16_t port) const {
  std::string rule = host.Text();
  if (port != kHttpPort && port != kTlsPort) rule += ":" + std::to_string(port);
  std::string text = remedy;
  if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, rule);
  return text;
}

Result<EgressPolicy> ParseEgressPolicy(const std::vector<std::string>& texts) {
  if (texts.size() > kEgressRulesMax) {
    return Error(Errc::kLimit, "there are more than " + std::to_string(kEgressRulesMax) +
                                   " rules of hosts; a wildcard says many names at once");
  }
  EgressPolicy policy;
  for (const std::string& text : texts) policy.rules.push_back(TRY(ParseEgressRule(text)));
  return policy;
}

}  // namespace glovebox::policy
