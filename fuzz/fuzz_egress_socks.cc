// What a program in a box can send to the proxy's SOCKS door, and rules of hosts as text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/messages.h"
#include "egress/socks.h"
#include "policy/egress_policy.h"

namespace {

using namespace glovebox::egress;
using namespace glovebox::policy;

void CheckSocks(std::string_view input) {
  const SocksGreeting greeting = ReadSocksGreeting(input);
  CHECK(greeting.bytes <= input.size());
  const SocksRequest request = ReadSocksRequest(input);
  if (request.step == SocksStep::kRefused) CHECK(!request.reason.empty());
  if (request.step != SocksStep::kComplete) return;
  CHECK(request.bytes <= input.size() && request.bytes <= kSocksBytesMax && request.port != 0);
  const auto again = NetworkHost::Parse(request.host.Text());
  // A literal outside the text's vocabulary (IPv4-compatible IPv6) is judged by its number alone.
  if (again.ok()) CHECK(*again == request.host);
  CHECK(again.ok() || request.host.address.has_value());
}

// A host has one form, and that form is a host.
void CheckHost(std::string_view input) {
  const auto host = NetworkHost::Parse(input);
  if (!host.ok()) return;
  const auto again = NetworkHost::Parse(host->Text());
  CHECK(again.ok() && *again == *host);
  for (const char c : host->name) CHECK(c > ' ' && c <= '~' && c != '@' && c != '/' && c != '%');
}

void CheckRule(std::string_view input) {
  const auto rule = ParseEgressRule(input);
  if (!rule.ok()) {
    CHECK(!rule.error().message().empty());
    return;
  }
  const auto again = ParseEgressRule(rule->text);
  CHECK(again.ok() && again->host == rule->host && again->ports == rule->ports);
  CHECK(again->below == rule->below && again->path == rule->path);
  if (rule->below) CHECK(!rule->AllowsHost(rule->host));
  if (!rule->below) CHECK(rule->AllowsHost(rule->host));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size > 1024) return 0;
  CheckSocks(input);
  CheckHost(input);
  CheckRule(input);
  if (const auto report = DecodeProxyReport(input)) CHECK(DecodeProxyReport(Encode(*report)));
  DecodeProxySetup(input);
  return 0;
}
