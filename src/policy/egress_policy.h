#pragma once

// Which hosts a box may reach, as values. Rules are allowances; what none of them allows is
// refused, so a policy without rules allows nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/network_host.h"

namespace glovebox::policy {

inline constexpr std::size_t kEgressRulesMax = 256;
inline constexpr std::uint16_t kHttpPort = 80;
inline constexpr std::uint16_t kTlsPort = 443;

// One allowance:
//
//   example.org             ports 80 (HTTP) and 443 (TLS) of that very name
//   example.org:8443        that port; `:*` for every port
//   *.example.org           every name below it, at any depth, and not itself
//   10.1.2.3, [fd00::1]     an address by its literal; the only way to reach one that is not
//   public,
//                           also for a name that leads to it
//   GET|HEAD http://example.org/feed/*
//                           plain HTTP alone, by method (any when not said) and path; a path
//                           without a '*' at its end is that very path
//   https://example.org     port 443 alone
struct EgressRule {
  std::string text;  // as it was written: events name it
  bool below = false;
  NetworkHost host;
  std::vector<std::uint16_t> ports;  // empty: every port
  bool http_only = false;            // methods or a path are said, which only plain HTTP shows
  std::vector<std::string> methods;  // empty: any
  std::string path;                  // empty: any; with a '*' at its end, a prefix

  bool AllowsPort(std::uint16_t port) const;
  bool AllowsHost(const NetworkHost& asked) const;
};

// The message of an error names the rule, what is wrong in it and the form it should have.
Result<EgressRule> ParseEgressRule(std::string_view text);

// What a program in the box asks for.
struct EgressAsk {
  NetworkHost host;
  std::uint16_t port = 0;
  // Of plain HTTP, whose requests are seen; a tunnel has neither.
  std::optional<std::string> method = {};
  std::string path = {};  // without the query
};

struct EgressVerdict {
  bool allowed = false;
  std::string rule;    // the text of the rule that allows it; empty when none does
  std::string reason;  // of a refusal: a clause such as "no rule names example.org:80"
};

struct EgressPolicy {
  std::vector<EgressRule> rules = {};
  // Addresses of this very host, which are nobody's to reach unless a rule names them.
  std::vector<IpAddress> own_addresses = {};
  // How a rule is added, for people; {} stands for the rule.
  std::string remedy = "--net {}";

  // Whether the name may be asked for at all; nothing has been resolved yet.
  EgressVerdict Judge(const EgressAsk& ask) const;
  // Whether `address`, which the name of an allowed ask leads to, may be dialled for it: it is
  // public, or a rule names the address and the port.
  EgressVerdict JudgeAddress(const EgressAsk& ask, const IpAddress& address) const;
  // The words that would allow `host` and `port`: "--net example.org:8443".
  std::string RemedyFor(const NetworkHost& host, std::uint16_t port) const;
};

// All of `texts`, or the first error. More than kEgressRulesMax are too many.
Result<EgressPolicy> ParseEgressPolicy(const std::vector<std::string>& texts);

}  // namespace glovebox::policy
