#include "egress/bypass_table.h"

#include "egress/hello_fixture.h"

namespace glovebox::egress {
namespace {

using namespace std::string_literals;

const std::string kNul(1, '\0');

std::string Get(const std::string& authority) {
  return "GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
}

// Two bytes in the end: "${P:S}" becomes the port of ${S} in network order.
std::string PortMark(const std::string& port) { return "${P:" + port + "}"; }

std::string Socks(char type, const std::string& address, const std::string& port) {
  return "\x05\x01"s + kNul + type + address + PortMark(port);
}

std::string SocksName(const std::string& name, const std::string& port) {
  return Socks(3, static_cast<char>(name.size()) + name, port);
}

}  // namespace

std::vector<BypassRow> BypassTable() {
  return {
      {"an address at a port that no rule names", {Get("127.0.0.1:${S}")}},
      {"a shortened address", {Get("127.1:${A}")}},
      {"an address of three parts", {Get("127.0.1:${A}")}},
      {"a decimal address", {Get("2130706433:${A}")}},
      {"a hexadecimal address", {Get("0x7f000001:${A}")}},
      {"an octal address", {Get("017700000001:${A}")}},
      {"an address with an octal part", {Get("0177.0.0.1:${A}")}},
      {"an address with a hexadecimal part", {Get("0x7f.0.0.1:${A}")}},
      {"an address with leading zeros", {Get("127.000.000.001:${A}")}},
      {"an address with a trailing dot", {Get("127.0.0.1.:${A}")}},
      {"an address that overflows", {Get("383.0.0.1:${A}")}},
      {"another address of the same host", {Get("127.0.0.2:${A}")}},
      {"the unspecified address", {Get("0.0.0.0:${A}")}},
      {"the unspecified address, short", {Get("0:${A}")}},
      {"IPv6 loopback", {Get("[::1]:${A}")}},
      {"IPv6 loopback in full", {Get("[0:0:0:0:0:0:0:1]:${A}")}},
      {"IPv6 unspecified", {Get("[::]:${A}")}},
      {"an IPv4-mapped address", {Get("[::ffff:127.0.0.1]:${A}")}},
      {"an IPv4-mapped address in hexadecimal", {Get("[::ffff:7f00:1]:${A}")}},
      {"an IPv4-compatible address", {Get("[::127.0.0.1]:${A}")}},
      {"an IPv4-translated address", {Get("[::ffff:0:127.0.0.1]:${A}")}},
      {"an address by NAT64", {Get("[64:ff9b::7f00:1]:${A}")}},
      {"an address by 6to4", {Get("[2002:7f00:1::]:${A}")}},
      {"an address with a zone", {Get("[::1%25lo]:${A}")}},
      {"IPv4 in brackets", {Get("[127.0.0.1]:${A}")}},
      {"IPv6 without brackets", {Get("::1:${A}")}},
      {"a bracket that does not close", {Get("[::1:${A}")}},
      {"an address in circled digits", {Get("\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1:${A}")}},
      {"cloud metadata", {Get("169.254.169.254")}},
      {"cloud metadata over IPv6", {Get("[fd00:ec2::254]")}},
      {"cloud metadata in decimal", {Get("2852039166")}},
      {"a name that leads to loopback", {Get("loopback.example:${S}")}},
      {"a name that leads to a private address", {Get("private.example:${S}")}},
      {"a name that leads to cloud metadata", {Get("metadata.example:${S}")}},
      {"a name that leads to link-local", {Get("linklocal.example:${S}")}},
      {"a name that leads to IPv6 loopback", {Get("loopback6.example:${S}")}},
      {"a name that leads to a mapped address", {Get("mapped.example:${S}")}},
      {"a name that leads to NAT64 of metadata", {Get("nat64.example:${S}")}},
      {"a name that leads to this host's own address", {Get("own.example:${S}")}},
      {"a name at a port that no rule names", {Get("allowed.example:${S}")}},
      {"a name with more in front", {Get("notallowed.example:${A}")}},
      {"a name with more behind", {Get("allowed.example.evil.example:${A}")}},
      {"a name below one that is allowed", {Get("x.allowed.example:${A}")}},
      {"the name that a wildcard is below", {Get("wild.example:${A}")}},
      {"a name that ends like a wildcard's", {Get("evilwild.example:${A}")}},
      {"a wildcard as a name", {Get("*.wild.example:${A}")}},
      {"two trailing dots", {Get("allowed.example..:${A}")}},
      {"a leading dot", {Get(".allowed.example:${A}")}},
      {"an empty label", {Get("allowed..example:${A}")}},
      {"a user name before the host", {Get("allowed.example@127.0.0.1:${S}")}},
      {"an allowed host as a user name", {Get("allowed.example:${A}@evil.example:${A}")}},
      {"a user name before an allowed host", {Get("x@allowed.example:${A}")}},
      {"a backslash between hosts", {Get("evil.example\\@allowed.example:${A}")}},
      {"a fragment between hosts", {Get("evil.example#@allowed.example:${A}")}},
      {"a percent sign in the name", {Get("allow%65d.example:${A}")}},
      {"an encoded NUL", {Get("allowed.example%00.evil.example:${A}")}},
      {"an encoded dot", {Get("allowed%2eexample:${A}")}},
      {"a full-width dot",
       {Get("allowed\xe3\x80\x82"
            "example:${A}")}},
      {"a name in another alphabet", {Get("\xd0\xb0llowed.example:${A}")}},
      {"punycode of a look-alike", {Get("xn--llowed-2ve.example:${A}")}},
      {"a tab in the name", {Get("allowed.example\t:${A}")}},
      {"a space in the name", {Get("allowed.example .evil.example:${A}")}},
      {"no host", {Get(":${A}")}},
      {"a port that is no number", {Get("allowed.example:${A}x")}},
      {"a port with a sign", {Get("allowed.example:+${A}")}},
      {"a port with leading zeros", {Get("allowed.example:0${A}")}},
      {"a port that overflows", {Get("allowed.example:70000")}},
      {"an empty port", {Get("allowed.example:")}},
      {"a NUL in the name",
       {"GET http://allowed.example"s + kNul + ".evil.example:${A}/ HTTP/1.1\r\nHost: x\r\n\r\n"}},
      {"a name that is too long", {Get(std::string(250, 'a') + ".allowed.example:${A}")}},
      {"a label that is too long", {Get(std::string(64, 'a') + ".wild.example:${A}")}},
      {"a Host header of another host",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"}},
      {"a Host header of another port",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${S}\r\n\r\n"}},
      {"two Host headers",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nHost: "
        "allowed.example:${A}\r\n\r\n"}},
      {"two Host headers that differ",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nHost: "
        "evil.example\r\n\r\n"}},
      {"no Host header", {"GET http://allowed.example:${A}/ HTTP/1.1\r\n\r\n"}},
      {"a Host header with a user name",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: x@allowed.example:${A}\r\n\r\n"}},
      {"a Host header with a blank before its colon",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost : allowed.example:${A}\r\n\r\n"}},
      {"a folded Host header",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost:\r\n allowed.example:${A}\r\n\r\n"}},
      {"a folded header",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nX: a\r\n "
        "b\r\n\r\n"}},
      {"a Host header with a comma",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}, "
        "evil.example\r\n\r\n"}},
      {"length and coding",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 4\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\nGET /SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"coding and length",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: chunked\r\nContent-Length: "
        "4\r\n\r\n0\r\n\r\nGET /SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"two lengths",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\n0\r\n\r\nGET "
        "/SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"the same length twice",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET "
        "/SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"a list of lengths",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 4, 4\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"a length with a sign",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: +4\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"a length in hexadecimal",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 0x4\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"a length that overflows",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 18446744073709551620\r\n\r\n0\r\n\r\nGET "
        "/SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"an unknown coding",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"two codings",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"two headers of codings",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "identity\r\n\r\n0\r\n\r\nGET /SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"a coding with a blank before its colon",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"a coding with a vertical tab",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding:\x0b"
        "chunked\r\n\r\n0\r\n\r\nGET /SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"a coding in HTTP/1.0",
       {"POST http://allowed.example:${A}/ HTTP/1.0\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /SMUGGLED "
        "HTTP/1.1\r\n\r\n"}},
      {"lines that end with LF",
       {"GET http://allowed.example:${A}/ HTTP/1.1\nHost: allowed.example:${A}\n\n"}},
      {"a head that ends with LF LF",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\n\n"}},
      {"a bare CR in a header",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nX: a\rGET "
        "/SMUGGLED\r\n\r\n"}},
      {"a NUL in a header",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nX: a"s + kNul +
        "\r\n\r\n"}},
      {"a header without a name",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n: x\r\n\r\n"}},
      {"a header without a colon",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nSMUGGLED\r\n\r\n"}},
      {"Connection names the length",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 4\r\nConnection: "
        "Content-Length\r\n\r\n0\r\n\r\nGET /SMUGGLED HTTP/1.1\r\n\r\n"}},
      {"Connection names the host",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nConnection: "
        "host\r\n\r\n"}},
      {"another version",
       {"GET http://allowed.example:${A}/ HTTP/1.2\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"the preface of HTTP/2", {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}},
      {"a request without a version", {"GET http://allowed.example:${A}/\r\n\r\n"}},
      {"a blank too many",
       {"GET  http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"a tab for a blank",
       {"GET\thttp://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"a method in lower case",
       {"get http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"TRACE",
       {"TRACE http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"a request in origin form", {"GET / HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"a request in asterisk form", {"OPTIONS * HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"another scheme",
       {"GET ftp://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"https without a tunnel",
       {"GET https://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"no scheme", {"GET allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"a second request in the same packet",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\nGET "
        "http://127.0.0.1:${S}/SMUGGLED HTTP/1.1\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"a second request behind a body",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nContent-Length: 2\r\n\r\nokGET /SMUGGLED HTTP/1.1\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"a second request behind chunks",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nGET "
        "/SMUGGLED HTTP/1.1\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"something in a chunk's extension",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: chunked\r\n\r\n2;SMUGGLED\r\nok\r\n0\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"something in a trailer",
       {"POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
        "allowed.example:${A}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nHost: "
        "SMUGGLED\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"an upgrade to HTTP/2",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nConnection: "
        "Upgrade, HTTP2-Settings\r\nUpgrade: SMUGGLED\r\nHTTP2-Settings: SMUGGLED\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"a header that Connection removes",
       {"GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\nConnection: "
        "X-Secret\r\nX-Secret: SMUGGLED\r\n\r\n"},
       Bypass::kOneCleanRequest},
      {"a tunnel without a port",
       {"CONNECT allowed.example HTTP/1.1\r\nHost: allowed.example\r\n\r\n"}},
      {"a tunnel to a port that no rule names",
       {"CONNECT allowed.example:${S} HTTP/1.1\r\nHost: allowed.example:${S}\r\n\r\n"}},
      {"a tunnel to an address that no rule names",
       {"CONNECT 127.0.0.1:${S} HTTP/1.1\r\nHost: 127.0.0.1:${S}\r\n\r\n"}},
      {"a tunnel to a shortened address",
       {"CONNECT 127.1:${O} HTTP/1.1\r\nHost: 127.1:${O}\r\n\r\n"}},
      {"a tunnel with a user name",
       {"CONNECT x@open.example:${O} HTTP/1.1\r\nHost: x@open.example:${O}\r\n\r\n"}},
      {"a tunnel to a URL",
       {"CONNECT http://open.example:${O}/ HTTP/1.1\r\nHost: http://open.example:${O}/\r\n\r\n"}},
      {"a tunnel to a name that a NUL follows",
       {"CONNECT open.example%00:${O} HTTP/1.1\r\nHost: open.example%00:${O}\r\n\r\n"}},
      {"a tunnel to an allowed name's subdomain",
       {"CONNECT x.open.example:${O} HTTP/1.1\r\nHost: x.open.example:${O}\r\n\r\n"}},
      {"a tunnel with another Host header",
       {"CONNECT open.example:${O} HTTP/1.1\r\nHost: evil.example:${O}\r\n\r\n"}},
      {"a tunnel with a body",
       {"CONNECT open.example:${O} HTTP/1.1\r\nHost: open.example:${O}\r\nContent-Length: "
        "3\r\n\r\nabc"}},
      {"HTTP to another host in a tunnel",
       {"CONNECT allowed.example:${A} HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"}},
      {"a tunnel in a tunnel",
       {"CONNECT allowed.example:${A} HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n",
        "CONNECT 127.0.0.1:${S} HTTP/1.1\r\nHost: 127.0.0.1:${S}\r\n\r\n"}},
      {"an absolute request in a tunnel",
       {"CONNECT allowed.example:${A} HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"}},
      {"TLS where HTTP is spoken",
       {"CONNECT allowed.example:${A} HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n",
        HelloFor("allowed.example")}},
      {"another protocol where HTTP is spoken",
       {"CONNECT allowed.example:${A} HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n",
        "SSH-2.0-SMUGGLED\r\n\r\n"}},
      {"TLS that names another server",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        HelloFor("evil.example")}},
      {"TLS that names a subdomain",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        HelloFor("x.tls.example")}},
      {"TLS that names nobody",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        InRecords(HelloMessage({}))}},
      {"TLS that names two servers",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        InRecords(HelloMessage(
            {{0, ServerNameData("tls.example")}, {0, ServerNameData("evil.example")}}))}},
      {"TLS that hides its server",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        InRecords(HelloMessage({{0, ServerNameData("tls.example")}, {0xfe0d, "x"}}))}},
      {"TLS that names a server with a dot",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        HelloFor("tls.example.")}},
      {"TLS that names a server with a NUL",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        HelloFor("tls.example"s + kNul + ".evil.example")}},
      {"TLS in small records to another server",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        InRecords(HelloMessage({{0, ServerNameData("evil.example")}}), 3)}},
      {"HTTP where TLS is spoken",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: tls.example\r\n\r\n"}},
      {"SSH where TLS is spoken",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        "SSH-2.0-SMUGGLED\r\n"}},
      {"SSL 2 where TLS is spoken",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        "\x80\x2e\x01\x00\x02" + std::string(41, 'x')}},
      {"TLS that is not a greeting",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        InRecords("\x02" + Prefixed("hello", 3))}},
      {"application data where a greeting stands",
       {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
        "\x17\x03\x03" + Prefixed("SMUGGLED", 2)}},
      {"TLS to another server where anything is spoken",
       {"CONNECT open.example:${O} HTTP/1.1\r\nHost: open.example:${O}\r\n\r\n",
        HelloFor("evil.example")}},
      {"TLS to a literal that names a server",
       {"CONNECT 127.0.0.1:${T} HTTP/1.1\r\nHost: 127.0.0.1:${T}\r\n\r\n",
        HelloFor("evil.example")}},
      {"SOCKS to an address that no rule names",
       {"\x05\x01"s + kNul, Socks(1, "\x7f\x00\x00\x01"s, "${S}")}},
      {"SOCKS to a name that no rule names",
       {"\x05\x01"s + kNul, SocksName("evil.example", "${O}")}},
      {"SOCKS to a name with a NUL",
       {"\x05\x01"s + kNul, SocksName("open.example"s + kNul, "${O}")}},
      {"SOCKS to a name with a NUL and more",
       {"\x05\x01"s + kNul, SocksName("open.example"s + kNul + ".evil.example", "${O}")}},
      {"SOCKS to an address as a name", {"\x05\x01"s + kNul, SocksName("127.1", "${O}")}},
      {"SOCKS to an IPv6 address as a name", {"\x05\x01"s + kNul, SocksName("[::1]", "${O}")}},
      {"SOCKS to a mapped address",
       {"\x05\x01"s + kNul, Socks(4, std::string(10, '\0') + "\xff\xff\x7f\x00\x00\x01"s, "${O}")}},
      {"SOCKS to IPv6 loopback",
       {"\x05\x01"s + kNul, Socks(4, std::string(15, '\0') + "\x01", "${O}")}},
      {"SOCKS to port 0", {"\x05\x01"s + kNul, SocksName("open.example", "0")}},
      {"SOCKS to an empty name", {"\x05\x01"s + kNul, SocksName("", "${O}")}},
      {"SOCKS with BIND",
       {"\x05\x01"s + kNul, "\x05\x02"s + SocksName("open.example", "${O}").substr(2)}},
      {"SOCKS with UDP",
       {"\x05\x01"s + kNul, "\x05\x03"s + SocksName("open.example", "${O}").substr(2)}},
      {"SOCKS with an unknown type", {"\x05\x01"s + kNul, Socks(9, "\x7f\x00\x00\x01"s, "${O}")}},
      {"SOCKS and HTTP to another host",
       {"\x05\x01"s + kNul,
        SocksName("allowed.example", "${A}") + "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"}},
      {"SOCKS and TLS to another server",
       {"\x05\x01"s + kNul, SocksName("tls.example", "${T}") + HelloFor("evil.example")}},
      {"SOCKS with a password alone", {"\x05\x01\x02", SocksName("open.example", "${O}")}},
      {"SOCKS 4", {"\x04\x01" + PortMark("${O}") + "\x7f\x00\x00\x01"s + kNul}},
      {"SOCKS 4 with a name",
       {"\x04\x01" + PortMark("${O}") + "\x00\x00\x00\x01"s + kNul + "open.example" + kNul}},
  };
}

}  // namespace glovebox::egress
