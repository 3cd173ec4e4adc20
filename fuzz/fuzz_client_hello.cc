// What a program in a box can send where TLS is expected. The reading may not depend on how the
// bytes arrive, and what is complete stays what it is.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/client_hello.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glovebox::egress;
  using Step = HelloReading::Step;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const HelloReading whole = ReadClientHello(input);
  if (whole.step == Step::kRefused) CHECK(!whole.reason.empty());
  if (size > 600) return 0;
  const auto host = glovebox::policy::NetworkHost::Parse("example.org");
  const HelloReading checked = CheckClientHello(input, *host);
  if (checked.step == Step::kComplete) CHECK(whole.step == Step::kComplete);
  if (checked.step == Step::kComplete) {
    CHECK(glovebox::policy::NetworkHost::Parse(whole.server_name)->name == "example.org");
  }
  // Byte by byte: the first answer other than "more" is the one that counts for a reader that acts
  // on it, so it must not be a name that a later look would deny.
  for (std::size_t part = 0; part < size; ++part) {
    const HelloReading reading = ReadClientHello(input.substr(0, part));
    if (reading.step == Step::kNeedMore) continue;
    if (reading.step == Step::kComplete && whole.step == Step::kComplete) {
      CHECK(reading.server_name == whole.server_name);
    }
    break;
  }
  return 0;
}
