#include "transport/stdio_transport.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/unique_fd.h"

namespace glovebox {
namespace {

using std::chrono::milliseconds;

struct Pair {
  UniqueFd read;
  UniqueFd write;
};

Pair MakePipe() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void WriteAll(int fd, std::string_view bytes) {
  ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

// Everything that can be read right now.
std::string ReadAvailable(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

class Recorder : public Transport::Receiver {
 public:
  void OnMessage(std::string_view message) override {
    messages.emplace_back(message);
    if (on_message) on_message(message);
  }
  void OnRefusedMessage(const Error& error) override { refused.push_back(error.message()); }
  void OnEndOfInput() override { ended = true; }
  void OnClosed(const Status& reason) override {
    closed = true;
    if (!reason.ok()) close_reason = reason.error().message();
  }

  std::function<void(std::string_view)> on_message;
  std::vector<std::string> messages;
  std::vector<std::string> refused;
  bool ended = false;
  bool closed = false;
  std::string close_reason;
};

class StdioTransportTest : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

  void Start(int in_fd, int out_fd, StdioTransportOptions options = {}) {
    auto created = StdioTransport::Create(context_, in_fd, out_fd, options);
    ASSERT_TRUE(created.ok()) << created.error().message();
    transport_ = std::move(created).value();
    transport_->Start(recorder_);
  }

  // Runs the loop until `done` or, at most, two seconds.
  bool RunUntil(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + milliseconds(2000);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      context_.restart();
      context_.run_for(milliseconds(5));
    }
    return done();
  }
  void RunFor(milliseconds time) {
    context_.restart();
    context_.run_for(time);
  }

  boost::asio::io_context context_;
  Recorder recorder_;
  std::unique_ptr<StdioTransport> transport_;
};

TEST_F(StdioTransportTest, MovesMessagesBothWaysOverPipes) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get());
  WriteAll(in.write.get(), "one\ntw");
  EXPECT_TRUE(RunUntil([&] { return recorder_.messages.size() == 1; }));
  WriteAll(in.write.get(), "o\n");
  EXPECT_TRUE(RunUntil([&] { return recorder_.messages.size() == 2; }));
  EXPECT_EQ(recorder_.messages, (std::vector<std::string>{"one", "two"}));
  transport_->Send("answer");
  transport_->Send("more");
  transport_->Close();
  EXPECT_TRUE(RunUntil([&] { return recorder_.closed; }));
  EXPECT_EQ(recorder_.close_reason, "");
  EXPECT_EQ(ReadAvailable(out.read.get()), "answer\nmore\n");
}

TEST_F(StdioTransportTest, ReportsTheEndOfInputAndCanStillSend) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get());
  WriteAll(in.write.get(), "last without newline");
  in.write.reset();
  EXPECT_TRUE(RunUntil([&] { return recorder_.ended; }));
  EXPECT_EQ(recorder_.messages, std::vector<std::string>{"last without newline"});
  transport_->Send("still here");
  transport_->Close();
  EXPECT_TRUE(RunUntil([&] { return recorder_.closed; }));
  EXPECT_EQ(ReadAvailable(out.read.get()), "still here\n");
}

TEST_F(StdioTransportTest, RefusesALongLineAndReadsTheNext) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get(), {.message_bytes_max = 100});
  WriteAll(in.write.get(), std::string(5000, 'x') + "\nshort\n");
  EXPECT_TRUE(RunUntil([&] { return recorder_.messages.size() == 1; }));
  EXPECT_EQ(recorder_.messages, std::vector<std::string>{"short"});
  EXPECT_EQ(recorder_.refused, std::vector<std::string>{"message longer than 100 bytes"});
  EXPECT_EQ(ReadAvailable(out.read.get()), "");
}

TEST_F(StdioTransportTest, StopsReadingWhileThePeerDoesNotRead) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get(), {.outgoing_bytes_high_water = 200'000});
  recorder_.on_message = [&](std::string_view) { transport_->Send(std::string(100'000, 'a')); };
  for (int i = 0; i < 50; ++i) WriteAll(in.write.get(), "ask\n");
  in.write.reset();
  RunFor(milliseconds(100));
  EXPECT_TRUE(transport_->congested());
  EXPECT_LT(recorder_.messages.size(), 6u);
  EXPECT_FALSE(recorder_.ended);

  std::string received;
  EXPECT_TRUE(RunUntil([&] {
    received += ReadAvailable(out.read.get());
    return recorder_.ended && received.size() == std::size_t{50} * 100'001;
  }));
  EXPECT_EQ(recorder_.messages.size(), 50u);
}

TEST_F(StdioTransportTest, GivesUpAPeerThatNeverReads) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get(),
        {.outgoing_bytes_high_water = 1000, .outgoing_bytes_max = 300'000});
  for (int i = 0; i < 5; ++i) transport_->Send(std::string(100'000, 'a'));
  EXPECT_TRUE(RunUntil([&] { return recorder_.closed; }));
  EXPECT_NE(recorder_.close_reason.find("stopped reading"), std::string::npos);
}

TEST_F(StdioTransportTest, ReportsAPeerThatIsGone) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get());
  out.read.reset();
  transport_->Send("into the void");
  EXPECT_TRUE(RunUntil([&] { return recorder_.closed; }));
  EXPECT_EQ(recorder_.close_reason, "writing to the peer: Broken pipe");
}

TEST_F(StdioTransportTest, ReadsAndWritesRegularFiles) {
  std::string in_name = testing::TempDir() + "transport_in_XXXXXX";
  std::string out_name = testing::TempDir() + "transport_out_XXXXXX";
  const UniqueFd in(::mkostemp(in_name.data(), O_CLOEXEC));
  const UniqueFd out(::mkostemp(out_name.data(), O_CLOEXEC));
  WriteAll(in.get(), "first\n" + std::string(300'000, 'y') + "\n");
  ::lseek(in.get(), 0, SEEK_SET);
  Start(in.get(), out.get());
  EXPECT_TRUE(RunUntil([&] { return recorder_.ended; }));
  ASSERT_EQ(recorder_.messages.size(), 2u);
  EXPECT_EQ(recorder_.messages[1].size(), 300'000u);
  transport_->Send("a");
  transport_->Send(std::string(600'000, 'b'));
  transport_->Close();
  EXPECT_TRUE(RunUntil([&] { return recorder_.closed; }));
  EXPECT_EQ(recorder_.close_reason, "");
  ::lseek(out.get(), 0, SEEK_SET);
  EXPECT_EQ(ReadAvailable(out.get()), "a\n" + std::string(600'000, 'b') + "\n");
  ::unlink(in_name.c_str());
  ::unlink(out_name.c_str());
}

TEST_F(StdioTransportTest, EndsAtOnceOnDevNull) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Start(null.get(), null.get());
  EXPECT_TRUE(RunUntil([&] { return recorder_.ended; }));
  transport_->Send("nobody hears");
  transport_->Close();
  EXPECT_TRUE(RunUntil([&] { return recorder_.closed; }));
}

TEST_F(StdioTransportTest, LeavesAPipeOfTheParentBlocking) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get());
  transport_->Send("x");
  RunFor(milliseconds(10));
  EXPECT_EQ(::fcntl(in.read.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(out.write.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(StdioTransportTest, GivesASocketBackAsItWas) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const UniqueFd ours(fds[0]);
  const UniqueFd peer(fds[1]);
  Start(ours.get(), ours.get());
  WriteAll(peer.get(), "hello\n");
  EXPECT_TRUE(RunUntil([&] { return recorder_.messages.size() == 1; }));
  transport_.reset();
  EXPECT_EQ(::fcntl(ours.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(StdioTransportTest, CanBeDestroyedWithOperationsInFlight) {
  Pair in = MakePipe();
  Pair out = MakePipe();
  Start(in.read.get(), out.write.get());
  transport_->Send(std::string(1'000'000, 'z'));
  RunFor(milliseconds(5));
  transport_.reset();
  RunFor(milliseconds(20));
  EXPECT_FALSE(recorder_.closed);
}

TEST_F(StdioTransportTest, NamesTheStreamThatIsMissing) {
  Pair in = MakePipe();
  const auto created = StdioTransport::Create(context_, in.read.get(), 999);
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().message(), "stdout: Bad file descriptor");
}

}  // namespace
}  // namespace glovebox
