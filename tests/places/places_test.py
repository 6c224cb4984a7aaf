"""The program in all sorts of places: as an ordinary user, in containers, without parts of the kernel, with little of everything.

    MISHAP_PROGRAM=… PLACE_PROGRAM=… FAULTS_PROGRAM=… CONTAINERS_PROFILE=… python3 tests/places/places_test.py [PART-OF-A-NAME]

A row of PLACES is one place: how it is entered, what is lost there, and what each thing says that does not work there. Everything
that a row does not name must give the right answer, so a row is also what docs/environments.md says of the place. A place that this
machine cannot make is skipped. Speaks TAP.
"""
import atexit
import collections
import contextlib
import http.client
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli")]
import journal  # noqa: E402
import profiles  # noqa: E402
from blackbox import Broken, Skipped, equal, expect, main, parsed, test, tests_of  # noqa: E402

PATIENCE = 300  # seconds after which something that should happen did not, however busy the machine
ROOT = os.geteuid() == 0
STRANGER = 54321  # a user that no file knows
NAMESPACES = {"mounts", "processes", "network", "ipc", "host", "users"}
CONTAINERS = os.environ["CONTAINERS_PROFILE"]  # of Podman, in the package golang-github-containers-common
CODE = "def divide(a: int, b: int):\n    return a // b\n"

# ---- What is run: a copy that every user can reach, in a folder that no place hides ---------------

FOLDER = tempfile.mkdtemp(prefix="places-", dir="/var/tmp")
os.chmod(FOLDER, 0o755)
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
STAGE = os.path.join(FOLDER, "stage")


def stage(source, name):
    target = os.path.join(STAGE, name)
    if os.path.exists(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
        os.chmod(target, 0o755)
    return target


BUILT = os.path.dirname(os.path.abspath(os.environ["MISHAP_PROGRAM"]))
MISHAP = stage(os.path.abspath(os.environ["MISHAP_PROGRAM"]), "mishap")
PLACE = stage(os.path.abspath(os.environ["PLACE_PROGRAM"]), "place")
FAULTS = stage(os.path.abspath(os.environ["FAULTS_PROGRAM"]), "faults")
for part in ("lisp/mishap-lisp.core", "python/mishap-python", "symbolic/mishap-symbolic"):
    stage(os.path.join(BUILT, "services", part), "services/" + part)

# ---- Ways to enter a place: the words before the command ------------------------------------------


def works(*words):
    """Can this machine run something so? Else the place is skipped, with what it said."""
    if not shutil.which(words[0]):
        raise Skipped("there is no " + words[0])
    tried = subprocess.run([*words, "/bin/true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           timeout=PATIENCE, check=False)
    if tried.returncode != 0:
        raise Skipped("%s: %s" % (words[0], tried.stderr.decode("utf-8", "replace").strip()[-200:].replace("\n", " ")))
    return list(words)


def as_user(number=STRANGER):
    """An ordinary user, as who this test runs already if it is not root's."""
    return works("setpriv", "--reuid=%d" % number, "--regid=%d" % number, "--clear-groups") if ROOT else []


def mounted(script):
    """A mount namespace with something changed in it. $DATA is the folder of the place."""
    if not ROOT:
        raise Skipped("only root can mount")
    return works("unshare", "-m", "sh", "-ec", script + '\nexec "$@"', "sh")


def filtered(name, rules=None):
    path = os.path.join(FOLDER, "rules-" + re.sub(r"\W", "-", name))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(rules or profiles.PROFILES[name]) + "\n")
    return works(PLACE, path)


def without_keeping(name):
    """What an ordinary user in a container has: no capability to be kept or dropped."""
    return filtered(name + " of a user", [rule for rule in profiles.PROFILES[name] if not rule.startswith("keep")])


def shell(script):
    return ["sh", "-c", script + '; exec "$@"', "sh"]


def limited(*limits):
    return works("prlimit", *limits)


def profile_of_a_file():
    if not os.path.exists(CONTAINERS):
        raise Skipped("there is no " + CONTAINERS)
    if not ROOT:
        raise Skipped("only root has capabilities to keep")
    return filtered("file", profiles.read(CONTAINERS, profiles.DOCKER_KEEPS))


def latin_1():
    locale = os.path.join(FOLDER, "locale", "de_DE.ISO-8859-1")
    os.makedirs(os.path.dirname(locale), exist_ok=True)
    if shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "ISO-8859-1", locale], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       timeout=PATIENCE, check=False)
    if not os.path.isdir(locale):
        raise Skipped("no locale can be made (package locales)")
    return ["env", "LC_ALL=de_DE.ISO-8859-1", "LOCPATH=" + os.path.dirname(locale)]


def only_version_1():
    if not os.path.isdir("/sys/fs/cgroup/pids"):
        raise Skipped("this machine has no control groups of version 1")
    return mounted("umount -l /sys/fs/cgroup/unified 2>/dev/null || :")


NO_GROUPS = "mount -t tmpfs -o ro none /sys/fs/cgroup"
TMP_READ_ONLY = "mount -t tmpfs -o ro none /tmp"
# What is written in the place lies below /var/tmp, too.
NO_TMP = TMP_READ_ONLY + '\nmount --bind /var/tmp /var/tmp; mount --bind "$DATA" "$DATA"; mount -o remount,bind,ro /var/tmp'

# ---- What a place must answer ---------------------------------------------------------------------

# A failure: its code, and what stands in it beside. `lisp_served`: lisp by the server, and so on.
Refused = collections.namedtuple("Refused", "code words")
Place = collections.namedtuple("Place", "enter loses user env refused flags data")


def place(enter, loses=(), user=0, env=None, flags=(), data=True, **refused):
    """`data`: False if neither a data folder nor a log is named; "read-only" if the place cannot write to it."""
    return Place(enter, set(loses), user, env or {}, refused, list(flags), data)


def refused(code, *words):
    return Refused(code, words)


NO_DATA = refused("NOT_CONFIGURED", "data folder")
READ_ONLY = refused("NOT_CONFIGURED", "may", "write")
NO_PLACE = refused("NOT_CONFIGURED", "temporary files", "TMPDIR")
FEW_FILES = refused("NOT_CONFIGURED", "open files", "ulimit -n")
NO_FILES = refused("UNAVAILABLE", "limit of open files", "ulimit -n")
FEW_PROCESSES = refused("UNAVAILABLE", "limit of processes", "ulimit -u")
NO_THREAD = refused("NOT_CONFIGURED", "clone", "processes")
LITTLE_SPACE = refused("NOT_CONFIGURED", "address space", "ulimit -v")

PLACES = {
    "this machine": place(lambda: []),
    "an ordinary user, with no name and no home": place(as_user, user=STRANGER),
    "no namespaces": place(lambda: filtered("no namespaces"), NAMESPACES),
    "an ordinary user without namespaces": place(lambda: as_user() + filtered("no namespaces"), NAMESPACES, user=STRANGER),
    "no Landlock": place(lambda: filtered("no landlock"), {"landlock"}),
    "no ptrace": place(lambda: filtered("no ptrace")),
    "no seccomp": place(lambda: filtered("no seccomp"), {"seccomp"}),
    "no writable control group": place(lambda: mounted(NO_GROUPS), {"groups"}),
    "none of these": place(lambda: mounted(NO_GROUPS) + filtered("nothing"), NAMESPACES | {"landlock", "groups"}),
    "control groups of version 1 only": place(only_version_1),

    "Docker": place(lambda: filtered("docker"), NAMESPACES),
    "Docker, as an ordinary user": place(lambda: as_user() + without_keeping("docker"), NAMESPACES, user=STRANGER),
    "Podman, with the profile of its package": place(profile_of_a_file, {"host"}),
    "systemd-nspawn": place(lambda: filtered("nspawn"), {"landlock"}),
    "systemd, SystemCallFilter=@system-service": place(lambda: as_user() + filtered("system-service"), {"mounts", "host"}, user=STRANGER),
    "the same before systemd 254": place(lambda: as_user() + filtered("system-service 252"), {"seccomp", "landlock", "mounts"}, user=STRANGER),

    "HOME is not set": place(lambda: ["env", "-u", "HOME"], data=False, command=NO_DATA, mcp=refused("NOT_CONFIGURED", "--data"),
                             serve=refused("NOT_CONFIGURED", "--data")),
    "HOME is not set, but `MISHAP_DATA` is": place(lambda: ["env", "-u", "HOME"]),
    "a read-only tree": place(lambda: mounted("mount --bind %s %s; mount -o remount,bind,ro %s" % (STAGE, STAGE, STAGE))),
    "a read-only data folder": place(as_user, user=STRANGER, data="read-only", command=READ_ONLY, mcp=READ_ONLY,
                                     serve=refused("NOT_CONFIGURED", "--data", "write")),
    "a locale that is not UTF-8": place(latin_1),
    "/tmp is noexec": place(lambda: mounted("mount -t tmpfs -o noexec none /tmp") + filtered("no namespaces"), NAMESPACES),
    "/tmp is read-only": place(lambda: mounted(TMP_READ_ONLY) + filtered("no namespaces"), NAMESPACES),
    "no folder for temporary files": place(lambda: mounted(NO_TMP) + filtered("no namespaces"), NAMESPACES, lisp=NO_PLACE, lisp_served=NO_PLACE),
    "TMPDIR is the only folder for temporary files": place(lambda: mounted(NO_TMP) + shell('TMPDIR="$DATA"; export TMPDIR') + filtered("no namespaces"), NAMESPACES),
    "TMPDIR does not exist": place(lambda: filtered("no namespaces"), NAMESPACES, env={"TMPDIR": "/nonexistent/folder"}),
    "TMPDIR is shared, and not sticky": place(lambda: shell('mkdir -p "$DATA/shared"; chmod 777 "$DATA/shared"; TMPDIR="$DATA/shared"; export TMPDIR')
                                              + filtered("no namespaces"), NAMESPACES),
    "/proc with hidepid=2": place(lambda: mounted("mount -t proc -o hidepid=2 proc /proc") + as_user(), user=STRANGER),
    "no /proc": place(lambda: mounted("umount -l /proc"), {"users"}),
    "no /proc, as an ordinary user": place(lambda: mounted("umount -l /proc") + as_user(), NAMESPACES, user=STRANGER),
    "no /dev/shm": place(lambda: mounted("mount -t tmpfs -o ro none /dev/shm")),

    "64 files": place(lambda: limited("--nofile=64:64"), doctor=refused("NOT_CONFIGURED", "1024 files", "ulimit -Hn"), serve=FEW_FILES),
    "80 files, and one handler": place(lambda: limited("--nofile=80:80"), flags=["--handlers", "1"],
                                       doctor=refused("NOT_CONFIGURED", "1024 files", "ulimit -Hn")),
    "16 files": place(lambda: limited("--nofile=16:16"), doctor=refused("NOT_CONFIGURED", "1024 files", "ulimit -Hn"), lisp=NO_FILES,
                      mcp=NO_FILES, serve=NO_FILES),
    "3 processes": place(lambda: as_user(STRANGER + 1) + limited("--nproc=3:3"), user=STRANGER + 1, lisp=NO_THREAD, mcp=FEW_PROCESSES,
                         serve=FEW_PROCESSES),
    "120 MB of address space": place(lambda: limited("--as=120000000"), lisp=LITTLE_SPACE, lisp_served=refused("UNAVAILABLE"),
                                     symbolic=LITTLE_SPACE),
    "umask 077": place(lambda: shell("umask 077")),
}

# ---- Running things in a place --------------------------------------------------------------------


class Visit:
    """A place with a data folder. Everything that runs there is started by this."""

    count = 0

    def __init__(self, row):
        Visit.count += 1
        self.row, self.refused = row, row.refused
        self.folder = os.path.join(FOLDER, "visit-%d" % Visit.count)
        self.data, self.log, self.errors = (os.path.join(self.folder, name) for name in ("data", "log", "errors"))
        os.mkdir(self.folder)
        shutil.copytree(TEMPLATE, self.data)
        if ROOT and row.user and row.data != "read-only":
            for path in [self.folder, self.data] + [os.path.join(self.data, name) for name in os.listdir(self.data)]:
                os.chown(path, row.user, row.user)
        elif row.data == "read-only":
            os.chmod(self.data, 0o555)
        os.environ["DATA"] = self.folder
        self.words = row.enter()
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/nonexistent", "DATA": self.folder, **row.env}
        if row.data:
            self.env.update(MISHAP_DATA=self.data, MISHAP_LOG=self.log)

    def start(self, *words, program=MISHAP, **more):
        """In a session of its own, so without a controlling terminal."""
        return subprocess.Popen([*self.words, program, *words], env=self.env, cwd="/", start_new_session=True, **more)

    def run(self, *words):
        """One command: its answer. It must be one JSON object, and stderr nothing but what a log would have."""
        process = self.start(*words, "--output", "json", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            end_of(process)
            raise Broken("it hangs: %s" % (words,)) from error
        check_errors(err.decode("utf-8", "replace"), words)
        expect(0 <= process.returncode < 100, words, "ended with", process.returncode, out, err)
        answer = parsed(out)
        equal(answer["ok"], process.returncode == 0, "the exit code %d of %s" % (process.returncode, words))
        return answer


def end_of(process):
    """End a process and all that it has started: each has a session of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            return process.wait(PATIENCE if number == signal.SIGTERM else None)
        except subprocess.TimeoutExpired:
            pass
    return None


def check_errors(text, what):
    """A line for the operator, or an entry of the log: never what a library or perror() says by itself."""
    for line in text.splitlines():
        expect(re.match(r'mishap: |faults: |\d{4}-\d\d-\d\dT|\s|$|listening on |\{"ok":', line), what, "said", line)


def settle(visit, thing, code, text, right):
    """The right answer; or, where the row says so, a failure with a code and with what is missing."""
    expected = visit.refused.get(thing)
    if expected and visit.ready or expected and thing in ("command", "doctor", "mcp", "serve"):
        expect(code and code.upper() == expected.code, thing, "should be refused with", expected.code, "and said", code, text)
        for word in expected.words:
            expect(word in text, thing, "should say", word, "and said", text)
        return False
    if not visit.ready and thing not in ("command", "doctor", "mcp", "serve"):
        expect(code and code.upper() == "NOT_CONFIGURED" and "does not offer the sandbox" in text, thing, "said", code, text)
        return False
    expect(not code and right, thing, "said", code, text)
    return True


def settle_command(visit, thing, answer, right):
    error = answer["error"] or {}
    if error:
        expect(error.get("suggestion"), thing, "has no suggestion:", error)
    return settle(visit, thing, error.get("code"), json.dumps(answer, ensure_ascii=False), not error and right(answer["data"]))


# ---- The things ----------------------------------------------------------------------------------

def see_doctor(visit):
    """What is missing is named, with a reason and an advice; whether it is enough follows from that."""
    answer = visit.run("doctor", "--trial-seconds", "60")
    rows = {row["layer"]: row for row in (answer["data"] or {"sandbox": []})["sandbox"]}
    missing = {name for name, row in rows.items() if not row["offered"]}
    expect(len(rows) == 11 and visit.row.loses <= missing, "lost should be", visit.row.loses, "and is", missing, answer)
    for name in missing:
        expect(rows[name]["why_not"] and rows[name]["advice"], name, "is missing without a reason", rows[name])
    visit.ready = not missing & {"seccomp", "limits"} and not missing >= {"landlock", "mounts"}
    visit.programs = {row["name"] for row in answer["data"]["programs"] if row["found"]}
    for name in PROGRAMS - visit.programs:
        raise Broken("%s is not found here" % name)
    if "doctor" in visit.refused or visit.ready:
        settle_command(visit, "doctor", answer, lambda data: True)
    else:
        equal(answer["error"]["code"], "NOT_CONFIGURED", "the doctor, below the minimum")


def see_command(visit):
    """What is kept is UTF-8, whatever the locale."""
    if settle_command(visit, "command", visit.run("users", "list"), lambda data: data["items"][0]["name"] == "Größe"):
        made = visit.run("users", "create", "--name", "Łódź", "--email", "%d@example.com" % time.monotonic_ns())
        equal(made["ok"] and made["data"]["name"], "Łódź", "what was made")


def see_lisp(visit):
    if "mishap-lisp.core" in PROGRAMS:
        settle_command(visit, "lisp", visit.run("lisp", "evaluate", "(+ 1 2)"), lambda data: data["values"] == ["3"])


def answers_of(process, *numbers):
    """The answers to messages, which may come in any order; fewer if it has ended."""
    found = {}
    while set(found) < set(numbers):
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        expect(ready, "MCP does not answer")
        line = process.stdout.readline()
        if not line:
            break
        found[parsed(line).get("id")] = parsed(line)
    return found


def see_mcp(visit):
    """A tool of the todos, and one that runs Python."""
    def call(number, name, **arguments):
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}

    messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, call(1, "list_users"),
        call(2, "invoke_artifact", artifact="adder", method="run", args=[1, 2])]
    with open(visit.errors, "wb") as errors:
        process = visit.start("mcp", "--artifacts-run-seconds", "20", *visit.row.flags, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0)
    try:
        for message in messages[:2]:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        if not answers_of(process, 0):
            process.wait(PATIENCE)
            text = read(visit.errors)
            found = re.search(r"NOT_CONFIGURED|UNAVAILABLE", text)
            settle(visit, "mcp", found[0] if found else "nothing", text, False)
            return
        for message in messages[2:]:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        answers = answers_of(process, 1, 2)
        equal(sorted(answers), [1, 2], "the answers of MCP")
        users = answers[1]["result"]
        settle(visit, "mcp", None, str(users), users["structuredContent"]["items"][0]["name"] == "Größe")
        if "mishap-python" in PROGRAMS:
            found = answers[2]["result"]["structuredContent"]
            settle(visit, "python", found.get("code"), json.dumps(found), found.get("result") == 3)
        process.stdin.close()
        equal(process.wait(PATIENCE), 0, "the end of MCP")
    except BrokenPipeError as error:
        raise Broken("MCP has ended: " + read(visit.errors)) from error
    finally:
        if process.poll() is None:
            end_of(process)
    check_errors(read(visit.errors), "mcp")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return journal.shown(file.read())
    except OSError:
        return ""


def free_port():
    """One that the system gives to no process by itself, so that it is still free when the server takes it."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first = int(file.read().split()[0])
    for port in random.sample(range(max(1024, first // 2), first), 100):
        with contextlib.suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port
    raise Broken("no port is free")


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise Broken("it did not come: " + what())


class Served:
    """A server in a place, while it is used. `port` is None if it has ended."""

    def __init__(self, visit, *flags, program=MISHAP):
        self.visit, self.port = visit, free_port()
        with open(visit.errors, "wb") as errors:
            self.process = visit.start("serve", "--listen", "127.0.0.1:%d" % self.port, "--workers", "1", *flags, *visit.row.flags,
                                       program=program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        wait_for(self.has_begun, lambda: read(visit.errors))
        if self.process.poll() is not None:
            self.port = None

    def has_begun(self):
        """It listens, which a server without standard error does not say; or has ended."""
        if self.process.poll() is not None:
            return True
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                pass
        end_of(self.process)
        self.process.stdout.close()

    def ask(self, method, path, body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {**({"Content-Type": "application/json"} if text else {}), **fields})
            response = connection.getresponse()
            return response.status, response.getheader("X-Request-Id"), response.read()
        finally:
            connection.close()


def see_server(visit):
    """Rows, a handler that crashes, Lisp and a proof. Where a crash goes to, its stack does too."""
    with Served(visit, "--chaos") as served:
        if not served.port:
            answer = parsed(served.process.stdout.read())
            settle_command(visit, "serve", answer, lambda data: False)
            return
        status, _, body = served.ask("GET", "/users")
        settle(visit, "serve", None, str(body), status == 200 and parsed(body)["items"][0]["name"] == "Größe")
        status, incident, body = served.ask("POST", "/chaos", {"how": "crash"})
        equal((status, parsed(body)["error"]), (500, "internal_server_error"), "a crash")
        if "mishap-lisp.core" in PROGRAMS:
            status, _, body = served.ask("POST", "/lisp/evaluate", {"code": "(+ 1 2)"}, Accept="application/problem+json")
            said = parsed(body)
            thing = "lisp_served" if "lisp_served" in visit.refused else "lisp"
            settle(visit, thing, said.get("code"), json.dumps(said), said.get("values") == ["3"])
        if "mishap-symbolic" in PROGRAMS:
            status, _, body = served.ask("POST", "/symbolic/check", {"code": CODE, "function_name": "divide"})
            said = parsed(body)
            settle(visit, "symbolic", "NOT_CONFIGURED" if status == 503 else None, json.dumps(said), said["status"] == "counterexample")
        written = wait_for(lambda: re.search(r"^\S+ %s .*\n(?:  .*\n)*?      #0 crash\b" % incident,
                                             read(visit.log) + read(visit.errors), re.M), lambda: read(visit.log) + read(visit.errors))
        expect(written, "the stack of the crash is not in the log")
    equal(served.process.returncode, 0, "the end of the server")
    check_errors(read(visit.errors), "serve")


# ---- Tests ---------------------------------------------------------------------------------------

def prepare():
    """A data folder with a user and an artifact in it, which every place gets a copy of; and the programs that there are."""
    folder = os.path.join(FOLDER, "template")
    os.mkdir(folder)
    env = {"PATH": os.environ["PATH"], "MISHAP_DATA": folder, "MISHAP_LOG": os.path.join(FOLDER, "log"), "LC_ALL": "C"}

    def run(*words):
        return parsed(subprocess.run([MISHAP, *words, "--output", "json"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     timeout=PATIENCE, check=False).stdout)

    expect(run("users", "create", "--name", "Größe", "--email", "g@example.com")["ok"], "no user")
    code = ["adder", "tool", "Adds", "def run(*args):\n    return sum(args)"]
    expect(run("artifacts", "invoke", "genesis_store", "create", "--args", json.dumps(code), "--caller", "alice")["ok"], "no artifact")
    ours = {"mishap-lisp.core", "mishap-python", "mishap-symbolic"}
    return folder, ours & {row["name"] for row in run("doctor")["data"]["programs"] if row["found"]}


TEMPLATE, PROGRAMS = prepare()


@tests_of({name: (row,) for name, row in PLACES.items()})
def it_works_or_says_what_is_missing(row):
    if row.user and not ROOT and row.user != STRANGER:
        raise Skipped("only root can become a user without other processes")
    visit = Visit(row)
    for see in (see_doctor, see_command, see_lisp, see_mcp, see_server):
        see(visit)


@test
def the_documentation_has_a_row_for_each_place():
    text = read(os.path.join(HERE, "..", "..", "docs", "environments.md"))
    rows = re.findall(r"^\| (.+?) \| .* \|.*\|$", text, re.M)
    equal(sorted(set(rows) - {"place"}), sorted(set(PLACES) - {"this machine"}), "the rows of docs/environments.md")


@test
def without_ptrace_the_log_says_that_a_stack_is_not_known():
    """A handler that blocks all signals is read from outside, or not at all."""
    for name, words in {"this machine": r"#\d+ (good_)?spin\b", "no ptrace": "noted stack = .*ptrace"}.items():
        visit = Visit(PLACES[name])
        visit.env["FAULTS_LOG"], visit.env["FAULTS_DATA"] = visit.log, visit.data
        for ms in ("300", "3000", "20000"):  # in which the handler must have begun
            with Served(visit, "--timeout-ms", ms, program=FAULTS) as served:
                expect(served.port, "it has ended", read(visit.errors))
                status, incident, body = served.ask("POST", "/good/spin", {})
                equal(status, 504, "a handler that hangs, which said %r" % body)
                entry = wait_for(lambda: re.search(r"^\S+ %s .*\n(?:  .*\n)*" % incident, read(visit.log), re.M), lambda: read(visit.log))[0]
            if re.search(words, entry):
                break
        expect(re.search(words, entry), name, "has", entry)


@test
def no_other_file_gets_the_number_of_a_standard_descriptor_that_was_closed():
    visit = Visit(place(lambda: ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]))
    process = visit.start("users", "create", "--name", "Ada", "--email", "ada@example.com", stdin=subprocess.DEVNULL)
    equal(process.wait(PATIENCE), 1, "a command that cannot answer")
    if "mishap-lisp.core" in PROGRAMS:  # a command that has opened other files, and waits
        process = visit.start("lisp", "evaluate", "(sleep 600)", stdin=subprocess.DEVNULL)
        try:
            wait_for(lambda: read("/proc/%d/task/%d/children" % (process.pid, process.pid)).strip(), lambda: "no session of Lisp")
            names = [os.readlink("/proc/%d/fd/%d" % (process.pid, number)) for number in (0, 2)]
        finally:
            end_of(process)
        equal(names, ["/dev/null"] * 2, "standard input and error of a command")
    with Served(visit) as served:
        status, _, body = served.ask("GET", "/users")
        equal((status, [user["name"] for user in parsed(body)["items"]]), (200, ["Größe", "Ada"]), "what is kept")


@test
def a_command_whose_files_may_not_grow_answers():
    visit = Visit(place(lambda: limited("--fsize=0")))
    for words in (["users", "create", "--name", "Ada", "--email", "ada@example.com"], ["doctor"]):
        answer = visit.run(*words)
        equal((answer["error"] or {}).get("code"), "NOT_CONFIGURED", "the answer of %s, %s" % (words, answer))


@test
def a_server_that_cannot_keep_workers_ends_and_does_not_hang():
    """Where its keeper dies before it has started a worker, here for want of a system call."""
    visit = Visit(place(lambda: filtered("keeper", ["otherwise 0", "refuse 38 signalfd4"])))
    with Served(visit) as served:
        expect(served.port is None, "it listens")
        equal(parsed(served.process.stdout.read())["error"]["code"], "UNAVAILABLE", "the code")


if __name__ == "__main__":
    main()
