#include "mcp/admission.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using Share = Admission::Share;

class AdmissionTest : public testing::Test {
 protected:
  void Limit(AdmissionOptions options) {
    admission_.emplace(options, [this] { return now_; });
  }
  // How many of `count` requests at this moment are taken. Their places are given back at once.
  int Taken(const std::string& principal, int count) {
    int taken = 0;
    for (int i = 0; i < count; ++i) taken += admission_->Admit(principal).admitted ? 1 : 0;
    return taken;
  }

  Admission::Clock::time_point now_{seconds(1000)};
  std::optional<Admission> admission_;
};

TEST_F(AdmissionTest, WithoutLimitsEverybodyIsTakenAndNobodyRemembered) {
  Limit({});
  EXPECT_EQ(Taken("alice", 10'000), 10'000);
  EXPECT_EQ(admission_->remembered_count(), 0u);
}

TEST_F(AdmissionTest, ABurstThenTheRate) {
  Limit({.requests_per_second = 100, .burst = 20});
  EXPECT_EQ(Taken("alice", 50), 20);
  now_ += milliseconds(100);
  EXPECT_EQ(Taken("alice", 50), 10);
  now_ += seconds(3600);
  EXPECT_EQ(Taken("alice", 50), 20) << "a bucket holds no more than a burst";
}

TEST_F(AdmissionTest, OverAnHourNoMoreThanTheRate) {
  Limit({.requests_per_second = 2.5, .burst = 1});
  int taken = 0;
  for (int step = 0; step < 36'000; ++step) {
    taken += Taken("alice", 3);
    now_ += milliseconds(100);
  }
  EXPECT_NEAR(taken, 9000, 2);
}

TEST_F(AdmissionTest, TheRefusalSaysWhichLimitAndWhenToComeBack) {
  Limit({.requests_per_second = 100, .burst = 1});
  Taken("alice", 1);
  now_ += milliseconds(4);
  const auto decision = admission_->Admit("alice");
  EXPECT_FALSE(decision.admitted);
  EXPECT_EQ(decision.refusal.message,
            "rate limit reached: 100 requests per second for each client; retry in 6 ms");
  EXPECT_EQ(decision.refusal.retry_after, milliseconds(6));
  now_ += decision.refusal.retry_after;
  EXPECT_TRUE(admission_->Admit("alice").admitted) << "what it was told is true";
  EXPECT_EQ(admission_->refused_count(), 1u);
}

TEST_F(AdmissionTest, AskingTooOftenDoesNotPutTheTimeOff) {
  Limit({.requests_per_second = 1, .burst = 1});
  Taken("alice", 1);
  for (int i = 0; i < 999; ++i) {
    now_ += milliseconds(1);
    EXPECT_FALSE(admission_->Admit("alice").admitted);
  }
  now_ += milliseconds(2);
  EXPECT_TRUE(admission_->Admit("alice").admitted);
}

TEST_F(AdmissionTest, AVerySlowRateStillSaysATime) {
  Limit({.requests_per_second = 1e-9, .burst = 1});
  Taken("alice", 1);
  EXPECT_EQ(admission_->Admit("alice").refusal.retry_after, std::chrono::hours(1));
}

TEST_F(AdmissionTest, AFloodOfOneIsNotTheOthersMatter) {
  Limit({.requests_per_second = 10, .burst = 10, .concurrent_max = 2});
  EXPECT_EQ(Taken("mallory", 1000), 10);
  EXPECT_EQ(Taken("alice", 10), 10);
}

TEST_F(AdmissionTest, PlacesAreGivenBackWithTheTicket) {
  Limit({.concurrent_max = 2});
  auto first = admission_->Admit("alice");
  const auto second = admission_->Admit("alice");
  const auto third = admission_->Admit("alice");
  EXPECT_TRUE(first.admitted && second.admitted);
  EXPECT_FALSE(third.admitted);
  EXPECT_THAT(third.refusal.message, HasSubstr("2 requests in work for each client"));
  EXPECT_GT(third.refusal.retry_after, milliseconds(0));
  const Admission::Ticket copy = first.ticket;
  first.ticket = {};
  EXPECT_FALSE(admission_->Admit("alice").admitted) << "a copy holds the same place";
  EXPECT_TRUE(admission_->Admit("bob").admitted);
}

TEST_F(AdmissionTest, ARequestRefusedForItsPlaceTakesNothingFromTheBucket) {
  Limit({.requests_per_second = 1, .burst = 2, .concurrent_max = 1});
  {
    const auto held = admission_->Admit("alice");
    EXPECT_EQ(Taken("alice", 100), 0);
  }
  EXPECT_EQ(Taken("alice", 100), 1);
}

TEST_F(AdmissionTest, LookingAfterWorkNeedsNoPlace) {
  Limit({.requests_per_second = 10, .burst = 3, .concurrent_max = 1});
  const auto held = admission_->Admit("alice");
  EXPECT_TRUE(admission_->Admit("alice", Share::kRateOnly).admitted);
  EXPECT_TRUE(admission_->Admit("alice", Share::kRateOnly).admitted);
  EXPECT_THAT(admission_->Admit("alice", Share::kRateOnly).refusal.message, HasSubstr("rate"));
}

TEST_F(AdmissionTest, TheLongestIdleIsForgottenFirst) {
  Limit({.requests_per_second = 1, .burst = 1, .principals_max = 3});
  for (const char* principal : {"a", "b", "c", "a"}) Taken(principal, 1);
  EXPECT_EQ(Taken("d", 1), 1);  // in the place of b
  EXPECT_EQ(admission_->remembered_count(), 3u);
  EXPECT_EQ(Taken("a", 1), 0);
  EXPECT_EQ(Taken("c", 1), 0);
  EXPECT_EQ(Taken("b", 1), 1) << "remembered as new";
}

TEST_F(AdmissionTest, NobodyWithRequestsInWorkIsForgotten) {
  Limit({.concurrent_max = 1, .principals_max = 2});
  std::optional<Admission::Decision> a = admission_->Admit("a");
  const auto b = admission_->Admit("b");
  const auto refused = admission_->Admit("c");
  EXPECT_FALSE(refused.admitted);
  EXPECT_THAT(refused.refusal.message, HasSubstr("too many clients at once: 2"));
  a.reset();
  EXPECT_TRUE(admission_->Admit("c").admitted);
  EXPECT_FALSE(admission_->Admit("b").admitted);
  EXPECT_EQ(admission_->remembered_count(), 2u);
}

TEST_F(AdmissionTest, MemoryIsBoundedWhoeverComes) {
  Limit({.requests_per_second = 1, .burst = 1, .concurrent_max = 1, .principals_max = 100});
  for (int i = 0; i < 10'000; ++i) Taken("10.0.0." + std::to_string(i), 2);
  EXPECT_EQ(admission_->remembered_count(), 100u);
}

TEST_F(AdmissionTest, ATicketMayOutliveTheAdmission) {
  Limit({.concurrent_max = 1});
  const auto held = admission_->Admit("alice");
  admission_.reset();
  EXPECT_TRUE(held.admitted);
}

}  // namespace
}  // namespace glovebox::mcp
