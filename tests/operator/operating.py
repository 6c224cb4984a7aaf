"""What the tests of the operator's operations share."""
import fcntl
import os
import struct
import subprocess
import sys
import termios
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402, F401
import leaks  # noqa: E402
from blackbox import PATIENCE, equal, open_terminal, parsed, run_program  # noqa: E402

MISHAP = os.path.abspath(os.environ["MISHAP_PROGRAM"])
leaks.own = True  # answers of the operator have the private side
stores = []  # a function from a data folder to the address of its store of incidents; none: SQLite files


def environment(where, **more):
    """The variables by which a command finds a log, its data folder and its store."""
    found = {"MISHAP_LOG": where.log, "MISHAP_DATA": where.data, "ASAN_OPTIONS": "detect_leaks=0", **more}
    return dict(found, MISHAP_INCIDENT_STORE=stores[0](where.data)) if stores else found


class Place:
    """A log and a data folder."""

    def __init__(self, name):
        self.data = os.path.join(server.FOLDER, name)
        os.mkdir(self.data)
        self.log = os.path.join(self.data, "log")

    @property
    def environment(self):
        return environment(self, NO_COLOR="1", TERM="xterm")


def on_terminal(place, *words, width=80, status=0):
    """What a command shows on a terminal."""
    ours, other = open_terminal()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = subprocess.Popen([MISHAP, *words], stdin=subprocess.DEVNULL, stdout=other, stderr=other, env=dict(os.environ, **place.environment))
    os.close(other)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    equal(process.wait(PATIENCE), status, "exit of %s: %s" % (" ".join(words), text))
    return text.decode().replace("\r\n", "\n")


def command(where, *words, status=0, **more):
    """Run a command with a log and a data folder; one that is to fail, which is an incident itself, with a copy of them if there is one."""
    where = getattr(where, "mistakes", where) if status else where
    done = run_program(MISHAP, *words, "--output", "json", env=environment(where), **more)
    equal(done.status, status, "exit of %s: %r" % (" ".join(words)[:200], done))
    answer = parsed(done.out)
    return answer["data"] if status == 0 else answer


def id_at(ms):
    octets = bytearray(ms.to_bytes(6, "big") + os.urandom(10))
    octets[6], octets[8] = octets[6] & 15 | 0x70, octets[8] & 0x3f | 0x80
    return str(uuid.UUID(bytes=bytes(octets)))
