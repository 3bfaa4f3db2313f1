-- Sends the requests of the file in BENCH_REQUESTS in turn, unchanged, and prints the results as JSON.
local requests = {}
local turn = 0

function init()
  local file = io.open(os.getenv("BENCH_REQUESTS"), "rb")
  for one in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = one end
  file:close()
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"durationUs":%d,"refused":%d,"broken":%d,"p50Us":%d,"p99Us":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
