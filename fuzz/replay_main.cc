// Runs files through a fuzz target without a fuzzer, so that every build replays its corpus.
//
//   fuzz_x FILE-OR-FOLDER...
//
// Fails when it finds no file: an empty corpus proves nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

// The files named, and those in the folders named, in an order that does not change.
std::vector<fs::path> InputsOf(const std::vector<std::string>& arguments) {
  std::vector<fs::path> inputs;
  std::error_code ignored;  // what cannot be listed is missing from the count, which is checked
  for (const fs::path argument : arguments) {
    if (fs::is_regular_file(argument, ignored)) inputs.push_back(argument);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argument, ignored)) {
      if (entry.is_regular_file(ignored)) inputs.push_back(entry.path());
    }
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

bool Replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || !file.is_open()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  // Named before it runs: a crash then says which input did it.
  std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), bytes.size());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> inputs = InputsOf({argv + 1, argv + argc});
  if (inputs.empty()) {
    std::fprintf(stderr, "no input to replay: the corpus is empty or missing\n");
    return 1;
  }
  if (!std::all_of(inputs.begin(), inputs.end(), Replay)) return 1;
  std::fprintf(stderr, "replayed %zu inputs\n", inputs.size());
  return 0;
}
