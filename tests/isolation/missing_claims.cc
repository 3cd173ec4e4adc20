#include "missing_claims.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace glovebox::isolation {
namespace {

struct MissingClaim {
  std::string_view wall;  // how the entry of missing_walls begins
  std::string_view payload;
};

constexpr std::array kTable = {
    MissingClaim{"root: ", "read_stat"},
    MissingClaim{"root: ", "read_readlink"},
    MissingClaim{"pid namespace: ", "see_pidfd"},
};

}  // namespace

bool MayHappen(const std::string& payload, const std::vector<std::string>& missing_walls) {
  return std::any_of(kTable.begin(), kTable.end(), [&](const MissingClaim& claim) {
    return claim.payload == payload &&
           std::any_of(missing_walls.begin(), missing_walls.end(),
                       [&](const std::string& wall) { return wall.starts_with(claim.wall); });
  });
}

}  // namespace glovebox::isolation
