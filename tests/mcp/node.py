"""Node, which runs the clients that are made for it."""
import functools
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from blackbox import Skipped  # noqa: E402

NODE_MODULES = os.environ.get("MISHAP_NODE_MODULES", os.path.join(HERE, "../../build/deps/npm/node_modules"))


def node():
    """That of npm if there is one, else the system's; None if there is neither."""
    own = os.path.join(NODE_MODULES, ".bin", "node")
    return own if os.path.exists(own) else shutil.which("node")


@functools.cache
def node_22():
    """Node 22 or later, which most of the packages need."""
    found = node()
    version = found and subprocess.run([found, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    if not version or int(re.match(r"v(\d+)", version)[1]) < 22:
        raise Skipped("there is no Node 22")
    return found
