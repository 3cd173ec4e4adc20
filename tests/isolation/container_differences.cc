#include "container_differences.h"

#include <array>

namespace glovebox::isolation {
namespace {

constexpr std::array kTable = {
    ContainerDifference{"runsc", "x32_call", ExecutionStatus::kFailed,
                        "gVisor's kernel knows no x32 calls: they fail before any filter"},
};

}  // namespace

const ContainerDifference* DifferenceOf(const std::string& payload, const std::string& runtime) {
  for (const ContainerDifference& difference : kTable) {
    if (payload == difference.payload && runtime == difference.runtime) return &difference;
  }
  return nullptr;
}

}  // namespace glovebox::isolation
