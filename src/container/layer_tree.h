#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::container {

// Roots that are put together of layers. Every layer is unpacked into a folder of its own and then
// moved over those below it, entry by entry and without following a link: a link of one layer never
// leads where a file of a later one is written. All of `root` belongs to us and to nobody else
// until it is finished.

// Moves what is in `layer` over what is in `root`: folders are united, anything else replaces what
// was there, and whiteouts (".wh.NAME", ".wh..wh..opq") remove what the layers below had. Empties
// `layer`. Both are on one file system.
Status ApplyLayer(const std::string& layer, const std::string& root);

// Takes from everything below `root` what could harm the host it lies on: set-ID bits, the right of
// others to write, devices and whatever is not a file, a folder or a link.
Status MakeHarmless(const std::string& root);

// Makes `path` (absolute) in `root` unless something is there: a folder, or an empty file. Links on
// the way are followed as if `root` were the root of everything.
enum class PlaceKind { kFolder, kFile };
Status MakePlace(const std::string& root, const std::string& path, PlaceKind kind);

}  // namespace glovebox::container
