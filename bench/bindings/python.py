#!/usr/bin/env python3
"""The Python package against what programs do by hand: python.py [EXTENSION]. CPU time, as ratios of one run.

Prints `name ratio bar` and what was measured. The exit code is 1 if a ratio is above its bar. EXTENSION is the file that Meson builds; without
it that of build/, which is made first. Debian's Python runs it, because it has FastAPI.
"""
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 11
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(TREE, "bindings", "python", "mishap")
PYTHON = "/usr/bin/python3"


def extension():
    if sys.argv[1:]:
        return sys.argv[1]
    subprocess.run(["ninja", "-C", os.path.join(TREE, "build"), "bindings/python/_mishap.abi3.so"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(TREE, "build", "bindings", "python", "_mishap.abi3.so")


def make_package(folder, built):
    os.mkdir(os.path.join(folder, "mishap"))
    for name in os.listdir(SOURCE):
        if name.endswith(".py"):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, "mishap", name))
    os.symlink(os.path.abspath(built), os.path.join(folder, "mishap", "_mishap.abi3.so"))
    sys.path.insert(0, folder)


def cpu_of(function, count):
    begun = time.process_time()
    for _ in range(count):
        function()
    return (time.process_time() - begun) / count * 1e6


def compare(ours, by_hand, count):
    """Microseconds of both, in turns, and the ratio: medians of the rounds."""
    ours(), by_hand()
    pairs = [(cpu_of(ours, count), cpu_of(by_hand, count)) for _ in range(ROUNDS)]
    return (statistics.median(one for one, _ in pairs), statistics.median(other for _, other in pairs),
            statistics.median(one / other for one, other in pairs))


class ApiError(Exception):
    """What a program has without the package."""

    def __init__(self, code, message, context):
        super().__init__(message)
        self.code, self.message, self.context = code, message, context

    def document(self):
        return {"type": "about:blank", "title": "Not Found", "status": 404, "detail": self.message, "code": self.code, "category": "resource",
                "retryable": False, "context": self.context}


def raise_and_render():
    from mishap import NOT_FOUND, Mishap

    def ours():
        try:
            raise Mishap(NOT_FOUND, "There is no user 7.", context={"user": 7})
        except Mishap as failure:
            return failure.render("problem")

    def by_hand():
        try:
            raise ApiError("NOT_FOUND", "There is no user 7.", {"user": 7})
        except ApiError as failure:
            return json.dumps(failure.document())

    assert json.loads(ours()) == json.loads(by_hand())
    return compare(ours, by_hand, 20000)


def translate():
    import mishap
    document = mishap.Mishap("NOT_FOUND", "There is no user 7.", context={"user": 7}).render("problem")

    def ours():
        return mishap.translate(document, "problem", "json-api")

    def by_hand():
        read = json.loads(document)
        return json.dumps({"errors": [{"status": str(read["status"]), "code": read["code"], "title": "Not found", "detail": read["detail"],
                                       "meta": {"context": read["context"]}}]})

    assert json.loads(ours()) == json.loads(by_hand()), (ours(), by_hand())
    return compare(ours, by_hand, 20000)


def failing_request():
    """A request to FastAPI, without a network: the adapter against a handler that sends the same JSON."""
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse

    import mishap.fastapi
    adapted, plain = FastAPI(), FastAPI()
    mishap.fastapi.install(adapted)

    @plain.exception_handler(ApiError)
    async def answer(request, failure):
        return JSONResponse(failure.document(), 404, media_type="application/problem+json")

    @adapted.get("/users/{number}")
    async def ours(number: int):
        raise mishap.Mishap("NOT_FOUND", f"There is no user {number}.", context={"user": number})

    @plain.get("/users/{number}")
    async def by_hand(number: int):
        raise ApiError("NOT_FOUND", f"There is no user {number}.", {"user": number})

    async def receive():
        return {"type": "http.request", "body": b""}

    loop = asyncio.new_event_loop()

    def asker(app):
        async def ask():
            sent = []

            async def send(message):
                sent.append(message)
            await app({"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": "/users/7", "raw_path": b"/users/7",
                       "root_path": "", "scheme": "http", "query_string": b"", "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1),
                       "server": ("127.0.0.1", 80)}, receive, send)
            return sent
        return lambda: loop.run_until_complete(ask())
    first, second = asker(adapted), asker(plain)
    assert json.loads(first()[1]["body"]) == json.loads(second()[1]["body"]), (first(), second())
    return compare(first, second, 300)


def timed_import(name, folder):
    """Milliseconds of an import inside of the process; the smallest of some."""
    code = f"import time; begun = time.perf_counter(); import {name}; print((time.perf_counter() - begun) * 1000)"
    return min(float(subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=folder), check=True, stdout=subprocess.PIPE, text=True).stdout)
               for _ in range(20))


def main():
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        make_package(folder, extension())
        for name, bar, measure in (("python-raise-render", 0.4, raise_and_render), ("python-translate", 0.3, translate),
                                   ("python-fastapi-request", 1.05, failing_request)):
            try:
                ours, by_hand, ratio = measure()
            except ImportError as missing:
                print(f"{name} skipped: {missing}")
                continue
            missed += ratio > bar
            print(f"{name} {ratio:.2f} {bar}    {ours:.2f} µs of {by_hand:.2f}{'' if ratio <= bar else '    above the bar'}")
        with open(os.path.join(folder, "empty.py"), "w", encoding="utf-8"):
            pass
        over = timed_import("mishap", folder) - timed_import("empty", folder)
        missed += over > 3
        print(f"python-import-ms {over:.2f} 3.0    over an empty module{'' if over <= 3 else '    above the bar'}")
    return 1 if missed else 0


if os.path.exists(PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(PYTHON):
    os.execv(PYTHON, [PYTHON, *sys.argv])
sys.exit(main())
