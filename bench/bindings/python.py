#!/usr/bin/env python3
"""The Python package against what programs do by hand: python.py [EXTENSION]. CPU time, as ratios of one run.

EXTENSION is the file that Meson builds; without it that of build/, which is made first. Debian's Python runs it, because it has FastAPI.
"""
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 11)
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


def compare(what, ours, by_hand, count):
    """Print the ratio of both, measured in turns, with its bar: the median of the rounds."""
    name, bar = what
    ours(), by_hand()
    pairs = [(cpu_of(ours, count), cpu_of(by_hand, count)) for _ in range(ROUNDS)]
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    figures.row("    " + name, statistics.median(figures.ratios(name, first, second)), "×", at_most=bar)
    figures.row("        ours", statistics.median(first), "µs")
    figures.row("        by hand", statistics.median(second), "µs")


def same(ours, by_hand):
    if json.loads(ours) != json.loads(by_hand):
        raise figures.Void(f"the documents differ: {ours} and {by_hand}")


class ApiError(Exception):
    """What a program has without the package."""

    def __init__(self, code, message, context):
        super().__init__(message)
        self.code, self.message, self.context = code, message, context

    def document(self):
        return {"type": "about:blank", "title": "Not Found", "status": 404, "detail": self.message, "code": self.code, "category": "resource",
                "retryable": False, "context": self.context}


def raise_and_render(what):
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

    same(ours(), by_hand())
    compare(what, ours, by_hand, 20000)


def translate(what):
    import mishap
    document = mishap.Mishap("NOT_FOUND", "There is no user 7.", context={"user": 7}).render("problem")

    def ours():
        return mishap.translate(document, "problem", "json-api")

    def by_hand():
        read = json.loads(document)
        return json.dumps({"errors": [{"status": str(read["status"]), "code": read["code"], "title": "Not found", "detail": read["detail"],
                                       "meta": {"context": read["context"]}}]})

    same(ours(), by_hand())
    compare(what, ours, by_hand, 20000)


def failing_request(what):
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
    same(first()[1]["body"], second()[1]["body"])
    compare(what, first, second, 300)


def timed_import(name, folder):
    """Milliseconds of CPU time of an import inside of the process; the smallest of some."""
    code = f"import time; begun = time.process_time(); import {name}; print((time.process_time() - begun) * 1000)"
    searched = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    return min(float(subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=searched), check=True, stdout=subprocess.PIPE, text=True).stdout)
               for _ in range(20))


MEASURES = {
    ("raise and render, against raise and json.dumps", 0.4): raise_and_render,
    ("translate, against loads and dumps", 0.3): translate,
    ("a failing request of FastAPI, against a handler by hand", 1.05): failing_request,
}


def main():
    print("the Python package against programs by hand, CPU", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        make_package(folder, extension())
        for what, measure in MEASURES.items():
            try:
                measure(what)
            except ImportError as missing:
                figures.say(f"{what[0]}: not measured, {missing}")
        with open(os.path.join(folder, "empty.py"), "w", encoding="utf-8"):
            pass
        over = figures.figure("import", timed_import("mishap", folder)) - figures.figure("import of an empty module", timed_import("empty", folder))
        figures.row("    import, over an empty module", over, "ms", at_most=3)


if os.path.exists(PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(PYTHON):
    os.execv(PYTHON, [PYTHON, *sys.argv])
figures.run(main)
