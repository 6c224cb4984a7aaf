"""The first view of the pages of a server, in Chromium with an empty cache: the time until it shows, and the bytes of it.

    scripts/bench-pages [--rounds 7]

/console is seen as an operator who has logged in sees it, with failures of the last minutes; its field for the key comes sooner. The time is the median
of the rounds. The bar for bytes is for the files of a page, which are sent packed with gzip, and not for what it asks the server for, such as
/openapi.json, whose size is that of the program.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import figures  # noqa: E402

MODULES = TREE / "build/deps/npm/node_modules"
MOST_MS, MOST_KB = 1000, 150


def start_server(program, folder):
    with open(folder / "err", "wb") as log:
        server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data", folder], stdout=subprocess.DEVNULL, stderr=log,
                                  env=dict(os.environ, MISHAP_LOG=str(folder / "log")))
    for _ in range(600):
        ready = re.search(rb"listening on (http://\S+)", (folder / "err").read_bytes())
        if ready:
            return server, ready[1].decode()
        time.sleep(0.1)
    raise figures.Void("the server does not listen")


def fail_some(url, count):
    """The console shows something."""
    for number in range(count):
        try:
            urllib.request.urlopen("%s/%s/%d" % (url, ("todos", "nowhere")[number % 2], number)).close()
        except urllib.error.HTTPError as refused:
            refused.close()


def node_22():
    for node in (str(MODULES / ".bin/node"), shutil.which("node")):
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node and os.path.exists(node) else ""
        if version and int(re.match(r"v(\d+)", version)[1]) >= 22:
            return node
    raise figures.Void("there is no Node 22: scripts/setup bench-pages")


def measure(options, folder):
    chromium = shutil.which("chromium")
    if not chromium or not (MODULES / "playwright-core").is_dir():
        raise figures.Void("there is no chromium, or no playwright-core: scripts/setup bench-pages")
    server, url = start_server(options.mishap, folder)
    try:
        fail_some(url, 40)
        key = (folder / "operator.key").read_text().strip()
        pages = {"/console#key=" + key: "#plot", "/console": "#key", "/docs": "details.op", "/errors": "tbody tr", "/": ".cards"}
        given = {"modules": str(MODULES), "chromium": chromium, "url": url, "rounds": options.rounds, "pages": pages}
        done = subprocess.run([node_22(), HERE / "first_view.mjs", json.dumps(given)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise figures.Void(done.stderr[-1000:].replace(key, "KEY"))
        views = [json.loads(line) for line in done.stdout.splitlines()]
    finally:
        server.terminate()
        server.wait()
    for path in pages:
        mine = [one for one in views if one["page"] == path]
        name = "/console, logged in" if "#key=" in path else path
        figures.row(f"{name}: first view", figures.median(name, [one["milliseconds"] for one in mine], options.rounds), "ms", at_most=MOST_MS)
        figures.row(f"{name}: its files, as they are sent", figures.median(name, [one["assets"] for one in mine], options.rounds) / 1024, "KB", at_most=MOST_KB)
        data = statistics.median(one["data"] for one in mine)
        if data:
            figures.row(f"{name}: what it asks the server for", data / 1024, "KB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mishap", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("there is no measurement without a round")
    with tempfile.TemporaryDirectory(prefix="mishap-bench-") as folder:
        measure(options, pathlib.Path(folder))


figures.run(main)
