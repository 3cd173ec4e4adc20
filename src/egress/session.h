#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "egress/messages.h"
#include "egress/request_head.h"
#include "egress/resolver.h"
#include "egress/socks.h"
#include "policy/box_network.h"

namespace glovebox::egress {

// How long a client or a server may take. Generous to honest programs; a slow one holds one of
// kSessionsMax places for at most this long.
struct SessionTimes {
  std::chrono::milliseconds head = std::chrono::seconds(15);   // to say what it wants
  std::chrono::milliseconds dial = std::chrono::seconds(20);   // to resolve and connect
  std::chrono::milliseconds idle = std::chrono::seconds(120);  // without a byte either way
};

// What the sessions of a proxy share.
struct SessionMeans {
  policy::EgressPolicy policy;
  std::vector<policy::DirectHost> direct;
  Resolve resolve;
  std::function<void(const ConnectionReport&)> report;
  SessionTimes times = {};
  // Ports with a meaning.
  std::uint16_t proxy_port = policy::kProxyPort;  // where the doors of a proxy are
  std::uint16_t http_port = policy::kHttpPort;    // a tunnel to it must speak HTTP
  std::uint16_t tls_port = policy::kTlsPort;      // and to this one TLS
};

// One connection from the box, from its first byte to the report of its end. It carries one request
// or one tunnel: nothing is ever reused for another host.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `means` must outlive it.
  Session(Socket client, const SessionMeans& means);

  boost::asio::awaitable<void> Run();
  // Ends it now; what is known of it is reported.
  void Stop();

 private:
  using Task = boost::asio::awaitable<void>;
  using Answer = boost::asio::awaitable<bool>;

  // By which door.
  Task RunProxied();
  Task RunDirect(const boost::asio::ip::tcp::endpoint& reached);
  Task RunHttp();
  Task RunSocks();
  // What for. The client has been told that it is through when these begin.
  Task Tunnel(const policy::EgressAsk& ask);
  Task TlsTunnel(const policy::EgressAsk& ask);
  Task OpenTunnel(const policy::EgressAsk& ask);
  Task OriginHttp(const policy::EgressAsk& ask);
  Task Exchange(RequestHead head);

  // Judges, resolves and dials; false when it did not come to that, with `report_` saying why.
  bool Judge(const policy::EgressAsk& ask);
  // Whether any request to it could be allowed.
  bool IsNamed(const policy::EgressAsk& ask);
  Answer Dial(const policy::EgressAsk& ask);
  Answer DialOne(const policy::IpAddress& address, std::uint16_t port);

  // Refusals, in the words of the door.
  void NoteRefusal(std::string reason, std::string remedy);
  Task SayHttp(int status);
  Task Linger();

  // Bytes.
  Answer ReadMore();  // appends to `from_client_`; false at the end
  Answer WriteClient(std::string_view bytes);
  Answer WriteUpstream(std::string_view bytes);
  Answer AwaitHello(const policy::NetworkHost& host);
  Task SendUp(bool sniff, const policy::NetworkHost& host);
  Task SendDown();
  Task SendBody(RequestHead head);
  void EndHalfRequest();
  Answer RelayResponse(bool without_body);  // false: the client has not got all of it
  Answer RelayHeadAndBody(bool without_body);

  // Time.
  void Within(std::chrono::milliseconds time);
  void KeepAlive();
  void ArmTimer();
  void Close();
  void ReportOnce();

  Socket client_;
  Socket upstream_;
  const SessionMeans& means_;
  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point deadline_;
  std::string from_client_;  // received and not yet used; bounded by what reads it
  ConnectionReport report_;
  bool asked_ = false;       // it sent something: worth a report
  bool idle_phase_ = false;  // every byte earns more time
  bool timed_out_ = false;
  bool response_over_ = false;
  bool reported_ = false;
};

}  // namespace glovebox::egress
