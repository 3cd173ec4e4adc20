#pragma once

#include "app/configuration.h"
#include "app/log.h"
#include "base/result.h"

namespace glovebox {

// Serves any number of clients over HTTP until SIGTERM or SIGINT comes: then it takes no new ones,
// lets running requests finish within the drain time, and returns. A second signal ends it at once.
// An error when it could not start: a token is missing, the address is taken, no box can be built.
Status ServeHttp(const Configuration& configuration, const Log& log);

}  // namespace glovebox
