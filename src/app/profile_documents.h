#pragma once

#include <string>

namespace glovebox {

// docs/profiles.md: one table per profile, from policies/profiles.
std::string ProfilesManual();

}  // namespace glovebox
