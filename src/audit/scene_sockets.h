#pragma once

#include <cstdint>
#include <string>

#include "audit/scene.h"
#include "base/result.h"

namespace glovebox::audit {

// Listeners of the host. A port argument takes the number that the kernel chose.
Result<Listener> ListenTcp(int family, std::uint16_t& port);
Result<Listener> ListenUdp(std::uint16_t& port);
// A path, or a name that begins with NUL; open to every uid.
Result<Listener> ListenUnix(const std::string& name, int type);

// Takes everything that arrived; whether there was anything.
bool Drain(const Listener& listener);

// Whether somebody listens on loopback.
bool CanConnect(std::uint16_t port);

// Answers every question that waits at a resolver of ours, as if the name had an address; whether
// there was one.
bool AnswerName(const Listener& resolver);

// An interface of this host that is not loopback, and an address of one; empty when there is none.
std::string OuterInterface();
std::string OuterAddress();

// A further address of the loopback interface.
Status AddLoopbackAddress(const std::string& address);

}  // namespace glovebox::audit
