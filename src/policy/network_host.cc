#include "policy/network_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace glovebox::policy {
namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelMax = 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct Block {
  std::array<std::uint8_t, 16> prefix;
  std::uint8_t bits;
  AddressKind kind;
};

bool Within(const IpAddress& address, const Block& block) {
  for (std::size_t bit = 0; bit < block.bits; bit += 8) {
    const std::size_t left = block.bits - bit;
    const auto mask = static_cast<std::uint8_t>(left >= 8 ? 0xFF : 0xFF << (8 - left));
    if (((address.bytes[bit / 8] ^ block.prefix[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

// The first that matches decides. IANA's special-purpose registries, and what clouds use.
constexpr Block kBlocks4[] = {
    {{169, 254, 169, 254}, 32, AddressKind::kMetadata},
    {{169, 254, 170, 2}, 32, AddressKind::kMetadata},    // containers of AWS
    {{100, 100, 100, 200}, 32, AddressKind::kMetadata},  // Alibaba
    {{168, 63, 129, 16}, 32, AddressKind::kMetadata},    // Azure's wire server, in public space
    {{192, 0, 0, 192}, 32, AddressKind::kMetadata},      // Oracle
    {{0}, 8, AddressKind::kUnspecified},
    {{10}, 8, AddressKind::kPrivate},
    {{100, 64}, 10, AddressKind::kPrivate},
    {{127}, 8, AddressKind::kLoopback},
    {{169, 254}, 16, AddressKind::kLinkLocal},
    {{172, 16}, 12, AddressKind::kPrivate},
    {{192, 0, 0}, 24, AddressKind::kReserved},
    {{192, 0, 2}, 24, AddressKind::kReserved},
    {{192, 88, 99}, 24, AddressKind::kReserved},
    {{192, 168}, 16, AddressKind::kPrivate},
    {{198, 18}, 15, AddressKind::kReserved},
    {{198, 51, 100}, 24, AddressKind::kReserved},
    {{203, 0, 113}, 24, AddressKind::kReserved},
    {{224}, 4, AddressKind::kMulticast},
    {{240}, 4, AddressKind::kReserved},
};
constexpr Block kBlocks6[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 128, AddressKind::kUnspecified},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, AddressKind::kLoopback},
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
     128,
     AddressKind::kMetadata},
    {{0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, AddressKind::kMetadata},
    {{0xfc}, 7, AddressKind::kPrivate},
    {{0xfe, 0x80}, 10, AddressKind::kLinkLocal},
    {{0xfe, 0xc0}, 10, AddressKind::kPrivate},
    {{0xff}, 8, AddressKind::kMulticast},
    {{0x20, 0x01, 0x00}, 23, AddressKind::kReserved},  // Teredo and other protocols
    {{0x20, 0x01, 0x0d, 0xb8}, 32, AddressKind::kReserved},
    {{0x3f, 0xff, 0x00}, 20, AddressKind::kReserved},
    {{0x20}, 3, AddressKind::kPublic},
};

// Prefixes after which an IPv4 address stands, and at which byte.
struct Carrier {
  Block block;
  std::size_t at;
};
constexpr Carrier kCarriers[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, AddressKind::kReserved}, 12},  // mapped
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96, AddressKind::kReserved}, 12},  // translated
    {{{0x00, 0x64, 0xff, 0x9b}, 96, AddressKind::kReserved}, 12},                    // NAT64
    {{{0x20, 0x02}, 16, AddressKind::kReserved}, 2},                                 // 6to4
};

std::optional<IpAddress> Carried(const IpAddress& address) {
  for (const Carrier& carrier : kCarriers) {
    if (!Within(address, carrier.block)) continue;
    IpAddress inner;
    std::memcpy(inner.bytes.data(), address.bytes.data() + carrier.at, 4);
    return inner;
  }
  return std::nullopt;
}

std::optional<IpAddress> ParseV4(std::string_view text) {
  IpAddress address;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t end = i < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view part = text.substr(0, end);
    if (part.empty() || part.size() > 3 || !std::all_of(part.begin(), part.end(), IsDigit)) {
      return std::nullopt;
    }
    if (part.size() > 1 && part.front() == '0') return std::nullopt;  // octal to some
    unsigned value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    if (value > 255) return std::nullopt;
    address.bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(i < 3 ? end + 1 : end);
  }
  return address;
}

std::optional<IpAddress> ParseV6(std::string_view text) {
  constexpr std::size_t kTextMax = 45;
  if (text.size() > kTextMax || text.find(':') == std::string_view::npos) return std::nullopt;
  IpAddress address;
  address.v4 = false;
  const std::string terminated(text);
  if (::inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  // Another spelling of an IPv4 address: what is compared would not be what is dialled.
  const bool low = std::all_of(address.bytes.begin(), address.bytes.begin() + 12,
                               [](std::uint8_t byte) { return byte == 0; });
  const bool loopback_or_none = address.bytes[12] == 0 && address.bytes[13] == 0;
  if (Carried(address) || (low && !loopback_or_none)) return std::nullopt;
  return address;
}

// Whether something that resolves names might read it as an IPv4 address.
bool LooksNumeric(std::string_view label) {
  if (label.starts_with("0x")) return true;
  return std::all_of(label.begin(), label.end(), IsDigit);
}

Error Broken(std::string rule) { return Error(Errc::kInvalidArgument, std::move(rule)); }

Status CheckLabel(std::string_view label) {
  if (label.empty()) return Broken("a host name has no empty label");
  if (label.size() > kLabelMax) return Broken("a label of a host name has at most 63 characters");
  if (label.front() == '-' || label.back() == '-') {
    return Broken("a label of a host name neither starts nor ends with '-'");
  }
  for (const char c : label) {
    if ((c >= 'a' && c <= 'z') || IsDigit(c) || c == '-' || c == '_') continue;
    return Broken(
        "a host name has ASCII letters, digits, '-' and '_' alone (other alphabets as punycode)");
  }
  return {};
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  if (const auto v4 = ParseV4(text)) return v4;
  return ParseV6(text);
}

std::string IpAddress::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  ::inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

IpAddress Unwrapped(const IpAddress& address) {
  return address.v4 ? address : Carried(address).value_or(address);
}

AddressKind KindOf(const IpAddress& outer) {
  const IpAddress address = Unwrapped(outer);
  if (address.v4) {
    for (const Block& block : kBlocks4) {
      if (Within(address, block)) return block.kind;
    }
    return AddressKind::kPublic;
  }
  for (const Block& block : kBlocks6) {
    if (Within(address, block)) return block.kind;
  }
  return AddressKind::kReserved;
}

const char* NameOf(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic: return "public";
    case AddressKind::kUnspecified: return "unspecified";
    case AddressKind::kLoopback: return "loopback";
    case AddressKind::kPrivate: return "private";
    case AddressKind::kLinkLocal: return "link-local";
    case AddressKind::kMetadata: return "cloud metadata";
    case AddressKind::kMulticast: return "multicast";
    case AddressKind::kReserved: return "reserved";
  }
  return "unknown";
}

Result<NetworkHost> NetworkHost::Parse(std::string_view text) {
  if (text.empty()) return Broken("a host has a name");
  if (text.front() == '[') {
    if (text.back() != ']') return Broken("an IPv6 address in brackets ends with ']'");
    const auto address = ParseV6(text.substr(1, text.size() - 2));
    if (!address) {
      return Broken(
          "in brackets stands an IPv6 address without a zone that is not a spelling of an IPv4 "
          "one");
    }
    return Of(*address);
  }
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), Lower);
  if (name.ends_with('.')) name.pop_back();
  if (name.size() > kNameMax) return Broken("a host name has at most 253 characters");
  std::string_view rest = name;
  std::string_view label;
  while (true) {
    const std::size_t dot = rest.find('.');
    label = rest.substr(0, dot);
    if (Status checked = CheckLabel(label); !checked) return std::move(checked).error();
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (!LooksNumeric(label)) return NetworkHost{std::move(name), std::nullopt};
  const auto address = ParseV4(text);
  if (!address) {
    return Broken("an IPv4 address is four decimal numbers from 0 to 255 without leading zeros");
  }
  return Of(*address);
}

NetworkHost NetworkHost::Of(const IpAddress& address) { return {address.Text(), address}; }

std::string NetworkHost::Text() const { return address && !address->v4 ? "[" + name + "]" : name; }

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (value > 65'535) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

}  // namespace glovebox::policy
