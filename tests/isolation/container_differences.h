#pragma once

#include <string>

#include "executor/outcome.h"

namespace glovebox::isolation {

// A payload that ends otherwise in a container than in a box, and why. What it may not do it does
// not do in either.
struct ContainerDifference {
  const char* runtime;
  const char* payload;
  ExecutionStatus status;
  const char* why;
};

// Null: it ends as in a box.
const ContainerDifference* DifferenceOf(const std::string& payload, const std::string& runtime);

}  // namespace glovebox::isolation
