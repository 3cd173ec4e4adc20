#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/serve_settings.h"
#include "base/digest.h"
#include "base/result.h"
#include "transport/http_server.h"

namespace glovebox {

// The bearer tokens of a server and whose they are. Keeps digests, not tokens.
class AccessTokens {
 public:
  static constexpr std::size_t kTokenCharsMin = 32;
  static constexpr std::size_t kTokensMax = 10'000;

  // SANDBOX_API_TOKEN under the name "api-token", and those of the token file. Errors say which
  // token or line breaks which rule, and how to mend it; never a token itself.
  static Result<AccessTokens> Load(const ServeSettings& settings);

  bool empty() const { return tokens_.empty(); }

  // Whose token the request bears (Authorization: Bearer ...); nothing when it has none, a wrong
  // one, or more than one. Takes the same time whichever token is right, and whether one is.
  std::optional<std::string> Authenticate(const HttpRequest& head) const;

 private:
  struct Token {
    std::string name;
    Digest digest;
  };

  Status Add(std::string name, std::string_view token);
  Status AddFile(const std::string& path);

  std::vector<Token> tokens_;
};

// Whether only this machine can reach a server on `host`: localhost, 127.0.0.0/8, ::1.
bool IsLoopback(std::string_view host);

// The rule for listening: loopback, or a token. The error is one sentence with the way out.
Status CheckListening(const ServeSettings& settings, const AccessTokens& tokens);

}  // namespace glovebox
