#include "base/unique_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

int OpenSomething() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

static_assert(!std::is_copy_constructible_v<UniqueFd> && !std::is_copy_assignable_v<UniqueFd>);
static_assert(std::is_nothrow_move_constructible_v<UniqueFd>);
static_assert(!std::is_convertible_v<int, UniqueFd>, "owning a descriptor is said, never implied");

TEST(UniqueFdTest, OwnsNothingAtFirst) {
  const UniqueFd fd;
  EXPECT_FALSE(fd.valid());
  EXPECT_FALSE(static_cast<bool>(fd));
  EXPECT_EQ(fd.get(), -1);
}

TEST(UniqueFdTest, ClosesWhenItGoes) {
  const int raw = OpenSomething();
  {
    const UniqueFd fd(raw);
    EXPECT_TRUE(fd.valid());
    EXPECT_EQ(fd.get(), raw);
    EXPECT_TRUE(IsOpen(raw));
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFdTest, DescriptorZeroIsADescriptor) {
  UniqueFd fd(0);
  EXPECT_TRUE(fd.valid());
  EXPECT_EQ(fd.release(), 0);
}

TEST(UniqueFdTest, MovingHandsOwnershipOver) {
  UniqueFd first(OpenSomething());
  const int raw = first.get();
  UniqueFd second(std::move(first));
  EXPECT_EQ(second.get(), raw);
  // Empty by contract. NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_FALSE(first.valid());
  EXPECT_TRUE(IsOpen(raw));
}

TEST(UniqueFdTest, AssigningClosesWhatWasOwned) {
  UniqueFd kept(OpenSomething());
  UniqueFd moved(OpenSomething());
  const int old = kept.get();
  const int raw = moved.get();
  kept = std::move(moved);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_EQ(kept.get(), raw);
  EXPECT_TRUE(IsOpen(raw));
}

TEST(UniqueFdTest, AssigningToItselfKeepsTheDescriptor) {
  UniqueFd fd(OpenSomething());
  UniqueFd& same = fd;
  fd = std::move(same);
  EXPECT_TRUE(fd.valid());
  EXPECT_TRUE(IsOpen(fd.get()));
}

TEST(UniqueFdTest, ReleasedDescriptorsStayOpen) {
  UniqueFd fd(OpenSomething());
  const int raw = fd.release();
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(IsOpen(raw));
  ::close(raw);
}

TEST(UniqueFdTest, ResetClosesAndMayTakeAnother) {
  UniqueFd fd(OpenSomething());
  const int old = fd.get();
  const int next = OpenSomething();
  fd.reset(next);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_EQ(fd.get(), next);
  fd.reset();
  EXPECT_FALSE(IsOpen(next));
  EXPECT_FALSE(fd.valid());
}

}  // namespace
}  // namespace glovebox
