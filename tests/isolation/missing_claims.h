#pragma once

#include <string>
#include <vector>

namespace glovebox::isolation {

// What a payload may do where boxes lack walls: the one table between the product's own list of
// what is missing (Outcome::missing_walls) and the rows of the payload table. A row that is named
// by no entry of the list is to be held without those walls as well; a row that is named has to
// succeed, or the list says too much.
bool MayHappen(const std::string& payload, const std::vector<std::string>& missing_walls);

}  // namespace glovebox::isolation
