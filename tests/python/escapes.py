"""What hostile Python tries (tests/worker/rows.py says what a row is). docs/python.md has the same table.

The code of a row is the body of `run`; an expression in one line is what it returns. One that is stopped raises, or its process dies.
"""
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "worker"))
import rows  # noqa: E402
from rows import Attempt  # noqa: E402

# What the attempts are written with. An int is negative if it failed; a call that needs a privilege is made with nonsense, and was
# permitted if the system finds fault with that and not with the caller.
WORDS = r'''
import os, sys
class Refused(Exception): pass
def at(name): return FOLDER + "/" + name
def refused(why="nothing was found"): raise Refused(str(why))
def error():
    import ctypes
    return ctypes.get_errno()
def must(result): return result if result >= 0 else refused(os.strerror(error()))
def permitted(result): return refused(os.strerror(error())) if result < 0 and error() in (1, 13, 38) else result
def raw(value): return value.encode() if isinstance(value, str) else value
def libc():
    import ctypes
    return ctypes.CDLL(None, use_errno=True)
def native(name, *arguments): return getattr(libc(), name)(*map(raw, arguments))
def pointer(name, *arguments):
    import ctypes
    function = getattr(libc(), name)
    function.restype = ctypes.c_void_p
    found = function(*map(raw, arguments))
    return found if found not in (None, 2**64 - 1) else refused(os.strerror(error()))
def kernel(number, *arguments):
    import ctypes
    function = libc().syscall
    function.restype = ctypes.c_long
    return function(*[ctypes.c_long(a) if isinstance(a, int) else a for a in (number, *arguments)])
def zeros(size):
    import ctypes
    return ctypes.create_string_buffer(size)
def long(value):
    import ctypes
    return ctypes.c_long(value)
def first(path, mode="r"):
    with open(path, mode) as file:
        return str(file.read(10))
def proc(name): return "/proc/%d/%s" % (PID, name)
def across(function):
    import ctypes
    here = zeros(8)
    vectors = (ctypes.c_long * 4)(ctypes.addressof(here), 8, ADDRESS, 8)
    base = ctypes.addressof(vectors)
    return must(native(function, PID, ctypes.c_void_p(base), long(1), ctypes.c_void_p(base + 16), long(1), long(0)))
def connected(family, kind, address):
    import socket
    made = socket.socket(family, kind)
    made.connect(address)
    return 1
'''

ATTEMPTS = [Attempt(*row) for row in [
    # Files, by functions of Python
    ("read a file that is not named", "LM", True, 'first("/etc/passwd")'),
    ("the same by a path with `..`", "LM", True, 'first("../../../../../../../../etc/passwd")'),
    ("the same through /proc/self/root", "LM", True, 'first("/proc/self/root/etc/passwd")'),
    ("the same with io.FileIO", "LM", True, 'import io\nreturn str(io.FileIO(at("victim")).read())'),
    ("the same with mmap", "LM", True, 'import mmap\nreturn str(mmap.mmap(os.open(at("victim"), 0), 0, prot=1)[:3])'),
    ("the same with linecache", "LM", True, 'import linecache\nreturn linecache.getline("/etc/passwd", 1) or refused()'),
    ("the same with fileinput", "LM", True, 'import fileinput\nreturn next(fileinput.input("/etc/passwd"))'),
    ("the same with sqlite3", "LM", True,
     'import sqlite3\nsqlite3.connect(at("made")).execute("create table t (x)")'),
    ("import a module from outside", "LM", True, 'sys.path.insert(0, FOLDER)\nimport evil\nreturn 1'),
    ("run a module from outside (runpy)", "LM", True, 'import runpy\nrunpy.run_path(at("evil.py"))'),
    ("list a folder that is not named (os.listdir)", "LM", True, 'os.listdir(FOLDER)'),
    ("find files by their names (glob)", "LM", True, 'import glob\nreturn glob.glob(at("*")) or refused()'),
    ("learn whether a file exists (os.stat)", "M", True, 'os.stat(at("victim")).st_size'),
    ("make a file (open)", "LM", True, 'first(at("made"), "w+")'),
    ("make a temporary file (tempfile)", "LM", True,
     'import tempfile\nreturn tempfile.mkstemp(dir=FOLDER)[1] and os.remove(tempfile.mkstemp(dir=FOLDER)[1])'),
    ("write over a file", "LM", True, 'open(at("victim"), "r+").write("x")'),
    ("append to a file", "LM", True, 'open(at("victim"), "a").write("x")'),
    ("delete a file (os.remove)", "LM", True, 'os.remove(at("victim"))'),
    ("rename a file (os.rename)", "LM", True, 'os.rename(at("victim"), at("moved"))'),
    ("make a folder (os.mkdir)", "LM", True, 'os.mkdir(at("made"))'),
    ("make a symbolic link (os.symlink)", "LM", True, 'os.symlink("/etc/passwd", at("made"))'),
    ("make a hard link (os.link)", "LM", True, 'os.link(at("victim"), at("made"))'),
    ("make a pipe with a name (os.mkfifo)", "SLM", True, 'os.mkfifo(at("made"))'),
    ("change the mode of a file (os.chmod)", "SM", True, 'os.chmod(at("victim"), 0o777)'),
    ("change the owner of a file (os.chown)", "SM", True, 'os.chown(at("victim"), -1, -1)'),
    ("change the times of a file (os.utime)", "SM", True, 'os.utime(at("victim"))'),
    ("truncate a file (os.truncate)", "SM", True, 'os.truncate(at("victim"), 0)'),
    ("load a shared object from outside", "LM", True, 'import ctypes\nreturn str(ctypes.CDLL(at("library.so")))'),
    ("write into Python's library", "LM", True, 'first(os.__file__, "r+")'),
    ("write byte code into Python's library", "LM", False, 'open(os.path.dirname(os.__file__) + "/evil.pyc", "wb").write(b"")'),
    ("open a device", "LM", True, 'str(first("/dev/zero", "rb"))'),
    ("read a setting of the kernel", "LM", True, 'first("/proc/sys/kernel/ostype")'),
    ("list the processes in /proc", "LM", True, 'os.listdir("/proc")'),
    ("write its own memory by /proc/self/mem", "LM", True, 'os.open("/proc/self/mem", os.O_RDWR)'),
    ("read its own maps", "LM", True, 'first("/proc/self/maps")'),
    # Files, by native calls
    ("open()", "LM", True, 'must(native("open", at("victim"), 0))'),
    ("openat2()", "SLM", True, 'must(kernel(437, -100, raw(at("victim")), zeros(24), 24))'),
    ("creat()", "LM", True, 'must(native("creat", at("made"), 0o600))'),
    ("setxattr()", "SM", False, 'must(native("setxattr", at("victim"), "user.x", "x", long(1), 0))'),
    ("inotify_add_watch()", "SM", True, 'must(native("inotify_add_watch", must(native("inotify_init")), FOLDER, 2))'),
    # Programs and processes
    ("run a program (subprocess)", "SLM", True,
     'import subprocess\nsubprocess.run(["/bin/sh", "-c", ": >" + at("made")], check=True)'),
    ("os.system", "SLM", True, 'os.system(": >" + at("made")) == 0 or refused()'),
    ("os.popen", "S", True, 'str(os.popen(": >" + at("made")))'),
    ("os.execv of a shell", "SLM", False, 'os.execv("/bin/sh", ["sh", "-c", ": >" + at("made")])'),
    ("os.posix_spawn", "SLM", True, 'os.posix_spawn("/bin/true", ["true"], {})'),
    ("os.fork", "S", True, 'os.fork() or os._exit(0)'),
    ("os.forkpty", "SLM", False, 'os.forkpty()[0] or os._exit(0)'),
    ("multiprocessing", "S", False,
     'import multiprocessing\np = multiprocessing.get_context("fork").Process(target=int)\np.start()\nreturn p.pid'),
    ("vfork()", "S", False, 'must(native("vfork")) or os._exit(0)'),
    ("clone3()", "S", False, 'permitted(kernel(435, 0, 0))'),
    ("execve() of itself", "S", False, 'permitted(native("execve", "/nowhere", long(0), long(0)))'),
    ("execute a file in memory (memfd)", "S", False,
     'file = os.memfd_create("x")\nos.write(file, b"#!")\npermitted(kernel(322 if os.uname().machine == "x86_64" else 281, file, b"", 0, 0, 0x1000))'),
    ("trace another process (ptrace)", "SLPU", False, 'must(native("ptrace", 16, PID, long(0), long(0)))'),
    ("be traced by its parent (ptrace)", "S", False, 'must(native("ptrace", 0, 0, long(0), long(0)))'),
    ("signal another process (os.kill)", "SPL6", True, 'os.kill(PID, 18)'),
    ("kill its parent", "SPL6", False, 'os.kill(PARENT, SIGNAL)'),
    ("kill the process that getppid() names", "S", False, 'os.kill(os.getppid() or -1, SIGNAL)'),
    ("kill all processes", "SP", False, 'os.kill(-1, 18)'),
    ("signal another process (tgkill)", "SPL6", True, 'must(native("tgkill", PID, PID, 18))'),
    ("signal another process (sigqueue)", "SPL6", True, 'must(native("sigqueue", PID, 18, long(0)))'),
    ("have the kernel signal it (fcntl F_SETOWN)", "SP", True, 'import fcntl\nfcntl.fcntl(3, 8, PID)'),
    ("os.pidfd_open", "SP", True, 'os.pidfd_open(PID)'),
    ("read the memory of another process (process_vm_readv)", "SLPU", False, 'across("process_vm_readv")'),
    ("write the memory of another process (process_vm_writev)", "SLPU", False, 'across("process_vm_writev")'),
    ("read the memory of another process in /proc", "LMU", False, 'os.open(proc("mem"), 0)'),
    ("read the environment of another process", "LMU", True, 'first(proc("environ"))'),
    ("read the command line of another process", "LM", True, 'first(proc("cmdline"))'),
    ("read the environment of its parent", "LMU", False, 'first("/proc/%d/environ" % PARENT)'),
    ("open a descriptor of its parent in /proc", "LMU", False, 'os.open("/proc/%d/fd/2" % PARENT, os.O_WRONLY)'),
    ("compare its files with those of another process (kcmp)", "SLPU", False,
     'must(kernel(NUMBERS["kcmp"], os.getpid(), PID, 2, 0, 0))'),
    ("learn the session of another process (os.getsid)", "SP", True, 'os.getsid(PID)'),
    ("slow another process down (os.setpriority)", "SP", True, 'os.setpriority(os.PRIO_PROCESS, PID, 5)'),
    ("read the limits of another process (resource.prlimit)", "SP", True, 'import resource\nreturn resource.prlimit(PID, 7)'),
    ("begin a session (os.setsid)", "S", False, 'permitted(native("setsid"))'),
    # The network
    ("connect to a port of this machine (socket)", "SNL4", True, 'connected(2, 1, ("127.0.0.1", PORT))'),
    ("fetch a page (urllib)", "SNL4", False,
     'import urllib.request\nreturn str(urllib.request.urlopen("http://127.0.0.1:%d/" % PORT, timeout=1))'),
    ("look a name up (getaddrinfo)", "SMN", False, 'import socket\nreturn len(socket.getaddrinfo("example.com", 80))'),
    ("send a datagram", "SN", True, 'import socket\nreturn socket.socket(2, 2).sendto(b"x", ("127.0.0.1", PORT))'),
    ("listen on a port", "SL4", True, 'import socket\nsocket.create_server(("127.0.0.1", 0))'),
    ("make a socket for IPv6", "S", False, 'import socket\nsocket.socket(10, 1)'),
    ("make a socket for netlink", "S", True, 'import socket\nsocket.socket(16, 3)'),
    ("make a raw socket", "SUC", False, 'import socket\nsocket.socket(2, 3, 1)'),
    ("make a socket to the host of a virtual machine", "S", False, 'import socket\nsocket.socket(40, 1)'),
    ("make a pair of sockets", "S", True, 'import socket\nsocket.socketpair()'),
    ("an event loop (asyncio)", "S", True, 'import asyncio\nasyncio.run(asyncio.sleep(0))'),
    ("connect to a socket by its path", "SM", True, 'connected(1, 1, at("socket"))'),
    ("connect to an abstract socket", "SNL6", True, 'connected(1, 1, "\\0" + ABSTRACT)'),
    ("send a descriptor over its socket (sendmsg)", "S", True, 'permitted(native("sendmsg", 3, long(0), 0))'),
    # The machine
    ("attach shared memory of others", "SI", True, 'must(native("shmget", KEY, long(0), 0))'),
    ("open a message queue of others", "SI", True, 'must(native("msgget", KEY, 0))'),
    ("open semaphores of others", "SI", True, 'must(native("semget", KEY, 0, 0))'),
    ("make shared memory with a name (shared_memory)", "LM", False,
     'from multiprocessing import shared_memory\nreturn shared_memory.SharedMemory("mishap-%d" % KEY, True, 10).name'),
    ("learn the name of the host", "H", True, 'os.uname().nodename == HOST_NAME or refused()'),
    ("set the name of the host", "SUC", False, 'permitted(native("sethostname", "x", long(-1)))'),
    ("mount()", "SLUC", False, 'must(native("mount", "none", "/", "tmpfs", long(0), long(0)))'),
    ("umount2()", "SUC", False, 'permitted(native("umount2", "/", 4))'),
    ("unshare() of its mounts", "SUC", False, 'must(native("unshare", 0x20000))'),
    ("unshare() of its user namespace", "S", False, 'permitted(native("unshare", 0x10000000))'),
    ("os.chroot", "SUC", False, 'os.chroot("/")'),
    ("pivot_root()", "SLUC", False, 'permitted(kernel(NUMBERS["pivot-root"], b"/", b"/"))'),
    ("become another user (os.setuid)", "SUC", False, 'os.setuid(12345)'),
    ("set its groups (os.setgroups)", "SUC", False, 'os.setgroups([])'),
    ("raise its priority (os.nice)", "SUC", False, 'os.setpriority(0, 0, -10)'),
    ("raise a limit (resource.setrlimit)", "SUC", False,
     'import resource\nsoft, hard = resource.getrlimit(7)\nresource.setrlimit(7, (soft + 1000, hard + 1000))'),
    ("choose its processor", "S", True, 'os.sched_setaffinity(0, os.sched_getaffinity(0))'),
    ("lock memory", "S", True, 'permitted(native("mlock", zeros(4096), long(4096)))'),
    ("hide from its parent (PR_SET_DUMPABLE)", "S", True, 'must(native("prctl", 4, long(0), long(0), long(0), long(0)))'),
    ("outlive its parent (PR_SET_PDEATHSIG)", "S", True, 'must(native("prctl", 1, long(0), long(0), long(0), long(0)))'),
    ("change its personality", "S", True, 'must(native("personality", long(0x40000)))'),
    ("type into a terminal (TIOCSTI)", "S", True, 'permitted(native("ioctl", 3, long(0x5412), long(0)))'),
    ("io_uring", "S", False, 'permitted(kernel(425, 8, 0))'),
    ("load a program into the kernel (bpf)", "S", False, 'permitted(kernel(NUMBERS["bpf"], 0, 0, 0))'),
    ("load a module into the kernel", "SUC", False, 'permitted(kernel(NUMBERS["init-module"], 0, 0, 0))'),
    ("swap to a file", "SUC", False, 'permitted(native("swapon", "/nowhere", 0))'),
    ("read the log of the kernel", "S", False, 'permitted(native("klogctl", 10, long(0), 0))'),
    ("use the keyrings of the kernel", "S", False, 'permitted(kernel(NUMBERS["add-key"], 0, 0, 0, 0, 0))'),
    ("handle page faults of the kernel (userfaultfd)", "S", False, 'permitted(kernel(NUMBERS["userfaultfd"], 1))'),
    ("count events of the processor (perf_event_open)", "S", False, 'permitted(kernel(NUMBERS["perf"], 0, 0, -1, -1, 0))'),
    # Its own process, and the calls of others
    ("find a variable in its environment", "*", False, 'dict(os.environ) or refused()'),
    ("find its path in sys", "*", False, 'sys.executable or sys.orig_argv or [p for p in sys.path if "mishap" in p] or refused()'),
    ("find code of its host by its frames", "*", False, 'sys._getframe(2)'),
    ("find objects of its host by gc", "*", False,
     'import gc\nreturn [str(o)[:50] for o in gc.get_objects() if "mishap" in type(o).__module__ or "mishap" in getattr(o, "__name__", "")] or refused()'),
    # The words are joined when it runs: as a constant they would be found in its own code.
    ("find the code of another call by gc", "*", False,
     'import gc\nreturn [1 for o in gc.get_objects() if type(o) in (dict, list, tuple) and " ".join(["of another", "call"]) in str(o)[:2000]] or refused()'),
    ("find what another call left in a module", "*", False, 'import math\nreturn math.left_behind'),
    ("find what another call left in builtins", "*", False, 'left_behind'),
    ("find a thread that another call left", "*", False, 'import threading\nreturn threading.active_count() - 1 or refused()'),
    ("find a descriptor that it was not given", "*", False,
     'import fcntl\nfound = []\nfor file in range(4, 64):\n    try: found.append(fcntl.fcntl(file, 1))\n    except OSError: pass\n'
     'return found or refused()'),
    ("read the call of another from its socket", "*", False,
     'import select\nreturn select.select([3], [], [], 0.2)[0] and str(os.read(3, 100)) or refused()'),
    ("answer a call that it does not have", "*", False,
     'for i in range(100, 200): os.write(3, b\'={"id":%d,"answer":{"result":1,"stdout":""}}\' % i)\nimport time\ntime.sleep(60)'),
    ("write no message to its socket", "*", False, 'os.write(3, b"garbage")\nimport time\ntime.sleep(60)'),
    ("say again that it is ready", "*", False, 'os.write(3, b\'={"ready":1}\')\nimport time\ntime.sleep(60)'),
    ("send a message without an end", "*", False, 'os.write(3, b"<{")\nwhile True: os.write(3, b"-" + b"x" * 60000)'),
    ("close its socket", "*", False, 'os.close(3)'),
    ("put another file in the place of its socket", "*", False, 'os.dup2(1, 3)'),
    ("fill descriptors 1 and 2", "*", False, 'while True: os.write(1, b"x" * 10000)'),
    ("read memory at any address", "*", False, 'import ctypes\nreturn ctypes.string_at(4096)'),
    ("write memory at any address", "*", False, 'import ctypes\nctypes.memset(4096, 1, 1)'),
    ("write over objects of the interpreter", "*", False, 'import ctypes\nctypes.memset(id(int), 90, 400)\nreturn int("1") + 1'),
    ("call a null function (ctypes)", "*", False, 'import ctypes\nctypes.CFUNCTYPE(None)()()'),
    ("end its process (os._exit)", "*", False, 'os._exit(0)'),
    ("end its process (os.abort)", "*", False, 'os.abort()'),
    ("end its process (SystemExit)", "*", False, 'sys.exit(0)'),
    ("kill itself", "*", False, 'os.kill(os.getpid(), 9)\nimport time\ntime.sleep(60)'),
    # Exhausting
    ("take shared memory without a file", "S", True, 'import mmap\nreturn len(mmap.mmap(-1, 1000000))'),
    ("make timers (timer_create)", "S", True, 'must(native("timer_create", 1, None, zeros(8)))'),
    ("make a pipe", "S", True, 'os.pipe()[0]'),
    ("watch files (epoll)", "S", True, 'import select\nreturn select.epoll().fileno()'),
    ("take memory with malloc()", "R", True, 'for i in range(40): pointer("malloc", long(50000000))'),
    ("take memory with mmap", "R", True, 'import mmap\nx = [mmap.mmap(-1, 50000000) for i in range(40)]\nreturn 1'),
    ("take memory with lists", "*", False, 'x = []\nwhile True: x.append([x] * 1000)'),
    ("exhaust the stack", "*", False, 'def f(): return f()\nf()'),
    ("exhaust the stack of C", "*", False,
     'sys.setrecursionlimit(10**9)\nx = []\nfor i in range(10**5): x = [x]\nreturn repr(x)'),
    ("open more files than its limit", "R", True, 'return [os.dup(0) for i in range(100)]'),
    ("start threads without end", "RG", True,
     'import threading, time\nfor i in range(400): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()'),
    ("compute for ever", "*", False, 'while True: pass'),
    ("compute for ever in C", "*", False, '10**10**10'),
    ("compute for ever without signals", "*", False,
     'import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass'),
]]


def function(attempt, name):
    body = attempt.code
    if "\n" not in body and not body.split()[0] in ("for", "while", "return", "raise"):
        body = "return " + body
    return "def %s():\n" % name + textwrap.indent(body, "    ") + "\n"


def code_of(attempt):
    """The module that tries it, without what it is to know."""
    return WORDS + function(attempt, "run")


def together(attempts):
    """A module that tries several, and says which of them returned and how the others failed."""
    return WORDS + "".join(function(attempt, "attempt%d" % number) for number, attempt in enumerate(attempts)) + """
def run():
    escaped, failures = [], []
    for number in range(%d):
        try:
            globals()["attempt%%d" %% number]()
            escaped.append(number)
        except BaseException as failure:
            failures.append([number, type(failure).__name__ + ": " + str(failure)])
    return {"escaped": escaped, "failures": failures}
""" % len(attempts)


def table():
    return rows.table(ATTEMPTS)


if __name__ == "__main__":
    print("\n".join(table()))
