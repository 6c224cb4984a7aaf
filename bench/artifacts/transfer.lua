-- Transfers of 1 scrip between principals 1 to ACCOUNTS. The requests are made once, so that little Lua runs for each.
local accounts, count = tonumber(os.getenv("ACCOUNTS")), 4096
local requests, at = {}, 0

function init(args)
    math.randomseed(tonumber(os.getenv("SEED")))
    for i = 1, count do
        local from = math.random(accounts)
        local to = (from - 1 + math.random(accounts - 1)) % accounts + 1
        requests[i] = wrk.format("POST", "/artifacts/genesis_ledger/transfer",
            { ["Content-Type"] = "application/json", ["X-Caller"] = tostring(from) },
            string.format('{"args":["%d","%d",1]}', from, to))
    end
end

function request()
    at = at % count + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format('{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"failed":%d}\n', summary.requests,
        summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
        errors.connect + errors.read + errors.write + errors.timeout))
end
