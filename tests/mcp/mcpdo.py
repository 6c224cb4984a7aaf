"""The programs of the Inspector from npm, and mcpdo, one of them, whose process in the background holds a session."""
import json
import os
import subprocess
import time

import server
from blackbox import PATIENCE, Skipped, equal
from node import NODE_MODULES, node_22


def inspector(name):
    """A program of the Inspector."""
    program = os.path.join(NODE_MODULES, "@modelcontextprotocol/inspector/clients", name)
    if not os.path.exists(program):
        raise Skipped("the inspector is not there")
    return program


def surroundings(name):
    """Its environment: files in a folder of its own, no browser."""
    folder = os.path.join(server.FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    return {**os.environ, "HOME": folder, "MCP_STORAGE_DIR": os.path.join(folder, "storage"), "MCP_INSPECTOR_SECRET_STORE": "file", "NO_COLOR": "1",
            "MCP_INSPECTOR_DAEMON_DIR": os.path.join(folder, "daemon"), "MCP_AUTO_OPEN_ENABLED": "false",
            "MCP_OAUTH_CALLBACK_URL": "http://127.0.0.1:%d/oauth/callback" % server.free_port()}


class Mcpdo:
    """A folder of mcpdo, with one process in the background."""

    def __init__(self, name, **more):
        self.program, self.env = inspector("mcpdo/build/mcp-bin.js"), {**surroundings(name), **more}

    def started(self, *arguments):
        """How a run ended. On a busy machine it does not wait long enough for its process in the background, which then goes on to start."""
        end = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run([node_22(), self.program, "--format", "json", *arguments], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            if b"daemon_start_timeout" not in done.stderr or time.monotonic() > end:
                return done

    def run(self, *arguments, exits=0):
        done = self.started(*arguments)
        equal(done.returncode, exits, "exit of %s, which said %r, %r" % (arguments, done.stdout[-800:], done.stderr[-800:]))
        return json.loads(done.stdout) if done.stdout.strip() else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("daemon", "stop")
