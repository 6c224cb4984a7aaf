"""Calls a second of a service that settles its calls, in batches and one by one.

    python3 bench/settle/measure.py build/tests/settled [SECONDS]

The service is tests/worker/settled.c; a settlement takes 1 ms more than its commit, as a disk does that flushes slowly. 64
connections call it, with wrk. Prints a line for each and the ratio, and fails if that is less than 8.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

LEAST = 8
SCRIPT = """wrk.method = "POST"
wrk.path = "/entries"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"key":1}'
"""


def measure(program, seconds, *flags):
    folder = tempfile.mkdtemp(prefix="bench-settle-")
    script, log = os.path.join(folder, "script.lua"), os.path.join(folder, "stderr")
    with open(script, "w") as file:
        file.write(SCRIPT)
    with open(log, "wb") as file:
        server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(folder, "data"), "--workers", "1",
                                   *flags], stdout=subprocess.DEVNULL, stderr=file, env=dict(os.environ, SETTLED_LOG=""))
    try:
        deadline, ready = time.monotonic() + 30, None
        while not ready and time.monotonic() < deadline:
            time.sleep(0.02)
            with open(log) as file:
                ready = re.search(r"listening on (http://\S+)", file.read())
        if not ready:
            sys.exit("the server does not start")
        out = subprocess.run(["wrk", "-t1", "-c64", "-d%d" % seconds, "--latency", "-s", script, ready[1]], capture_output=True, text=True,
                             check=True).stdout
        if "Non-2xx" in out:
            sys.exit("calls failed:\n" + out)
        return float(re.search(r"Requests/sec:\s+(\S+)", out)[1]), re.search(r"99%\s+(\S+)", out)[1]
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def main():
    program, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ratios = []
    for settle_ms in ("1", "0"):
        rates = {}
        for batch in ("1", "64"):
            rates[batch], p99 = measure(program, seconds, "--settled-settle-ms", settle_ms, "--handler-batch", batch)
            print("settlement +%s ms, batches of %2s: %8.0f calls/s, p99 %s" % (settle_ms, batch, rates[batch], p99))
        ratios.append(rates["64"] / rates["1"])
        print("settlement +%s ms: %.1f times as many in batches" % (settle_ms, ratios[-1]))
    return ratios[0] < LEAST


sys.exit(main())
