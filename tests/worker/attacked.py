"""What hostile code attacks, whatever language it is in: files, processes, sockets, shared memory; and what must be so afterwards.

LAYERS_PROGRAM runs a program with some layers of the sandbox alone (tests/lisp/layers.c).
"""
import atexit
import contextlib
import ctypes
import os
import re
import shutil
import socket
import subprocess
import tempfile

from blackbox import equal, expect
from rows import LAYERS
from server import name_of, processes

LAYERS_PROGRAM = os.path.abspath(os.environ["LAYERS_PROGRAM"])
AS_IT_WAS = "all is as it was"

# ---- What there is to attack ---------------------------------------------------------------------

FOLDER = tempfile.mkdtemp(prefix="mishap-attacked-", dir="/var/tmp")  # a session has a /tmp of its own
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
KEY = os.getpid() | 0x40000000
libc = ctypes.CDLL(None)


def in_folder(name):
    return os.path.join(FOLDER, name)


def make_victim():
    for name in ("made", "moved"):
        with contextlib.suppress(OSError):
            (os.rmdir if os.path.isdir(in_folder(name)) else os.remove)(in_folder(name))
    with contextlib.suppress(OSError):
        os.remove(in_folder("victim"))
    with open(in_folder("victim"), "w", encoding="ascii") as file:
        file.write(AS_IT_WAS)
    for name, text in (("source.lisp", "(print 1)"), ("evil.py", "x = 1")):
        with open(in_folder(name), "w", encoding="ascii") as file:
            file.write(text)


def copy_library():
    """A shared object that is outside, and does no harm."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = re.search(r"(/\S+/libm[.-]\S*so\S*)", maps.read())
    if not found:
        found = re.search(r"(/\S+libm\.so\.6)", subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout)
    shutil.copy(found[1], in_folder("library.so"))


def listening(family, address, kind=socket.SOCK_STREAM):
    found = socket.socket(family, kind)
    found.bind(address)
    if kind == socket.SOCK_STREAM:
        found.listen(200)
    found.setblocking(False)
    return found


make_victim()
copy_library()
ABSTRACT = "mishap-escape-%d" % os.getpid()
streams = listening(socket.AF_INET, ("127.0.0.1", 0))
PORT = streams.getsockname()[1]
datagrams = listening(socket.AF_INET, ("127.0.0.1", PORT), socket.SOCK_DGRAM)
by_path = listening(socket.AF_UNIX, in_folder("socket"))
abstract = listening(socket.AF_UNIX, "\0" + ABSTRACT)
shared = libc.shmget(KEY, 4096, 0o1600), libc.msgget(KEY, 0o1600), libc.semget(KEY, 1, 0o1600)
atexit.register(lambda: (libc.shmctl(shared[0], 0, None), libc.msgctl(shared[1], 0, None), libc.semctl(shared[2], 0, 0)))
stranger = subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, env={"SECRET": "of another process"})
atexit.register(lambda: (stranger.kill(), stranger.wait()))


def visits():
    """The processes that reached a place which none may reach."""
    found = []
    for name, where in (("port", streams), ("path", by_path), ("abstract", abstract)):
        with contextlib.suppress(BlockingIOError):
            while True:
                where.accept()[0].close()
                found.append(name)
    with contextlib.suppress(BlockingIOError):
        while True:
            datagrams.recv(100)
            found.append("datagram")
    return found


def expect_unchanged(what):
    status = os.stat(in_folder("victim"))
    with open(in_folder("victim"), encoding="ascii") as file:
        equal(file.read(), AS_IT_WAS, "the victim after an attempt to " + what)
    equal((status.st_mode & 0o777, status.st_nlink), before, "mode and links of the victim after " + what)
    equal(sorted(os.listdir(FOLDER)), ["evil.py", "library.so", "socket", "source.lisp", "victim"], "the folder after an attempt to " + what)
    equal(visits(), [], "visits after an attempt to " + what)
    expect(stranger.poll() is None, "another process has ended after an attempt to", what)
    equal(os.getpriority(os.PRIO_PROCESS, stranger.pid), priority, "its priority after an attempt to " + what)
    equal(socket.gethostname(), HOST, "the name of the host after an attempt to " + what)


HOST = socket.gethostname()
priority = os.getpriority(os.PRIO_PROCESS, stranger.pid)
before = (os.stat(in_folder("victim")).st_mode & 0o777, 1)


def stack_of(pid):
    """The address of memory that a process never reads."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        return int(re.search(r"^([0-9a-f]+)-.*\[stack\]", maps.read(), re.M)[1], 16)


# ---- Layers --------------------------------------------------------------------------------------

def landlock_suffices(attempt, version):
    needed = attempt.layers[attempt.layers.find("L") + 1:][:1]
    return not needed.isdigit() or version >= int(needed)


def stopping(attempt, names, version):
    """The layers among `names` that stop an attempt."""
    return [name for letter, name in LAYERS.items() if letter in attempt.layers and name in names and
            (letter != "L" or landlock_suffices(attempt, version))]


def offers():
    """The layers that this machine offers, and the version of Landlock."""
    done = subprocess.run([LAYERS_PROGRAM, "offers"], capture_output=True, text=True, check=True).stdout.split("\n")
    version = [int(line.split()[1]) for line in done if line.startswith("landlock ")][0]
    return [line for line in done if line and " " not in line], version


# ---- Processes of a server -----------------------------------------------------------------------

def keeper_of(found):
    return [pid for pid, parent in processes() if parent == found.process.pid and name_of(pid) == "mishap-keeper"]


def family_of(found):
    """All processes of a server but those that run sessions."""
    return sorted(pid for pid, parent in processes() if pid == found.process.pid or parent == found.process.pid)
