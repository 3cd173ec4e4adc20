#include "egress/proxy_root.h"

#include "base/file.h"
#include "base/text.h"
#include "sandbox/compile/egress_box.h"

namespace glovebox::egress {

std::string ResolverText(const std::string& host_text) {
  std::string out;
  for (std::string_view line : Split(host_text, '\n')) {
    line = Trim(line);
    if (line.starts_with("nameserver") || line.starts_with("options")) {
      out.append(line).append("\n");
    }
  }
  return out + "search .\noptions timeout:3 attempts:2\n";
}

Result<sandbox::RootLayout> ProxyRoot(const std::string& program, const std::string& hosts_file,
                                      const std::string& resolver_file) {
  policy::BoxPolicy policy = TRY(sandbox::EgressBoxPolicy());
  policy.root.push_back(
      {policy::RootItemKind::kFile, "/etc/hosts", ReadFile(hosts_file).value_or("")});
  policy.root.push_back({policy::RootItemKind::kFile, "/etc/resolv.conf",
                         ResolverText(ReadFile(resolver_file).value_or(""))});
  // No /proc: it needs to know of no process, not even of itself.
  return sandbox::CompileRoot(policy, {program, kProxyInRoot, sandbox::RootEntryKind::kDirectory});
}

}  // namespace glovebox::egress
