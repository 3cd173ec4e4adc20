#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/compile/root_layout.h"

namespace glovebox::egress {

inline constexpr char kProxyInRoot[] = "/glovebox-egress";

// The root of a proxy: policies/box/egress.toml, the program, and copies of what its resolver needs
// to know of the host. A host without these files has a proxy that resolves nothing.
Result<sandbox::RootLayout> ProxyRoot(const std::string& program, const std::string& hosts_file,
                                      const std::string& resolver_file);

// What the proxy reads as /etc/resolv.conf: the servers and options of `host_text`, and no search
// list, so that the name that is asked for is the name that was judged.
std::string ResolverText(const std::string& host_text);

}  // namespace glovebox::egress
