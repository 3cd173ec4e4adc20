#pragma once

// What the parsers of this folder share. The only header that shows the TOML library; include it
// from .cc files alone.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

// Parse errors as values: the exceptions of a parser would cross our layers.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/result.h"

namespace glovebox::policy {

Error InvalidPolicy(const std::string& message);

// The document, or "line 3: not TOML: ...".
Result<toml::table> ParseToml(std::string_view text);

// Every key of `table` must be among `known`; the error lists them.
Status CheckKeys(const toml::table& table, std::initializer_list<std::string_view> known);

// A text that is there and not empty; the error ends with `fix`.
Result<std::string> ReadText(const toml::table& table, std::string_view key,
                             const std::string& fix);

// The [[kind]] entries in order; none is fine, another shape is not.
Result<std::vector<const toml::table*>> ReadEntries(const toml::table& parent,
                                                    std::string_view kind);

}  // namespace glovebox::policy
