#pragma once

#include <gtest/gtest.h>

#include "audit/cage.h"
#include "audit/scene.h"
#include "box_runner.h"

namespace glovebox::isolation {

// Whether a missing cage is a failure: GLOVEBOX_MUST_ISOLATE=1, as in CI.
bool MustIsolate();

// Skips, or fails where it must isolate, when there is no cage.
class IsolationTest : public testing::Test {
 protected:
  void SetUp() override;
};

// The host's side, made on first use; null when it could not be made (a test failure is added).
Scene* TheScene();

}  // namespace glovebox::isolation
