#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include "mcp/call.h"
#include "mcp/params.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// In which era a method exists.
enum class Eras : std::uint8_t { kBoth, kLegacy, kModern };

// Method name -> typed handler. Filled at start, then read by all connections: what belongs to one
// client travels in the Call. The methods of a legacy session itself (initialize, ping,
// logging/setLevel and the notifications about requests) are not here.
class Router {
 public:
  using RawHandler = std::function<void(const boost::json::object& params, std::shared_ptr<Call>)>;

  // Params that do not parse are answered with -32602 and never reach `handler`. A handler may be
  // run several times for one request (Call::NeedInput).
  template <typename Params, typename ResultType>
  void Handle(std::string_view method, std::function<void(Params, Responder<ResultType>)> handler,
              Eras eras = Eras::kBoth) {
    Add(method, eras,
        [handler = std::move(handler)](const boost::json::object& json_params,
                                       std::shared_ptr<Call> call) {
          auto params = ParamsFromJson<Params>(json_params);
          if (!params) return call->Fail(ToRpcError(params.error()));
          handler(std::move(params).value(), Responder<ResultType>(std::move(call)));
        });
  }

  // Null when nobody handles `method` in that revision.
  const RawHandler* Find(std::string_view method, ProtocolVersion version) const;

 private:
  struct Entry {
    Eras eras;
    RawHandler handler;
  };
  void Add(std::string_view method, Eras eras, RawHandler handler);

  std::map<std::string, Entry, std::less<>> handlers_;
};

}  // namespace glovebox::mcp
