#include <array>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit/probe.h"
#include "audit/program.h"

namespace glovebox::audit {
namespace {

TEST(ProbeTable, HasTheProbesOfTheTutorialInTheirFamilies) {
  const std::map<std::string_view, std::vector<std::string_view>> tutorial = {
      {"file_system_access",
       {"read_etc_passwd", "list_home_directory", "get_user_info", "write_to_tmp"}},
      {"command_execution",
       {"subprocess_whoami", "os_system_uname", "subprocess_ps_aux", "import_pty"}},
      {"network_access",
       {"dns_lookup", "connect_port_80", "import_requests", "import_urllib_request",
        "import_http_client", "open_local_socket"}},
      {"system_resources",
       {"system_info", "process_info", "environment_variables", "import_sys", "import_os_path",
        "import_ctypes", "import_signal"}},
  };
  for (const auto& [family, names] : tutorial) {
    for (const std::string_view name : names) {
      const Probe* probe = FindProbe(name);
      ASSERT_NE(probe, nullptr) << name;
      EXPECT_EQ(FamilyName(probe->family), family) << name;
    }
  }
}

TEST(ProbeTable, HasAHundredMoreAndEveryFamilyHasSome) {
  EXPECT_GE(Probes().size(), 121u);
  std::set<std::string_view> names;
  std::set<Family> families;
  for (const Probe& probe : Probes()) {
    EXPECT_TRUE(names.insert(probe.name).second) << probe.name << " stands there twice";
    families.insert(probe.family);
  }
  EXPECT_EQ(families.size(), kFamilyCount);
}

TEST(ProbeTable, EveryProbeHasAProgramWithATitle) {
  for (const Probe& probe : Probes()) {
    EXPECT_TRUE(ProgramSource(probe.name).starts_with("# ")) << probe.name;
    EXPECT_GT(ProbeTitle(probe).size(), 4u) << probe.name;
    const bool pair = probe.is(kAfterFirst) || probe.is(kBesideFirst);
    EXPECT_EQ(!ProgramSource(std::string(probe.name) + ".first").empty(), pair) << probe.name;
  }
}

TEST(ProbeTable, NothingGoesToAnOutsideAddress) {
  for (const Probe& probe : Probes()) {
    const std::string_view source = ProgramSource(probe.name);
    EXPECT_EQ(source.find("gethostbyname"), std::string_view::npos) << probe.name;
    EXPECT_EQ(source.find("getaddrinfo"), std::string_view::npos) << probe.name;
    if (source.find(".connect((") == std::string_view::npos) continue;
    EXPECT_TRUE(source.find("\"127.0.0.1\"") != std::string_view::npos ||
                source.find("\"::1\"") != std::string_view::npos)
        << probe.name;
  }
}

TEST(Program, BindsWhatItUsesAndNothingElse) {
  const Probe& probe = *FindProbe("connect_port_80");
  const std::string text =
      ProgramText(probe, {{"tcp_port", std::uint64_t{4711}}, {"cookie", std::string("C12345")}});
  EXPECT_TRUE(text.starts_with("tcp_port = 4711\n")) << text;
  EXPECT_EQ(text.find("cookie"), std::string::npos);
  EXPECT_EQ(text.find("ctypes"), std::string::npos) << "plain programs make no raw calls";
}

// A target that quotes the code in an error must not look as if the code had run.
TEST(Program, HoldsNoEvidenceInOnePiece) {
  const std::string nonce = "N0123456789abcdef";
  const std::string text = ProgramText(*FindProbe("run_execve"), {{"nonce", nonce}});
  EXPECT_EQ(text.find(nonce), std::string::npos);
  EXPECT_NE(text.find("nonce = \"N0123456\" + \"789abcdef\"\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace glovebox::audit
