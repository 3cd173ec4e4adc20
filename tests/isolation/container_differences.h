#pragma once

#include <span>
#include <string>

#include "executor/outcome.h"

namespace glovebox::isolation {

// A payload that ends otherwise in a container than in a box, and why.
struct ContainerDifference {
  const char* runtime;
  const char* payload;
  ExecutionStatus status;
  bool happens;  // it is seen to do what it does; `why` says what that is worth
  const char* why;
};

// All of them; docs/containers.md has the same table.
std::span<const ContainerDifference> ContainerDifferences();

// Null: it ends as in a box.
const ContainerDifference* DifferenceOf(const std::string& payload, const std::string& runtime);

}  // namespace glovebox::isolation
