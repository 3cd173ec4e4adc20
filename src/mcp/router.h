#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include "mcp/call.h"
#include "mcp/protocol.h"

namespace glovebox::mcp {

// Method name -> typed handler. Filled at start, then read by any number of sessions: what belongs
// to one session travels in the Call. The methods of the session itself (initialize, ping and the
// notifications about requests) are not here.
class Router {
 public:
  using RawHandler = std::function<void(const boost::json::object& params, std::shared_ptr<Call>)>;

  // Params that do not parse are answered with -32602 and never reach `handler`.
  template <typename Params, typename ResultType>
  void Handle(std::string_view method, std::function<void(Params, Responder<ResultType>)> handler) {
    Add(method, [handler = std::move(handler)](const boost::json::object& json_params,
                                               std::shared_ptr<Call> call) {
      auto params = ParamsFromJson<Params>(json_params);
      if (!params) return call->Fail(ToRpcError(params.error()));
      handler(std::move(params).value(), Responder<ResultType>(std::move(call)));
    });
  }

  // Null when nobody handles `method`.
  const RawHandler* Find(std::string_view method) const;

 private:
  void Add(std::string_view method, RawHandler handler);

  std::map<std::string, RawHandler, std::less<>> handlers_;
};

}  // namespace glovebox::mcp
