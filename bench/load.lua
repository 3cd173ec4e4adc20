-- wrk's script: one POST over and over, given by the environment; one JSON line at the end.
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
for name, value in os.getenv("BENCH_HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do
  wrk.headers[name] = value
end

function done(summary, latency)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.status + summary.errors.timeout
  io.write(string.format(
    '{"requests":%d,"seconds":%.3f,"rps":%.1f,"p50_ms":%.4f,"p99_ms":%.4f,"failures":%d}\n',
    summary.requests, summary.duration / 1e6, summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, failures))
end
