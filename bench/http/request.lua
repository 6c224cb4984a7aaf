-- What wrk sends, made once (there is no request function, so no Lua runs for a request), and what it has seen at
-- the end, as one line of JSON. errors.status counts all answers from 400 up: here that must be every one.
wrk.method = "POST"
wrk.path = "/users"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"name":"","age":200,"email":"invalid"}'

function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"failed":%d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
        errors.connect + errors.read + errors.write + errors.timeout))
end
