#include "python/client/zygote_client.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <utility>

#include <boost/asio/post.hpp>

#include "base/await_readable.h"
#include "base/socket_pair.h"
#include "base/text.h"

namespace glovebox::python {
namespace {

namespace asio = boost::asio;

}  // namespace

Result<std::unique_ptr<ZygoteClient>> ZygoteClient::Start(
    asio::io_context& context, sandbox::SpawnRequest spawn, const std::string& init_program,
    const wire::ZygoteSetup& setup, ReadyHandler on_ready, std::function<void()> on_death) {
  SocketPair sockets = TRY(MakeSocketPair("the zygote's socket"));
  std::array<int, 2> error_pipe;
  if (::pipe2(error_pipe.data(), O_CLOEXEC) != 0) return Error::FromErrno("making a pipe", errno);
  UniqueFd error_read(error_pipe[0]);
  const UniqueFd error_write(error_pipe[1]);
  ::fcntl(error_read.get(), F_SETFL, O_NONBLOCK);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return Error::FromErrno("opening /dev/null", errno);
  const UniqueFd init(::open(init_program.c_str(), O_PATH | O_CLOEXEC));
  if (!init) return Error::FromErrno("opening " + init_program, errno);
  spawn.descriptors = {{null.get(), 0},
                       {null.get(), 1},
                       {error_write.get(), 2},
                       {sockets.theirs.get(), wire::kZygoteSocketFd},
                       {init.get(), wire::kInitProgramFd}};
  sandbox::Process process = TRY(sandbox::Spawn(spawn));
  if (const int error = wire::SendWithDescriptors(sockets.ours.get(), wire::Encode(setup), {});
      error != 0) {
    return Error::FromErrno("sending the zygote its set-up", error);
  }
  ::fcntl(sockets.ours.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<ZygoteClient>(
      new ZygoteClient(context, std::move(process), std::move(sockets.ours), std::move(error_read),
                       std::move(on_ready), std::move(on_death)));
}

ZygoteClient::ZygoteClient(asio::io_context& context, sandbox::Process process, UniqueFd socket,
                           UniqueFd error_output, ReadyHandler on_ready,
                           std::function<void()> on_death)
    : context_(context),
      process_(std::move(process)),
      socket_(context, socket.release()),
      death_(context),
      error_output_(std::move(error_output)),
      on_ready_(std::move(on_ready)),
      on_death_(std::move(on_death)) {
  AwaitMessage();
}

ZygoteClient::~ZygoteClient() { *alive_ = false; }

// It ends when its socket is closed; our handler, which owns the client, reaps it then.
void ZygoteClient::Retire(std::unique_ptr<ZygoteClient> client) {
  if (client == nullptr) return;
  *client->alive_ = false;
  client->alive_ = std::make_shared<bool>(true);
  boost::system::error_code ignored;
  client->socket_.close(ignored);
  client->death_.assign(::fcntl(client->process_.pidfd(), F_DUPFD_CLOEXEC, 3), ignored);
  ZygoteClient* retired = client.get();
  AwaitReadable(retired->death_, [client = std::move(client)](
                                     const boost::system::error_code&) mutable { client.reset(); });
}

void ZygoteClient::SpawnBox(BoxOrder order, BornHandler on_born) {
  const std::uint64_t box_id = next_box_id_++;
  const wire::SpawnBox message{box_id,    order.uid,    order.birth_fd >= 0, order.rehearsal,
                               order.cpu, order.folder, order.network};
  if (message.into_cgroup) order.fds.push_back(order.birth_fd);
  const int error =
      dead_ ? EPIPE
            : wire::SendWithDescriptors(socket_.native_handle(), wire::Encode(message), order.fds);
  if (error == 0) {
    pending_.emplace(box_id, std::move(on_born));
    return;
  }
  asio::post(context_, [on_born = std::move(on_born), error] {
    on_born(Error::FromErrno("asking the zygote for a box", error));
  });
}

void ZygoteClient::AwaitMessage() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this, alive = alive_](const boost::system::error_code& error) {
                       if (!*alive || error) return;
                       ReadMessages();
                     });
}

void ZygoteClient::ReadMessages() {
  const std::shared_ptr<bool> alive = alive_;
  while (*alive) {
    wire::ReceivedMessage message;
    const int error = wire::ReceiveWithDescriptors(socket_.native_handle(), message);
    if (error == EAGAIN) break;
    if (error != 0 || message.payload.empty()) {
      Die("the Python process (glovebox-python) ended" + LastWords());
      return;
    }
    HandleMessage(message);
  }
  if (*alive) AwaitMessage();
}

void ZygoteClient::HandleMessage(const wire::ReceivedMessage& message) {
  UniqueFd pidfd(message.fds.empty() ? -1 : message.fds.front());
  if (on_ready_) {
    const std::optional<wire::ZygoteReady> ready = wire::DecodeZygoteReady(message.payload);
    const ReadyHandler on_ready = std::exchange(on_ready_, nullptr);
    if (!ready) {
      on_ready(Error(Errc::kInternal, "the zygote's first message is not understood"));
    } else if (!ready->error.empty()) {
      on_ready(Error(Errc::kUnsupported, ready->error));
    } else {
      on_ready({});
    }
    return;
  }
  const std::optional<wire::BoxBorn> born = wire::DecodeBoxBorn(message.payload);
  const auto found = born ? pending_.find(born->box_id) : pending_.end();
  if (found == pending_.end()) return;
  const BornHandler on_born = std::move(found->second);
  pending_.erase(found);
  if (born->sys_errno != 0 || !pidfd) {
    on_born(Error::FromErrno("forking a box", born->sys_errno));
  } else {
    on_born(std::move(pidfd));
  }
}

std::string ZygoteClient::LastWords() const {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(error_output_.get(), buffer.data(), buffer.size());
  if (got <= 0) return {};
  return ": " + std::string(Trim(std::string_view(buffer.data(), static_cast<std::size_t>(got))));
}

void ZygoteClient::Die(const std::string& reason) {
  dead_ = true;
  const std::shared_ptr<bool> alive = alive_;
  const Error error(Errc::kSystem, reason);
  if (const ReadyHandler on_ready = std::exchange(on_ready_, nullptr)) on_ready(error);
  std::map<std::uint64_t, BornHandler> pending = std::exchange(pending_, {});
  for (auto& [box_id, on_born] : pending) on_born(error);
  if (*alive && on_death_) on_death_();
}

}  // namespace glovebox::python
