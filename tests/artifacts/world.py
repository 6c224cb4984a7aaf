"""What the tests of the artifacts share: servers on either engine, invokes over HTTP, the dictionary of a failure."""
import atexit
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("cli", "http", "mcp", "store"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import leaks  # noqa: E402
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, parsed, run_program  # noqa: E402,F401
from server import PROGRAM  # noqa: E402

MEMBERS = ["success", "error", "code", "category", "retriable", "details"]
CATEGORIES = {"validation", "permission", "resource", "execution", "system"}
CODES = {"missing_argument", "invalid_argument", "invalid_type", "not_owner", "not_authorized", "insufficient_funds", "not_found", "already_exists",
         "already_listed", "timeout", "runtime_error", "syntax_error", "internal_error", "not_configured",  # those of the seed, and beyond them:
         "conflict", "unavailable", "rate_limited", "insufficient_storage"}
ENGINES = {"SQLite": "SQLite", "PostgreSQL": "PostgreSQL"}
PUBLIC = {"invoke_artifact", "missing_argument", "invalid_argument", "invalid_type", "not_owner", "not_authorized", "insufficient_funds",
          "not_found", "already_exists", "already_listed", "runtime_error", "syntax_error", "internal_error", "not_configured"}
made = threading.Lock()
cluster = None


def address_of(engine):
    """Where a new store of this engine is; None: in the data folder."""
    global cluster
    if engine == "SQLite":
        return None
    if not postgres.folder_of_programs():
        raise Skipped("there is no PostgreSQL")
    with made:
        if not cluster:
            cluster = postgres.Cluster()
            atexit.register(cluster.remove)
            server.secrets.add(cluster.folder)
    return cluster.address()


class World(server.Server):
    """A server with artifacts."""

    keys = {}  # the header field with the key of a caller; that of None is sent where no caller is named

    def __init__(self, engine="SQLite", *flags, address=None, **more):
        address = address or address_of(engine)
        if "--artifacts-run-seconds" not in flags:  # code that ends by itself has all the time that there may be
            flags = ("--artifacts-run-seconds", "20", *flags)
        super().__init__("--workers", "1", *(["--artifacts-store", address] if address else []), *flags, **more)

    def invoke(self, artifact, method, *args, by=None, connection=None, fields=(), **more):
        """(status, answer) of one invoke."""
        body = {"args": list(args), **more}
        fields = {**self.keys.get(by, {"X-Caller": by} if by else {}), **dict(fields)}
        asked = (connection or self).ask("POST", "/artifacts/%s/%s" % (artifact, method), body, fields=fields, checked=False)
        answer = asked.json
        if asked.status == 200:
            expect(answer["success"] is True, "no success:", answer)
        else:
            check_failure(answer, asked.body.decode())
        return asked.status, answer

    def done(self, *words, **more):
        """An invoke that works: its answer."""
        status, answer = self.invoke(*words, **more)
        equal(status, 200, "the status of %s, which said %s" % (words, answer))
        return answer

    def fails(self, code, *words, category=None, status=None, **more):
        """An invoke that fails with this code: its dictionary."""
        found, answer = self.invoke(*words, **more)
        equal(answer.get("code"), code, "the code of %s, which said %s" % (words, answer))
        if category:
            equal(answer["category"], category, "the category of %s" % (words,))
        if status:
            equal(found, status, "the status of %s" % (words,))
        return answer

    def balances(self):
        return self.done("genesis_ledger", "all_balances")["balances"]


def check_failure(answer, text=""):
    """Seed 002's dictionary: these members in this order, details only where there are some, and nothing that is private."""
    expect(list(answer) in (MEMBERS, MEMBERS[:-1]), "members:", answer)
    expect(answer["success"] is False and isinstance(answer["retriable"], bool), "not the types:", answer)
    expect(isinstance(answer["error"], str) and answer["error"], "no words:", answer)
    expect(answer["code"] in CODES, "a code that readers do not know:", answer)
    expect(answer["category"] in CATEGORIES, "no category:", answer)
    expect(answer.get("details", {"x": 1}), "empty details:", answer)
    leaks.check(text, text, PUBLIC)


def folder_of(name):
    """A folder for data."""
    path = os.path.join(server.FOLDER, "data-" + name)
    os.makedirs(path, exist_ok=True)
    return path


def family(found):
    """The server and all processes that it has started."""
    known = {found.process.pid}
    while True:
        more = {pid for pid, parent in server.processes() if parent in known} - known
        if not more:
            return known
        known |= more


def genesis(folder, **balances):
    """A file that says who has what."""
    import json
    path = os.path.join(folder, "genesis-%d.json" % len(os.listdir(folder)))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"principals": balances}, file)
    return path


def command(data, *words, **variables):
    """`mishap artifacts …` with this data folder."""
    return run_program(PROGRAM, "artifacts", *words, env={"MISHAP_DATA": data, "MISHAP_LOG": "", **variables})
