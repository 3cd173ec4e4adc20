#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/profile_offer.h"
#include "python/wire/language.h"

namespace glovebox {

// What a call chose, in the form that a request takes.
struct ChosenProfile {
  policy::ProfileChoice choice;
  wire::LanguagePolicy language;
};

// The choices of an offer. What a call gets that names one profile, or none, is worked out when the
// table is made; only other combinations cost a call anything. Safe from any thread.
class ProfileTable {
 public:
  explicit ProfileTable(policy::ProfileOffer offer);

  const policy::ProfileOffer& offer() const { return offer_; }

  // As ProfileOffer::Choose. Never null.
  Result<std::shared_ptr<const ChosenProfile>> Choose(
      std::string_view profile, const std::vector<std::string>& allowed_imports) const;

 private:
  const policy::ProfileOffer offer_;
  std::map<std::string, std::shared_ptr<const ChosenProfile>, std::less<>> worked_out_;
};

}  // namespace glovebox
