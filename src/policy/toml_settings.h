#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::policy {

// One value of a settings file.
struct TomlSetting {
  std::string key;   // with its table: `port` of [http] is "http.port"
  std::string text;  // a string as it is, a number as written, a list of strings joined by ","
  int line = 0;
};

// A TOML document of tables and plain values, flattened, in no promised order. kInvalidArgument
// names the line: what is not TOML, and values that no setting has (dates, floats, lists of other
// things than strings, strings with a comma in a list).
Result<std::vector<TomlSetting>> ReadTomlSettings(std::string_view text);

}  // namespace glovebox::policy
