// What a program in a box can send to the proxy's HTTP door: heads, chunks, and what is sent
// onwards for them. A head that is accepted must be read the same by our own strict reading of what
// we send.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/chunk_reader.h"
#include "egress/request_head.h"
#include "egress/response_head.h"

namespace {

using namespace glovebox::egress;
using Step = HeadReading::Step;

void CheckHead(std::string_view input) {
  const HeadReading reading = ReadProxyHead(input);
  if (reading.step == Step::kRefused) CHECK(!reading.reason.empty());
  if (reading.step != Step::kComplete) return;
  CHECK(reading.bytes <= input.size() && reading.head.port != 0);
  CHECK(glovebox::policy::NetworkHost::Parse(reading.head.host.Text()).ok());
  // The end of the head is where it is, whatever follows.
  const HeadReading again = ReadProxyHead(input.substr(0, reading.bytes));
  CHECK(again.step == Step::kComplete && again.bytes == reading.bytes);
  if (reading.head.method == "CONNECT") return;
  const std::string sent = WriteHead(reading.head);
  const HeadReading read = ReadOriginHead(sent, reading.head.host, reading.head.port);
  CHECK(read.step == Step::kComplete && read.bytes == sent.size());
  CHECK(read.head.path == reading.head.path && read.head.query == reading.head.query);
  CHECK(read.head.body == reading.head.body && read.head.length == reading.head.length);
  CHECK(WriteHead(read.head) == sent);
}

// In pieces of `step` bytes; returns what goes onwards, and how much was taken.
std::string Dechunk(std::string_view input, std::size_t step, std::size_t& taken, bool& done) {
  ChunkReader reader;
  std::string out;
  std::string pending;
  taken = 0;
  for (std::size_t at = 0; at < input.size() && !reader.done() && !reader.failed(); at += step) {
    pending += input.substr(at, step);
    const std::size_t used = reader.Take(pending, out);
    taken += used;
    pending.erase(0, used);
  }
  done = reader.done();
  return out;
}

void CheckChunks(std::string_view input, std::size_t step) {
  std::size_t taken = 0;
  std::size_t taken_in_pieces = 0;
  bool done = false;
  bool done_in_pieces = false;
  const std::string out = Dechunk(input, input.size() + 1, taken, done);
  const std::string pieces = Dechunk(input, step, taken_in_pieces, done_in_pieces);
  CHECK(done == done_in_pieces);
  if (!done) return;
  CHECK(out == pieces && taken == taken_in_pieces);
  // What was written anew reads as itself.
  std::size_t whole = 0;
  CHECK(Dechunk(out, out.size() + 1, whole, done) == out && done && whole == out.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty() || size > 2048) return 0;
  const std::size_t step = static_cast<std::uint8_t>(input.front()) % 32u + 1;
  input.remove_prefix(1);
  CheckHead(input);
  CheckChunks(input, step);
  const ResponseHead response = ReadResponseHead(input, step % 2 == 0);
  if (response.step == ResponseHead::Step::kComplete) CHECK(response.bytes <= input.size());
  return 0;
}
