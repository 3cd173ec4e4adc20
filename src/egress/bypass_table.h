#pragma once

#include <string>
#include <vector>

namespace glovebox::egress {

// What a row must come to.
enum class Bypass {
  kNothingGoesOn,    // no server hears a byte
  kOneCleanRequest,  // the allowed server hears one request, and nothing of what was hidden in it
};

// A way past the policy that somebody might try. In `parts`, which are sent one after the other's
// answer: ${A} is the port of the allowed server, at which http is spoken, ${T} that for TLS, ${O}
// one for anything, ${S} a port that no rule names.
struct BypassRow {
  const char* what;
  std::vector<std::string> parts;
  Bypass expected = Bypass::kNothingGoesOn;
};

// Under these rules, where allowed.example, tls.example, open.example and www.wild.example lead to
// 127.0.0.1: allowed.example:${A}, tls.example:${T}, open.example:${O}, *.wild.example:${A},
// 127.0.0.1:${A}, 127.0.0.1:${T}, 127.0.0.1:${O} and names that lead where no rule allows.
std::vector<BypassRow> BypassTable();

}  // namespace glovebox::egress
