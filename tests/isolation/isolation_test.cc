// The claims of docs/threat-model.md, row by row: a payload must succeed without walls, fail with
// all of them, fail against each wall that is said to stop it alone, and fail when any one of those
// is down.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "container_differences.h"
#include "isolation_fixture.h"
#include "missing_claims.h"
#include "payload_table.h"
#include "trial.h"

namespace glovebox::isolation {
namespace {

using sandbox::Bit;
using sandbox::Wall;
using sandbox::WallMask;
using sandbox::WallNames;
using sandbox::Walls;
using sandbox::WallSeamForAttribution;

constexpr WallMask kInterpreter = Bit(Wall::kInterpreter);

bool HasKernelEvent(const Outcome& outcome) {
  return std::any_of(outcome.events.begin(), outcome.events.end(), [](const Event& event) {
    return event.source == EventSource::kKernel && event.layer == "seccomp" && event.refused &&
           !event.operation.empty();
  });
}

// The walls that only `holder` needs.
WallMask Exclusive(const Payload& payload, WallMask holder) {
  WallMask others = 0;
  for (const WallMask other : payload.holders) {
    if (other != holder) others |= other;
  }
  return holder & ~others;
}

class PayloadTest : public IsolationTest {
 public:
  explicit PayloadTest(const Payload& payload) : payload_(payload) {}

  void TestBody() override {
    if (TheScene() == nullptr) return;
    if (!ContainerRuntime().empty()) return TryInContainer();
    if (ExecutorUser() || WithoutUserNamespaces()) return TryWithoutAttribution();
    const Trial bare = Try(payload_, WallSeamForAttribution::Only(0));
    ASSERT_TRUE(bare.effect.has_value())
        << "vacuous: with no wall at all nothing happened either: " << Summary(bare.outcome);
    const Trial full = ExpectHeld(Walls::All(), "with all walls");
    EXPECT_EQ(StatusName(full.outcome.status), StatusName(payload_.status))
        << Summary(full.outcome);
    ExpectHeld(WallSeamForAttribution::AllBut(kInterpreter), "without the interpreter's hook");
    for (const WallMask holder : payload_.holders) {
      const Trial alone =
          ExpectHeld(WallSeamForAttribution::Only(holder), WallNames(holder) + " alone");
      // Nothing that happens in the box can keep the attempt from being told.
      if (holder == Bit(Wall::kSeccomp)) {
        EXPECT_TRUE(HasKernelEvent(alone.outcome)) << "no event: " << Summary(alone.outcome);
      }
      if (payload_.holders.size() < 2) continue;
      ExpectHeld(WallSeamForAttribution::AllBut(Exclusive(payload_, holder) | kInterpreter),
                 "all but " + WallNames(holder));
    }
  }

 private:
  // A normal user's files and processes are out of reach for other reasons too, so a single wall
  // proves nothing there: that each payload can hurt, and what stops it, is the run of root.
  void TryWithoutAttribution() {
    if (ExecutorUser() && payload_.name == "identity_host_root") {
      GTEST_SKIP() << "reads its uid in the zygote's namespace, whose uid 0 is this user; what it "
                      "is on the host is seen from outside by tests/end_to_end/normal_user_test.py";
    }
    for (const bool hook : {true, false}) {
      const Walls walls = hook ? Walls::All() : WallSeamForAttribution::AllBut(kInterpreter);
      const Trial trial = Try(payload_, walls);
      ExpectMode(trial.outcome);
      ExpectHeld(trial, hook ? "with all walls" : "without the interpreter's hook");
    }
  }

  // The witness counts tasks and memory of the host, and a kernel in user space has some of its
  // own. Of memory that excuses only what the group's limit, which holds both, has ended.
  bool CountsTheKernelsOwn(const Outcome& outcome) const {
    if (ContainerRuntime() != "runsc") return false;
    return payload_.claim == Claim::kForkWithoutBound ||
           (payload_.claim == Claim::kExceedMemory &&
            outcome.status == ExecutionStatus::kLimitExceeded);
  }

  // Whatever a container lacks, it lets nothing more happen, and says the same of it.
  void TryInContainer() {
    const Trial trial = Try(payload_, Walls::All());
    EXPECT_FALSE(trial.outcome.container.empty()) << Summary(trial.outcome);
    EXPECT_NE(trial.outcome.status, ExecutionStatus::kSetupFailed) << Summary(trial.outcome);
    const ContainerDifference* difference = DifferenceOf(payload_.name, ContainerRuntime());
    const bool happens = difference != nullptr && difference->happens;
    EXPECT_TRUE(trial.effect.has_value() == happens || CountsTheKernelsOwn(trial.outcome))
        << "the container could " << ClaimText(payload_.claim) << ": "
        << trial.effect.value_or("nothing seen") << "; " << Summary(trial.outcome);
    const ExecutionStatus expected = difference != nullptr ? difference->status : payload_.status;
    EXPECT_EQ(StatusName(trial.outcome.status), StatusName(expected)) << Summary(trial.outcome);
  }

  // That it is the host this run is about.
  static void ExpectMode(const Outcome& outcome) {
    const bool degraded = ExecutorUser() && WithoutUserNamespaces();
    EXPECT_EQ(!outcome.missing_walls.empty(), degraded) << Summary(outcome);
  }

  Trial ExpectHeld(Walls walls, const std::string& which) {
    Trial trial = Try(payload_, walls);
    ExpectHeld(trial, which);
    return trial;
  }

  void ExpectHeld(const Trial& trial, const std::string& which) {
    EXPECT_NE(trial.outcome.status, ExecutionStatus::kSetupFailed)
        << which << ": " << Summary(trial.outcome);
    if (MayHappen(payload_.name, trial.outcome.missing_walls)) {
      EXPECT_TRUE(trial.effect.has_value())
          << which << ": is held, and said to be missing; " << Summary(trial.outcome);
      return;
    }
    EXPECT_FALSE(trial.effect.has_value())
        << "the box could " << ClaimText(payload_.claim) << ", " << which << ": " << *trial.effect
        << "; " << Summary(trial.outcome);
  }

  const Payload& payload_;
};

// Of a container runtime that is not the preferred one, a third of the table is enough.
std::size_t TakenOf(const std::string& runtime) { return runtime == "runc" ? 3 : 1; }

const bool kRegistered = [] {
  const std::size_t every = TakenOf(ContainerRuntime());
  std::size_t number = 0;
  for (const Payload& payload : PayloadTable()) {
    if (number++ % every != 0) continue;
    testing::RegisterTest("Payloads", payload.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&payload]() -> IsolationTest* { return new PayloadTest(payload); });
  }
  return true;
}();

TEST(PayloadTableTest, HasAProbeOfTheAuditForEveryRow) {
  std::set<std::string> rows;
  for (const Payload& payload : PayloadTable()) {
    EXPECT_TRUE(rows.insert(payload.name).second) << payload.name << " stands there twice";
    EXPECT_FALSE(payload.holders.empty()) << payload.name;
  }
  for (const std::string& name : rows) EXPECT_NE(FindProbe(name), nullptr) << name;
  EXPECT_GE(rows.size(), 90u);
}

TEST(ContainerDifferencesTest, AreThoseOfTheDocument) {
  const std::string document =
      ReadFile(GLOVEBOX_SOURCE_FOLDER "/docs/containers.md").value_or("(not there)");
  std::size_t rows = 0;
  for (const std::string_view line : Split(document, '\n')) {
    rows += line.starts_with("| `") && line.find(" | yes | ") != line.find(" | no | ");
  }
  EXPECT_EQ(rows, ContainerDifferences().size());
  for (const Payload& payload : PayloadTable()) {
    const ContainerDifference* difference = DifferenceOf(payload.name, "runsc");
    if (difference == nullptr) continue;
    const std::string row = "| `" + payload.name + "` | " +
                            std::string(StatusName(payload.status)) + " | " +
                            std::string(StatusName(difference->status)) + " | " +
                            (difference->happens ? "yes" : "no") + " | ";
    EXPECT_NE(document.find(row), std::string::npos) << "docs/containers.md has no row " << row;
  }
}

}  // namespace
}  // namespace glovebox::isolation
