"""A PostgreSQL of our own: a cluster in a temporary folder, which listens at a Unix socket alone.

    with Cluster() as cluster:
        cluster.address("todos")            a new database: postgresql://…
        cluster.sql("todos", "SELECT 1")

    python3 tests/store/postgres.py PROGRAM [ARGUMENT…]

runs a program with the address of an empty database in STORE_POSTGRESQL, the process id of the server in
STORE_POSTGRESQL_PID, an address with a password in STORE_POSTGRESQL_PASSWORD, and that of another empty database for mishap/test.h in
MISHAP_TEST_POSTGRESQL. Where PostgreSQL is not installed, the program is run without them and skips what needs it. If the program
leaves a schema of a test in that database, this one fails.

PostgreSQL does not run as root: then it is started as the user `postgres`, else `nobody`. Only the processes that were
started here are ended, by their ids.
"""
import contextlib
import glob
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

PATIENCE = 120  # seconds, however busy the machine
IN_MEMORY, ROOM = "/dev/shm", 2 << 30  # bytes that must be free there


def folder_of_programs():
    """The newest that is installed, or None."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    found.sort(key=lambda path: [int(number) for number in re.findall(r"\d+", path)])
    return os.path.dirname(found[-1]) if found else None


def user():
    """Whom to run it as; None: who we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def folder_of_clusters():
    """Where their folders are made; None: where temporary files are. A cluster has a thousand files, and each database three hundred more: most of
    the work of a short test, unless they are in memory."""
    with contextlib.suppress(OSError):
        found = os.statvfs(IN_MEMORY)
        if found.f_bavail * found.f_frsize >= ROOM and os.access(IN_MEMORY, os.W_OK | os.X_OK):
            return IN_MEMORY
    return None


class Cluster:
    """A server with its data. `role` logs in without a password, `guarded` with one. `log` is a folder for its write-ahead log."""

    def __init__(self, log=None, **settings):
        self.programs, self.user = folder_of_programs(), user()
        self.settings = {"fsync": "off", "listen_addresses": "", "max_connections": 60, "shared_buffers": "16MB",
                         "dynamic_shared_memory_type": "mmap", **settings}
        self.process, self.numbers = None, 0
        self.log = ["-X", log, "--wal-segsize=1"] if log else []
        self.folder = tempfile.mkdtemp(prefix="pg-", dir=folder_of_clusters())
        try:
            self.prepare()
            self.start()
        except BaseException:
            self.remove()
            raise

    def as_user(self, *words):
        """With this program its programs end, too, whatever ends it."""
        who = ["--reuid=%d" % self.user.pw_uid, "--regid=%d" % self.user.pw_gid, "--clear-groups"] if self.user else []
        return ["setpriv", "--pdeathsig=QUIT", *who, *words]

    def run(self, program, *words, **more):
        done = subprocess.run(self.as_user(os.path.join(self.programs, program), *words), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder, timeout=PATIENCE, check=False,
                              env=dict(os.environ, HOME=self.folder, LC_ALL="C"), **more)
        if done.returncode:
            raise RuntimeError("%s %s: %s" % (program, words, (done.stdout + done.stderr).decode()))
        return done.stdout.decode()

    def prepare(self):
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.folder, 0o755)  # others connect to the socket
        self.data = os.path.join(self.folder, "data")
        self.run("initdb", "-D", self.data, "-U", "role", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", *self.log)
        with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="ascii") as file:
            file.write("local all guarded scram-sha-256\nlocal all all trust\nlocal replication all trust\n"
                       "host all all all trust\nhost replication all all trust\n")

    def start(self):
        """After a SIGKILL a backend may still be ending, and holds the shared memory: then PostgreSQL refuses to start."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.start_once()
            except RuntimeError as error:
                if "pre-existing shared memory block" not in str(error).rpartition("starting PostgreSQL")[2] or time.monotonic() > until:
                    raise
            time.sleep(0.1)

    def start_once(self):
        words = [word for name, value in self.settings.items() for word in ("-c", "%s=%s" % (name, value))]
        log = os.open(os.path.join(self.folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.process = subprocess.Popen(
            self.as_user(os.path.join(self.programs, "postgres"), "-D", self.data, "-k", self.folder, *words),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
            env=dict(os.environ, LC_ALL="C"))
        os.close(log)
        self.wait()

    def wait(self):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.sql("postgres", "SELECT 1")
                return
            except RuntimeError:
                if self.process.poll() is not None or time.monotonic() > until:
                    with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                        raise RuntimeError("PostgreSQL does not start: %s" % log.read()[-2000:]) from None
                time.sleep(0.05)

    def stop(self, how=signal.SIGQUIT):
        """SIGQUIT ends it at once, SIGINT in order. SIGKILL is for all of its processes, as when the machine dies."""
        if not self.process:
            return
        left = self.children()
        if self.process.poll() is None:
            self.process.send_signal(how)
            for pid, _ in left if how == signal.SIGKILL else []:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, how)
            self.process.wait(PATIENCE)
        # Another must not start before the last of them has ended.
        with contextlib.suppress(RuntimeError):
            self.wait_for(left)
        self.process = None

    @staticmethod
    def living():
        """(pid, when it began), and its parent, of all processes of the machine that have not ended."""
        found = {}
        for path in glob.glob("/proc/[0-9]*/stat"):
            with contextlib.suppress(OSError, IndexError):
                with open(path, encoding="utf-8", errors="replace") as file:
                    words = file.read().rsplit(")", 1)[1].split()
                if words[0] != "Z":
                    found[int(path.split("/")[2]), words[19]] = int(words[1])
        return found

    def children(self):
        """Each of its processes is a child of the first one, in a session of its own."""
        return [child for child, parent in self.living().items() if parent == self.process.pid]

    def wait_for(self, processes):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if not self.living().keys() & set(processes):
                return
            time.sleep(0.02)
        raise RuntimeError("processes of PostgreSQL live on")

    def everything(self):
        """All of its processes; none after it was stopped. The first one begins others, so it comes first."""
        return [self.process.pid, *(pid for pid, _ in self.children())] if self.process else []

    def hang(self):
        """As a machine that does nothing any more, but whose connections are still there."""
        if self.process:
            os.kill(self.process.pid, signal.SIGSTOP)
        for pid in self.everything():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def wake(self):
        for pid in self.everything():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def remove(self):
        try:
            if self.process:
                self.wake()
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def sql(self, database, *statements, role="role"):
        """What psql prints, without headings."""
        words = [word for statement in statements for word in ("-c", statement)]
        return self.run("psql", "-h", self.folder, "-U", role, "-d", database, "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1",
                        *words).strip()

    def address(self, database=None, role="role", password=None):
        """A database, which is created; a new one if it has no name."""
        if database is None:
            self.numbers += 1
            database = "store%d" % self.numbers
        if not self.sql("postgres", "SELECT 1 FROM pg_database WHERE datname = '%s'" % database):
            self.sql("postgres", "CREATE DATABASE %s" % database)
        who = role if password is None else "%s:%s" % (role, urllib.parse.quote(password, safe=""))
        return "postgresql://%s@/%s?host=%s" % (who, database, urllib.parse.quote(self.folder, safe=""))

    def guarded(self, password, database=None):
        """An address whose role has to give this password."""
        literal = password.replace("'", "''")
        self.sql("postgres", "DROP OWNED BY guarded" if self.sql("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'guarded'")
                 else "CREATE ROLE guarded LOGIN", "ALTER ROLE guarded SUPERUSER PASSWORD '%s'" % literal)
        return self.address(database, "guarded", password)


def verdict(cluster, database, status):
    """The exit code after a program that ended with `status`: what mishap/test.h has made must be gone."""
    if status:
        return status if status > 0 else 1
    left = cluster.sql(database, "SELECT nspname FROM pg_namespace WHERE nspname LIKE '%\\_test\\_%'").split()
    if left:
        print("Schemas of tests are left: " + " ".join(left), file=sys.stderr)
    return 1 if left else 0


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    environment = dict(os.environ)
    if not folder_of_programs():
        os.execvpe(sys.argv[1], sys.argv[1:], environment)
    with Cluster() as cluster:
        environment["STORE_POSTGRESQL"] = cluster.address()
        environment["MISHAP_TEST_POSTGRESQL"] = cluster.address("tests")
        environment["STORE_POSTGRESQL_PASSWORD"] = cluster.guarded("marker p@ss/word:1?", "passwords")
        environment["STORE_POSTGRESQL_PID"] = str(cluster.process.pid)
        done = subprocess.run(sys.argv[1:], env=environment, check=False)
        status = verdict(cluster, "tests", done.returncode)
    sys.exit(status)


if __name__ == "__main__":
    main()
