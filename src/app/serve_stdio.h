#pragma once

#include "app/configuration.h"
#include "app/log.h"
#include "base/result.h"

namespace glovebox {

// Serves one client on standard input and output until it closes its end, or SIGTERM or SIGINT
// comes. An error when the server could not start or lost its client.
Status ServeStdio(const Configuration& configuration, const Log& log);

}  // namespace glovebox
