#pragma once

#include <string>

#include "base/result.h"
#include "policy/profile_offer.h"
#include "python/wire/language.h"

namespace glovebox {

// What a command line's --profile stands for. Every profile may be named there: which of them
// callers may choose is the business of a server.
struct CommandProfile {
  policy::ProfileChoice choice;
  wire::LanguagePolicy language;
};

// kInvalidArgument is a sentence that begins with the name of the flag.
Result<CommandProfile> ChooseCommandProfile(const std::string& name);

}  // namespace glovebox
