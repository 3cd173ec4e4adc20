#include "egress/messages.h"

#include <algorithm>
#include <cstring>

#include "python/wire/codec.h"

namespace glovebox::egress {
namespace {

constexpr std::size_t kTextMax = 512;
constexpr std::uint32_t kOwnAddressesMax = 1024;

std::string Shortened(const std::string& text) { return text.substr(0, kTextMax); }

// Only what can be shown: a report may end in a log or a terminal.
std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

const char* NameOf(Door door) {
  switch (door) {
    case Door::kHttp: return "http";
    case Door::kConnect: return "connect";
    case Door::kSocks: return "socks5";
    case Door::kDirect: return "direct";
  }
  return "unknown";
}

std::string Encode(const ProxySetup& setup) {
  wire::Writer writer;
  writer.List(setup.policy.rules, [&](const policy::EgressRule& rule) { writer.Text(rule.text); });
  writer.List(setup.policy.own_addresses,
              [&](const policy::IpAddress& address) { writer.Text(address.Text()); });
  writer.Text(setup.policy.remedy);
  writer.Number(setup.listener_count);
  writer.Flag(setup.other_uid);
  return std::move(writer).Take();
}

std::optional<ProxySetup> DecodeProxySetup(std::string_view payload) {
  wire::Reader reader(payload);
  std::vector<std::string> rules;
  std::vector<std::string> own;
  reader.List(policy::kEgressRulesMax, [&] { rules.push_back(reader.Text()); });
  reader.List(kOwnAddressesMax, [&] { own.push_back(reader.Text()); });
  std::string remedy = reader.Text();
  const auto listeners = reader.Number<std::uint32_t>();
  const bool other_uid = reader.Flag();
  if (!reader.finished()) return std::nullopt;
  auto policy = policy::ParseEgressPolicy(rules);
  if (!policy) return std::nullopt;
  for (const std::string& text : own) {
    const auto address = policy::IpAddress::Parse(text);
    if (!address) return std::nullopt;
    policy->own_addresses.push_back(*address);
  }
  policy->remedy = std::move(remedy);
  return ProxySetup{std::move(*policy), listeners, other_uid};
}

std::string Encode(const ProxyReport& report) {
  const ConnectionReport& connection = report.connection;
  wire::Writer writer;
  writer.Number(report.kind);
  writer.Text(Shortened(report.failure));
  writer.Number(connection.door);
  writer.Flag(connection.allowed);
  writer.Text(Shortened(connection.host));
  writer.Number(connection.port);
  writer.Number(connection.asked_at_ns);
  writer.Text(Shortened(connection.address));
  writer.Number(connection.bytes_sent);
  writer.Number(connection.bytes_received);
  writer.Text(Shortened(connection.rule));
  writer.Text(Shortened(connection.reason));
  writer.Text(Shortened(connection.remedy));
  return std::move(writer).Take();
}

std::optional<ProxyReport> DecodeProxyReport(std::string_view payload) {
  wire::Reader reader(payload);
  ProxyReport report;
  ConnectionReport& connection = report.connection;
  report.kind = reader.Number<ReportKind>();
  report.failure = Printable(reader.Text());
  connection.door = reader.Number<Door>();
  connection.allowed = reader.Flag();
  connection.host = Printable(reader.Text());
  connection.port = reader.Number<std::uint16_t>();
  connection.asked_at_ns = reader.Number<std::uint64_t>();
  connection.address = Printable(reader.Text());
  connection.bytes_sent = reader.Number<std::uint64_t>();
  connection.bytes_received = reader.Number<std::uint64_t>();
  connection.rule = Printable(reader.Text());
  connection.reason = Printable(reader.Text());
  connection.remedy = Printable(reader.Text());
  if (!reader.finished()) return std::nullopt;
  if (report.kind < ReportKind::kReady || report.kind > ReportKind::kConnection)
    return std::nullopt;
  if (connection.door > Door::kDirect) return std::nullopt;
  return report;
}

}  // namespace glovebox::egress
