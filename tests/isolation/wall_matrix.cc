// `make audit`: every payload against no wall, every single wall, and all of them; one row each, as
// it is measured. "held" is a wall that stops the payload alone.

#include <cstdio>
#include <string>

#include "isolation_fixture.h"
#include "payload_table.h"
#include "trial.h"

namespace glovebox::isolation {
namespace {

using sandbox::Wall;
using sandbox::WallMask;
using sandbox::Walls;
using sandbox::WallSeamForAttribution;

constexpr auto kWallCount = static_cast<unsigned>(Wall::kCount);

std::string Cell(const Trial& trial) {
  if (trial.outcome.status == ExecutionStatus::kSetupFailed) return "no box";
  return trial.effect ? "-" : "held";
}

void PrintHeader() {
  std::string names = "| payload | the box cannot | no wall |";
  std::string rule = "|---|---|---|";
  for (unsigned i = 0; i < kWallCount; ++i) {
    names += " " + WallNames(WallMask{1} << i) + " |";
    rule += "---|";
  }
  std::printf("%s all walls |\n%s---|\n", names.c_str(), rule.c_str());
}

class WallMatrix : public IsolationTest {};

TEST_F(WallMatrix, EveryPayloadAgainstEveryWall) {
  ASSERT_NE(TheScene(), nullptr);
  PrintHeader();
  for (const Payload& payload : PayloadTable()) {
    const Trial bare = Try(payload, WallSeamForAttribution::Only(0));
    EXPECT_TRUE(bare.effect) << payload.name << " proves nothing: no wall, and no effect";
    std::string row = "| " + payload.name + " | " + std::string(ClaimText(payload.claim)) + " | ";
    row += bare.effect ? "happens |" : "NOTHING |";
    for (unsigned i = 0; i < kWallCount; ++i) {
      row += " " + Cell(Try(payload, WallSeamForAttribution::Only(WallMask{1} << i))) + " |";
    }
    const Trial full = Try(payload, Walls::All());
    EXPECT_FALSE(full.effect) << payload.name << " is not held: " << *full.effect;
    std::printf("%s %s |\n", row.c_str(), full.effect ? "NOT HELD" : "held");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace glovebox::isolation
