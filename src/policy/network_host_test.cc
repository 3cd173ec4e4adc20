#include "policy/network_host.h"

#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

TEST(NetworkHost, HasOneForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"example.org", "example.org"},   {"EXAMPLE.Org", "example.org"},
      {"example.org.", "example.org"},  {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"a_b.example", "a_b.example"},   {"10.1.2.3", "10.1.2.3"},
      {"[2001:DB8::1]", "2001:db8::1"}, {"[0:0:0:0:0:0:0:1]", "::1"},
  };
  for (const auto& [text, name] : cases) {
    const auto host = NetworkHost::Parse(text);
    ASSERT_TRUE(host.ok()) << text << ": " << host.error().message();
    EXPECT_EQ(host->name, name);
  }
}

TEST(NetworkHost, RefusesWhatCouldBeReadInTwoWays) {
  using namespace std::string_view_literals;
  const std::string_view cases[] = {
      "",
      ".",
      "a..b",
      "-a.example",
      "a-.example",
      "exa mple",
      "a@b",
      "a%2eb",
      "a\0.example"sv,
      "b\xc3\xbc"
      "cher.example",
      "127.1",
      "127.0.0.01",
      "0177.0.0.1",
      "0x7f.0.0.1",
      "0x7f000001",
      "2130706433",
      "1.2.3.256",
      "1.2.3.4.",
      "1.2.3.4.5",
      "example.123",
      "[::1",
      "[::1%lo]",
      "[::ffff:1.2.3.4]",
      "[::1.2.3.4]",
      "::1",
      "[64:ff9b::7f00:1]",
      "[127.0.0.1]",
      "a/b",
      "a:1",
      "a?b",
      "a\\b",
      "a\nb",
  };
  for (const std::string_view text : cases) {
    EXPECT_FALSE(NetworkHost::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(NetworkHost::Parse(std::string(64, 'a') + ".example").ok());
  std::string longest;
  while (longest.size() < 260) longest += "abcdefg.";
  EXPECT_FALSE(NetworkHost::Parse(longest + "org").ok());
}

TEST(IpAddress, KnowsWhoMayBeBehindIt) {
  const std::pair<const char*, AddressKind> cases[] = {
      {"8.8.8.8", AddressKind::kPublic},
      {"127.0.0.1", AddressKind::kLoopback},
      {"127.255.255.254", AddressKind::kLoopback},
      {"0.0.0.0", AddressKind::kUnspecified},
      {"10.0.0.1", AddressKind::kPrivate},
      {"172.15.255.255", AddressKind::kPublic},
      {"172.16.0.1", AddressKind::kPrivate},
      {"172.31.255.255", AddressKind::kPrivate},
      {"172.32.0.1", AddressKind::kPublic},
      {"192.168.1.1", AddressKind::kPrivate},
      {"100.64.0.1", AddressKind::kPrivate},
      {"100.128.0.1", AddressKind::kPublic},
      {"169.254.169.254", AddressKind::kMetadata},
      {"169.254.1.1", AddressKind::kLinkLocal},
      {"168.63.129.16", AddressKind::kMetadata},
      {"224.0.0.1", AddressKind::kMulticast},
      {"255.255.255.255", AddressKind::kReserved},
      {"198.19.0.1", AddressKind::kReserved},
      {"::1", AddressKind::kLoopback},
      {"::", AddressKind::kUnspecified},
      {"fe80::1", AddressKind::kLinkLocal},
      {"fd12::1", AddressKind::kPrivate},
      {"fd00:ec2::254", AddressKind::kMetadata},
      {"ff02::1", AddressKind::kMulticast},
      {"2606:4700::1111", AddressKind::kPublic},
      {"2001:db8::1", AddressKind::kReserved},
      {"2001::1", AddressKind::kReserved},
      {"4000::1", AddressKind::kReserved},
  };
  for (const auto& [text, kind] : cases) {
    const auto address = IpAddress::Parse(text);
    ASSERT_TRUE(address.has_value()) << text;
    EXPECT_EQ(NameOf(KindOf(*address)), NameOf(kind)) << text;
    EXPECT_EQ(address->Text(), text);
  }
}

TEST(IpAddress, LooksIntoAddressesThatCarryOthers) {
  const auto carrier = [](std::initializer_list<std::uint8_t> bytes) {
    IpAddress address;
    address.v4 = false;
    std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
    return address;
  };
  EXPECT_EQ(KindOf(carrier({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1})),
            AddressKind::kLoopback);
  EXPECT_EQ(KindOf(carrier({0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 169, 254, 169, 254})),
            AddressKind::kMetadata);
  EXPECT_EQ(KindOf(carrier({0x20, 0x02, 10, 0, 0, 1})), AddressKind::kPrivate);
  EXPECT_EQ(KindOf(carrier({0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8})),
            AddressKind::kPublic);
}

TEST(ParsePort, TakesPlainNumbersAlone) {
  EXPECT_EQ(ParsePort("443"), 443);
  EXPECT_EQ(ParsePort("65535"), 65535);
  for (const char* text : {"", "0", "080", "65536", "+80", "80 ", "8o", "0x50", "100000"}) {
    EXPECT_FALSE(ParsePort(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace glovebox::policy
