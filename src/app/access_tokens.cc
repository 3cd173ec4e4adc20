#include "app/access_tokens.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <boost/asio/ip/address.hpp>

#include "base/file.h"
#include "base/text.h"

namespace glovebox {
namespace {

constexpr std::size_t kNameCharsMax = 64;
constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::string_view kHowToMakeOne = "; `openssl rand -hex 32` makes a good one";

// The token of "Bearer <token>"; nothing for another scheme. The scheme has no case (RFC 9110).
std::optional<std::string_view> BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  const bool bearer = std::equal(
      kScheme.begin(), kScheme.end(), authorization.begin(), [](char expected, char actual) {
        return expected == actual ||
               (actual >= 'A' && actual <= 'Z' && expected == actual - 'A' + 'a');
      });
  if (!bearer) return std::nullopt;
  return Trim(authorization.substr(kScheme.size()));
}

std::string_view Text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool IsVisibleAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

Status AccessTokens::Add(std::string name, std::string_view token) {
  if (token.size() < kTokenCharsMin) {
    return Error(Errc::kInvalidArgument,
                 "the token has " + std::to_string(token.size()) + " characters, fewer than " +
                     std::to_string(kTokenCharsMin) + std::string(kHowToMakeOne));
  }
  if (!IsVisibleAscii(token)) {
    return Error(Errc::kInvalidArgument, "the token has characters that a header cannot carry" +
                                             std::string(kHowToMakeOne));
  }
  const Digest digest = Sha256Of(token);
  for (const Token& other : tokens_) {
    if (other.name == name) return Error(Errc::kInvalidArgument, "the name is there twice");
    if (other.digest == digest) {
      return Error(Errc::kInvalidArgument, "the token is that of '" + other.name + "', too");
    }
  }
  if (tokens_.size() == kTokensMax) {
    return Error(Errc::kLimit, "more than " + std::to_string(kTokensMax) + " tokens");
  }
  tokens_.push_back({std::move(name), digest});
  return {};
}

Status AccessTokens::AddFile(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return Error::FromErrno("token file " + path, errno);
  if ((status.st_mode & S_IROTH) != 0) {
    return Error(Errc::kInvalidArgument, "token file " + path +
                                             " can be read by every user of this machine: chmod "
                                             "o-r it");
  }
  const std::optional<std::string> text = ReadFile(path);
  if (!text) return Error::FromErrno("reading token file " + path, errno);
  int number = 0;
  for (std::string_view line : Split(*text, '\n')) {
    ++number;
    line = Trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = "token file " + path + ", line " + std::to_string(number);
    const std::size_t blank = line.find_first_of(" \t");
    const std::string_view name = line.substr(0, blank);
    const bool well_named = name.size() <= kNameCharsMax &&
                            name.find_first_not_of(kNameCharacters) == std::string_view::npos;
    if (blank == std::string_view::npos || !well_named) {
      return Error(
          Errc::kInvalidArgument,
          where + ": must be a name of letters, digits, '.', '_', '-', a blank, and a token");
    }
    if (Status added = Add(std::string(name), Trim(line.substr(blank))); !added) {
      return std::move(added).error().Within(where);
    }
  }
  if (tokens_.empty()) {
    return Error(Errc::kInvalidArgument, "token file " + path + " holds no token");
  }
  return {};
}

Result<AccessTokens> AccessTokens::Load(const ServeSettings& settings) {
  AccessTokens tokens;
  if (!settings.api_token.empty()) {
    if (Status added = tokens.Add("api-token", settings.api_token); !added) {
      return std::move(added).error().Within("SANDBOX_API_TOKEN");
    }
  }
  if (!settings.token_file.empty()) TRY(tokens.AddFile(settings.token_file));
  return tokens;
}

std::optional<std::string> AccessTokens::Authenticate(const HttpRequest& head) const {
  const auto authorization = head.Header("authorization");
  if (!authorization || head.CountHeader("authorization") > 1) return std::nullopt;
  const auto presented = BearerToken(*authorization);
  if (!presented) return std::nullopt;
  const Digest digest = Sha256Of(*presented);
  const Token* owner = nullptr;
  for (const Token& token : tokens_) {  // all of them: the time must not tell which
    if (EqualInConstantTime(Text(token.digest), Text(digest))) owner = &token;
  }
  return owner != nullptr ? std::optional(owner->name) : std::nullopt;
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost") return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  return !error && address.is_loopback();
}

Status CheckListening(const ServeSettings& settings, const AccessTokens& tokens) {
  if (IsLoopback(settings.host) || !tokens.empty()) return {};
  return Error(
      Errc::kInvalidArgument,
      "listening on " + settings.host +
          " needs a token of at least 32 characters: set SANDBOX_API_TOKEN or --token-file, "
          "or listen on 127.0.0.1" +
          std::string(kHowToMakeOne));
}

}  // namespace glovebox
