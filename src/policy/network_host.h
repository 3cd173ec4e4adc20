#pragma once

// What a program calls the other end of a connection, in the one form in which it is compared,
// resolved and dialled.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace glovebox::policy {

// An IPv4 or IPv6 address in network byte order.
struct IpAddress {
  bool v4 = true;
  std::array<std::uint8_t, 16> bytes = {};  // an IPv4 address has the first four

  // The usual text and no other: four decimal numbers without leading zeros, or IPv6 as RFC 4291
  // has it, without brackets, zone or an IPv4 tail that maps or embeds another address.
  static std::optional<IpAddress> Parse(std::string_view text);
  std::string Text() const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Who may be behind an address. Only kPublic is reached by the name of a host alone.
enum class AddressKind : std::uint8_t {
  kPublic,
  kUnspecified,
  kLoopback,
  kPrivate,  // RFC 1918, carrier-grade NAT, unique local
  kLinkLocal,
  kMetadata,  // where clouds hand out credentials
  kMulticast,
  kReserved,  // documentation, benchmarks, tunnels, what is assigned to nobody
};

// The address that another one carries (IPv4-mapped, NAT64, 6to4), or itself.
IpAddress Unwrapped(const IpAddress& address);

// Of the unwrapped address.
AddressKind KindOf(const IpAddress& address);
const char* NameOf(AddressKind kind);  // "loopback"

// A DNS name or an address literal.
struct NetworkHost {
  std::string name;                  // lower case, no trailing dot; of a literal, its only text
  std::optional<IpAddress> address;  // of a literal

  // Takes a name of ASCII labels (letters, digits, '-', '_'; other alphabets as punycode), at most
  // 253 characters, with at most one trailing dot; or a literal as IpAddress::Parse takes it, IPv6
  // in brackets. A name whose last label is a number is an address in disguise, and refused. The
  // message of an error is the rule that is broken.
  static Result<NetworkHost> Parse(std::string_view text);
  static NetworkHost Of(const IpAddress& address);

  // With brackets where a port could follow.
  std::string Text() const;

  friend bool operator==(const NetworkHost&, const NetworkHost&) = default;
};

// 1 to 65535, decimal digits without a leading zero.
std::optional<std::uint16_t> ParsePort(std::string_view text);

}  // namespace glovebox::policy
