-- One report, or one batch, again and again, each time with a key of its own: wrk -s requests.lua URL -- BODY RUN PAUSE
-- PAUSE is the mean of the milliseconds between an answer and the next request on a connection; 0 is none.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  local file = io.open(args[1], "rb")
  local body = file:read("*a")
  file:close()
  local run, pause, count = args[2], tonumber(args[3]), 0
  local start = "POST " .. wrk.path .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n"
    .. "Content-Length: " .. #body .. "\r\nIdempotency-Key: " .. run
  local rest = "\r\n\r\n" .. body
  function request()
    count = count + 1
    return start .. string.format("-%02d-%016d", number, count) .. rest
  end
  if pause > 0 then
    math.randomseed(7 + number)
    function delay()
      return -math.log(1 - math.random()) * pause
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nfound {"requests": %d, "seconds": %.6f, "refused": %d, "broken": %d, "p50": %.6f, "p99": %.6f}\n',
    summary.requests, summary.duration / 1e6, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1e6, latency:percentile(99) / 1e6))
end
