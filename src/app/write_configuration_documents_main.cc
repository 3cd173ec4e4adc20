// write_configuration_documents FOLDER: writes .env.example, docs/configuration.md and
// docs/profiles.md of a source tree from the table of settings and the profiles. Run by `make
// config-docs`.
#include <cstdio>
#include <fstream>
#include <string>

#include "app/configuration_documents.h"
#include "app/profile_documents.h"

namespace {

bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) std::fprintf(stderr, "write_configuration_documents: cannot write %s\n", path.c_str());
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_configuration_documents FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const bool written = Write(folder + "/.env.example", glovebox::EnvironmentExample()) &&
                       Write(folder + "/docs/configuration.md", glovebox::ConfigurationManual()) &&
                       Write(folder + "/docs/profiles.md", glovebox::ProfilesManual());
  return written ? 0 : 1;
}
