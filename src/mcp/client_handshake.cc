#include "mcp/client_handshake.h"

#include <algorithm>
#include <utility>

#include <boost/json/array.hpp>

#include "mcp/modern_names.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

// The `supported` list of -32022; empty when there is none.
std::vector<std::string> SupportedVersions(const RpcError& error) {
  std::vector<std::string> names;
  const json::object* data = error.data ? error.data->if_object() : nullptr;
  const json::value* list = data != nullptr ? data->if_contains("supported") : nullptr;
  if (list == nullptr || !list->is_array()) return names;
  for (const json::value& name : list->get_array()) {
    if (name.is_string()) names.emplace_back(name.get_string());
  }
  return names;
}

bool IsLegacyName(const std::string& name) {
  const auto version = VersionFromName(name);
  return version && !IsModern(*version);
}

}  // namespace

ClientHandshake::ClientHandshake(ClientCore& core, EraChoice era, Done done)
    : core_(core), era_(era), done_(std::move(done)), timer_(core.executor()) {}

void ClientHandshake::Start() {
  if (era_ == EraChoice::kLegacy) return Initialize();
  Discover();
}

bool ClientHandshake::MayBeginAgain() const {
  return stage_ == Stage::kDiscover && era_ == EraChoice::kAuto;
}

void ClientHandshake::Discover() {
  stage_ = Stage::kDiscover;
  core_.Speak(kModernVersion);
  id_ = core_.Send({.method = "server/discover",
                    .on_answer = [self = shared_from_this()](const ClientCore::Answer& answer) {
                      self->OnDiscovered(answer);
                    }});
  const ClientOptions& options = core_.options();
  const auto time = era_ == EraChoice::kAuto ? options.probe_time_max : options.handshake_time_max;
  Limit(time, [this, time] {
    // A legacy server must hear nothing before initialize, so it is not told.
    core_.Withdraw(id_, "");
    FallBack(Error(Errc::kLimit, "no answer to server/discover in " + DurationText(time)));
  });
}

void ClientHandshake::OnDiscovered(const ClientCore::Answer& answer) {
  if (const auto* failure = std::get_if<ClientChannel::Failure>(&answer)) {
    const bool says_nothing = failure->http_status == 401 || failure->http_status == 403;
    const bool unreachable = failure->error.code() == Errc::kSystem && failure->http_status == 0;
    if (says_nothing || unreachable) return Finish(failure->error);
    return FallBack(failure->error);
  }
  if (const auto* error = std::get_if<RpcError>(&answer)) {
    if (error->code == kHeaderMismatch || error->code == kMissingClientCapability) {
      return Finish(ToError(*error));
    }
    if (error->code == kUnsupportedVersion) {
      const auto names = SupportedVersions(*error);
      if (!names.empty() && std::none_of(names.begin(), names.end(), IsLegacyName)) {
        return Finish(Error(Errc::kUnsupported, "the server speaks only protocol version " +
                                                    Quoted(names.front()) +
                                                    ", which this client does not"));
      }
    }
    return FallBack(ToError(*error));
  }
  const auto& result = std::get<json::object>(answer);
  auto discovered = ResultFromJson<DiscoverResult>(result);
  if (!discovered.ok()) return FallBack(discovered.error());
  const auto& versions = discovered->supported_versions;
  if (std::find(versions.begin(), versions.end(), kModernVersion) == versions.end()) {
    return FallBack(Error(Errc::kUnsupported, "the server does not speak protocol version " +
                                                  std::string(VersionName(kModernVersion))));
  }
  auto capabilities = ServerCapabilitiesFromJson(discovered->capabilities);
  if (!capabilities.ok()) return Finish(std::move(capabilities).error());
  core_.channel().Adopt(kModernVersion);
  Finish(ServerDescription{kModernVersion, ServerInfoFromMeta(result),
                           std::move(discovered->instructions), *capabilities,
                           std::move(discovered->capabilities)});
}

void ClientHandshake::FallBack(const Error& reason) {
  if (era_ == EraChoice::kAuto) return Initialize();
  Finish(Error(reason).Within("this is no server of protocol version " +
                              std::string(VersionName(kModernVersion))));
}

void ClientHandshake::Initialize() {
  stage_ = Stage::kInitialize;
  core_.Speak(kNewestLegacyVersion);
  id_ = core_.Send({.method = "initialize",
                    .params = {{"protocolVersion", VersionName(kNewestLegacyVersion)},
                               {"capabilities", ToJson(core_.capabilities(), kNewestLegacyVersion)},
                               {"clientInfo", ToJson(core_.options().info, kNewestLegacyVersion)}},
                    .on_answer = [self = shared_from_this()](const ClientCore::Answer& answer) {
                      self->OnInitialized(answer);
                    }});
  const auto time = core_.options().handshake_time_max;
  Limit(time, [this, time] {
    core_.Withdraw(id_, "");
    Finish(Error(Errc::kLimit, "no answer to initialize in " + DurationText(time)));
  });
}

void ClientHandshake::OnInitialized(const ClientCore::Answer& answer) {
  if (const auto* failure = std::get_if<ClientChannel::Failure>(&answer)) {
    return Finish(failure->error);
  }
  if (const auto* error = std::get_if<RpcError>(&answer)) {
    return Finish(ToError(*error).Within("initialize"));
  }
  auto welcome = ResultFromJson<InitializeResult>(std::get<json::object>(answer));
  if (!welcome.ok()) return Finish(std::move(welcome).error().Within("initialize"));
  auto capabilities = ServerCapabilitiesFromJson(welcome->capabilities);
  if (!capabilities.ok()) return Finish(std::move(capabilities).error().Within("initialize"));
  stage_ = Stage::kConfirm;
  core_.Speak(welcome->protocol_version);
  core_.channel().Adopt(welcome->protocol_version);
  // Requests travel apart over HTTP: none may overtake this.
  core_.channel().Notify(
      "notifications/initialized", {},
      [weak = weak_from_this(),
       server = ServerDescription{welcome->protocol_version, std::move(welcome->server_info),
                                  std::move(welcome->instructions), *capabilities,
                                  std::move(welcome->capabilities)}] {
        if (const auto self = weak.lock()) self->Finish(server);
      });
}

void ClientHandshake::Limit(std::chrono::milliseconds time, std::function<void()> expired) {
  timer_.expires_after(time);
  timer_.async_wait(
      [weak = weak_from_this(), id = id_, expired = std::move(expired)](const auto& cancelled) {
        const auto self = weak.lock();
        // An expiry that was already under way when the answer came is none.
        if (cancelled || !self || self->id_ != id || self->stage_ == Stage::kConfirm) return;
        if (self->stage_ != Stage::kOver) expired();
      });
}

void ClientHandshake::Lose(const Error& reason) {
  if (stage_ != Stage::kOver) Finish(reason);
}

void ClientHandshake::Finish(Result<ServerDescription> server) {
  if (stage_ == Stage::kOver) return;
  stage_ = Stage::kOver;
  timer_.cancel();
  const auto self = shared_from_this();
  const auto done = std::exchange(done_, nullptr);
  done(std::move(server));
}

}  // namespace glovebox::mcp
