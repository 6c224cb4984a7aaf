"""Servers of others, as they come: applications of Express, Fastify, Hono and FastAPI below targets/, started at a free port."""
import os
import re
import subprocess
import sys
import tempfile

from auditing import HERE, PATIENCE, Skipped, expect

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "mcp"))
from node import NODE_MODULES, node_22  # noqa: E402

TARGETS = os.path.join(HERE, "targets")
SCHEMA = os.path.join(TARGETS, "users.json")
PYTHON = "/usr/bin/python3"


class Target:
    """A program that says its port in the first line, or that `pattern` finds on its standard error."""

    def __init__(self, command, pattern=rb"^(\d+)\n", **more):
        self.folder = tempfile.TemporaryDirectory()
        home = self.folder.name
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=dict(os.environ, HOME=home, XDG_STATE_HOME=home, **more))
        text = b""
        while not re.search(pattern, text, re.M):
            line = self.process.stdout.readline()
            expect(line, "it ended:", text[-1000:])
            text += line
        self.url = "http://127.0.0.1:%d" % int(re.search(pattern, text, re.M)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


def javascript(name, *packages):
    program = node_22()
    for package in packages:
        if not os.path.isdir(os.path.join(NODE_MODULES, package)):
            raise Skipped("the package %s is not there" % package)
    return Target([program, os.path.join(TARGETS, name + ".mjs"), NODE_MODULES])


def fastapi(folder=TARGETS, app="fastapi_app:app"):
    if subprocess.run([PYTHON, "-c", "import fastapi, uvicorn"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("FastAPI or uvicorn is not installed")
    command = [PYTHON, "-m", "uvicorn", "--app-dir", folder, "--port", "0", "--no-access-log", app]
    return Target(command, rb"running on http://127\.0\.0\.1:(\d+)", PYTHONDONTWRITEBYTECODE="1")
