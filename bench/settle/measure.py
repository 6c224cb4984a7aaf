"""Calls a second of a service that settles its calls, in batches and one by one.

    python3 bench/settle/measure.py build/tests/worker/settled [SECONDS]

The service is tests/worker/settled.c; a settlement takes 1 ms more than its commit, as a disk does that flushes slowly. 64
connections call it, with wrk. Prints a line for each, and the ratio with its target.
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures  # noqa: E402
import load  # noqa: E402

LEAST = 8
CONNECTIONS = 64
CALL = load.Request("POST", "/entries", 200, '"id"', '{"key":1}')


def measure(program, folder, seconds, *flags):
    server = load.Server(program, folder, flags=flags, environment={"SETTLED_LOG": ""})
    try:
        return server.load(CALL, CONNECTIONS, seconds)
    finally:
        server.stop()


def main():
    program, seconds = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="bench-settle-") as folder:
        for settle_ms, least in (("1", LEAST), ("0", None)):
            rates = {}
            for batch in ("1", "64"):
                seen = measure(program, pathlib.Path(folder) / "data", seconds, "--settled-settle-ms", settle_ms, "--handler-batch", batch)
                rates[batch] = 1e6 / seen["wall"]
                print(f"settlement +{settle_ms} ms, batches of {batch:>2}: {rates[batch]:8.0f} calls/s, p99 {seen['p99'] / 1000:.1f} ms, "
                      f"{seen['cpu']:.1f} µs of CPU a call")
            figures.row(f"settlement +{settle_ms} ms, calls in batches against one by one", rates["64"] / rates["1"], "×", at_least=least)


figures.run(main)
