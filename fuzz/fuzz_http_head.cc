// What anybody can send to the HTTP port, against what turns bytes into requests: heads, bodies and
// chunks, with what may be said about a request before its body is here. Every input is read twice,
// at once and in pieces; both readings must find the same requests, or two readers of one stream
// could disagree where a request ends.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "transport/http_request_reader.h"

namespace {

using glovebox::HttpRequest;
using glovebox::HttpRequestReader;
using Step = HttpRequestReader::Step;

// Small, so that small inputs reach them.
constexpr glovebox::HttpReadLimits kLimits{.head_bytes_max = 256, .body_bytes_max = 64};
constexpr std::size_t kInputBytesMax = 768;

void CheckRequest(const HttpRequest& request) {
  CHECK(!request.method.empty() && !request.target.empty());
  CHECK(request.path().size() <= request.target.size());
  CHECK(request.body.size() <= kLimits.body_bytes_max);
  std::size_t head_bytes = request.method.size() + request.target.size();
  for (const auto& [name, value] : request.headers) {
    CHECK(!name.empty());
    CHECK(value.find_first_of("\r\n") == std::string::npos);  // nothing to smuggle onwards
    CHECK(request.Header(name).has_value());
    head_bytes += name.size() + value.size();
  }
  CHECK(head_bytes <= kLimits.head_bytes_max);
  CHECK(request.CountHeader("Host") <= 1);
}

void CheckRefusal(const glovebox::HttpRefusal& refusal) {
  constexpr unsigned kStatuses[] = {400, 413, 414, 417, 431, 501, 505};
  CHECK(std::find(std::begin(kStatuses), std::end(kStatuses), refusal.status) !=
        std::end(kStatuses));
  CHECK(!refusal.reason.empty());
}

std::vector<HttpRequest> Read(std::string_view input, std::size_t step) {
  std::vector<HttpRequest> requests;
  HttpRequestReader reader(kLimits);
  while (!input.empty()) {
    reader.Append(input.substr(0, step));
    input.remove_prefix(std::min(step, input.size()));
    bool after_head = false;
    for (Step next = reader.Advance(); next != Step::kNeedMore; next = reader.Advance()) {
      CHECK(!(after_head && next == Step::kHead));
      after_head = next == Step::kHead;
      if (next == Step::kRefused) {
        CheckRefusal(reader.refusal());
        return requests;
      }
      if (next == Step::kComplete) {
        requests.push_back(reader.Take());
        CheckRequest(requests.back());
      }
    }
  }
  return requests;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty() || size > kInputBytesMax) return 0;
  const std::size_t step = static_cast<std::uint8_t>(input.front()) % 64u + 1;
  input.remove_prefix(1);
  const auto at_once = Read(input, std::max<std::size_t>(input.size(), 1));
  const auto in_pieces = Read(input, step);
  CHECK(at_once.size() == in_pieces.size());
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    CHECK(at_once[i].method == in_pieces[i].method && at_once[i].target == in_pieces[i].target);
    CHECK(at_once[i].headers == in_pieces[i].headers && at_once[i].body == in_pieces[i].body);
  }
  return 0;
}
