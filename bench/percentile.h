#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace glovebox::bench {

// The value below which `fraction` of the values lie; `values` is not empty.
inline double Percentile(std::vector<double> values, double fraction) {
  const auto index = static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace glovebox::bench
