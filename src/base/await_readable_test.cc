#include "base/await_readable.h"

#include <unistd.h>

#include <array>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/unique_fd.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using boost::system::error_code;

struct Pipe {
  Pipe() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::pipe(fds.data()), 0);
    read.reset(fds[0]);
    write.reset(fds[1]);
  }
  void Write() const { EXPECT_EQ(::write(write.get(), "x", 1), 1); }

  UniqueFd read;
  UniqueFd write;
};

TEST(AwaitReadable, TellsWhenThereIsSomethingToRead) {
  asio::io_context context;
  Pipe pipe;
  stream_descriptor descriptor(context, pipe.read.release());
  int told = 0;
  AwaitReadable(descriptor, [&](const error_code& error) { told += error ? 100 : 1; });
  context.poll();
  EXPECT_EQ(told, 0);
  pipe.Write();
  context.restart();
  context.poll();
  EXPECT_EQ(told, 1);
}

TEST(AwaitReadable, TellsThatItWasCancelled) {
  asio::io_context context;
  Pipe pipe;
  stream_descriptor descriptor(context, pipe.read.release());
  error_code seen;
  AwaitReadable(descriptor, [&](const error_code& error) { seen = error; });
  descriptor.cancel();
  context.poll();
  EXPECT_EQ(seen, asio::error::operation_aborted);
}

// Two descriptors become ready at once. The first one's handler closes the other and puts a third
// in its place, whose wait asio then ends although nothing can be read.
TEST(AwaitReadable, DoesNotTellWhatHappenedToAClosedDescriptor) {
  asio::io_context context;
  std::array<Pipe, 2> ready;
  Pipe quiet;
  std::array<stream_descriptor, 2> first = {stream_descriptor(context, ready[0].read.release()),
                                            stream_descriptor(context, ready[1].read.release())};
  stream_descriptor third(context);
  int told = 0;
  const auto replace = [&](stream_descriptor& other) {
    if (third.is_open()) return;
    other.close();
    third.assign(quiet.read.release());
    AwaitReadable(third, [&](const error_code&) { ++told; });
  };
  first[0].async_wait(stream_descriptor::wait_read, [&](const error_code& error) {
    if (!error) replace(first[1]);
  });
  first[1].async_wait(stream_descriptor::wait_read, [&](const error_code& error) {
    if (!error) replace(first[0]);
  });
  for (const Pipe& pipe : ready) pipe.Write();
  context.poll();
  ASSERT_TRUE(third.is_open());
  EXPECT_EQ(told, 0);
  quiet.Write();
  context.restart();
  context.poll();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace glovebox
