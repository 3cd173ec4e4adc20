#pragma once

#include <string>
#include <string_view>

namespace glovebox::audit {

// Text for HTML and XML, also within double quotes. Control characters, which XML cannot hold,
// become question marks.
std::string Escaped(std::string_view text);

}  // namespace glovebox::audit
