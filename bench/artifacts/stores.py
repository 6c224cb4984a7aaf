"""The stores that are measured: a PostgreSQL of our own, and one million artifacts on both engines, which are kept.

A word stands in so many of the artifacts as WORDS says, and these are spread over all of them: (i * 618033) % 1000000 takes
every value once, and nearly no two hits are on one page. `old` stands in the oldest ones alone. Beside these words each
artifact has 16 others.
"""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests" / "store")]
import postgres  # noqa: E402
from figures import Void  # noqa: E402

ROWS = 1_000_000
WORDS = {"one": 1, "hundred": 100, "thousands": 2_000, "nineteen": 19_000, "twenty": 20_000, "fifty": 50_000, "half": 500_000, "every": ROWS}
SPREAD = 618033
OLD = 30_000
FORMAT = "2"  # of the kept folder: another number, and it is built anew
# A machine that keeps a million artifacts has that much memory for them.
KEPT = {"shared_buffers": "1GB", "fsync": "on", "max_wal_size": "2GB", "max_connections": 40}


class Kept(postgres.Cluster):
    """A cluster whose data stay in a folder."""

    def __init__(self, home, **settings):
        self.home = home
        super().__init__(**settings)

    def prepare(self):
        fresh = not (self.home / "PG_VERSION").exists()
        if fresh:
            self.home.mkdir(parents=True, exist_ok=True)
            if self.user:
                os.chown(self.home, self.user.pw_uid, self.user.pw_gid)
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.folder, 0o755)
        self.data = str(self.home)
        if fresh:
            self.run("initdb", "-D", self.data, "-U", "role", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def stop(self, *_):
        super().stop(postgres.signal.SIGINT)


def expression(words, concatenation):
    """The content of artifact i, in SQL of both engines."""
    cases = ["CASE WHEN (i * %d) %% %d < %d THEN ' %s' ELSE '' END" % (SPREAD, ROWS, count, word) for word, count in words.items()]
    cases.append("CASE WHEN i < %d THEN ' old' ELSE '' END" % OLD)
    others = ["' w%d' || ((i * %d + %d) %% %d)" % (n, 31 + n, n, 1000 + 997 * n) for n in range(16)]
    return concatenation.join(["'text'", *cases, *others])


def create_tables(program, data, address=None):
    """By the program itself, which any command makes do that."""
    flags = ["--artifacts-store", address] if address else []
    environment = dict(os.environ, MISHAP_DATA=str(data))
    if address:
        environment["MISHAP_ARTIFACTS_STORE"] = address
    done = subprocess.run([program, "artifacts", "events"], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Void("the tables cannot be made: %s" % (done.stdout + done.stderr))
    return flags


def fill_postgresql(program, cluster, folder):
    address = cluster.address("million")
    create_tables(program, folder / "unused", address)
    sql = lambda *statements: subprocess.run(  # noqa: E731  no time limit
        cluster.as_user(os.path.join(cluster.programs, "psql"), "-h", cluster.folder, "-U", "role", "-d", "million", "-X", "-q", "-v",
                        "ON_ERROR_STOP=1", *[word for statement in statements for word in ("-c", statement)]), check=True, cwd=cluster.folder)
    dropped = cluster.sql("million", "SELECT indexdef FROM pg_indexes WHERE schemaname = 'artifacts' AND indexdef LIKE '%USING gin%'")
    sql(*["DROP INDEX artifacts.%s" % line.split()[2] for line in dropped.splitlines()])
    sql("INSERT INTO artifacts.artifacts (id, type, owner, content, created, changed) SELECT 'x' || i, 'tool', 'alice', " +
        expression(WORDS, " || ") + ", i, i FROM generate_series(0::bigint, %d) i" % (ROWS - 1),
        "SET maintenance_work_mem = '512MB'", *dropped.splitlines(), "VACUUM ANALYZE", "CHECKPOINT")


def fill_sqlite(program, folder):
    create_tables(program, folder)
    with sqlite3.connect(folder / "artifacts.sqlite", isolation_level=None) as database:
        database.execute("BEGIN")
        database.execute("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)" % ROWS +
                         " INSERT INTO artifacts (id, type, owner, content, created, changed) SELECT 'x' || i, 'tool', 'alice', " +
                         expression(WORDS, " || ") + ", i, i FROM n")
        database.execute("INSERT INTO words (rowid, id, type, content, code) SELECT seq, id, type, content, code FROM artifacts")
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def built(folder, fill):
    """Run `fill` unless it has been run to its end."""
    mark = folder / "complete"
    if mark.exists() and mark.read_text() == FORMAT:
        return
    print("mishap: building one million artifacts in %s (once)" % folder, file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fill(folder)
    mark.write_text(FORMAT)
