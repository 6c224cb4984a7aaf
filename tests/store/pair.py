"""A primary of PostgreSQL and its synchronous standby, on this machine.

    with Pair() as pair:
        pair.address("shop")         a database; either server, whichever takes changes
        pair.primary.stop(signal.SIGKILL)
        pair.promote()               the standby is the primary now
        pair.old.start()             and the old one comes back
        pair.rejoin()                or becomes the standby

Each commit of the primary waits for the standby.
"""
import os
import shutil
import signal
import time
import urllib.parse

import postgres

QUICK = {"wal_retrieve_retry_interval": "200ms", "wal_receiver_status_interval": "1s", "hot_standby": "on"}


class Standby(postgres.Cluster):
    """A copy of another cluster that follows it."""

    def __init__(self, of, **settings):
        self.of = of
        super().__init__(**{**QUICK, **settings})

    def prepare(self):
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.folder, 0o755)
        self.data = os.path.join(self.folder, "data")
        self.run("pg_basebackup", "-D", self.data, "-R", "--no-sync", "-c", "fast", "-d",
                 "host=%s user=role dbname=postgres application_name=standby" % self.where_it_follows())

    def where_it_follows(self):
        return self.of.folder


class Pair:
    def __init__(self, **settings):
        self.primary = self.old = None
        self.standby = self.failed = None
        self.databases = 0
        try:
            self.primary = self.old = self.make_primary(**{**QUICK, **settings})
            self.standby = self.make_standby(**settings)
            self.be_synchronous()
        except BaseException:
            self.remove()
            raise

    def make_primary(self, **settings):
        return postgres.Cluster(**settings)

    def make_standby(self, **settings):
        return Standby(self.primary, **settings)

    def be_synchronous(self):
        """From now on commits wait for the standby."""
        self.wait_for("the standby does not follow", self.primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", "1")
        self.primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
        self.wait_for("the standby is not synchronous", self.primary, "SELECT sync_state FROM pg_stat_replication", "sync")

    @staticmethod
    def wait_for(what, cluster, question, answer):
        until = time.monotonic() + postgres.PATIENCE
        while cluster.sql("postgres", question) != answer:
            if time.monotonic() > until:
                raise RuntimeError(what)
            time.sleep(0.1)  # a question is two processes

    def promote(self):
        """The standby is the primary, and waits for nobody."""
        self.standby.run("pg_ctl", "promote", "-D", self.standby.data, "-w", "-t", str(postgres.PATIENCE))
        self.wait_for("the standby takes no changes", self.standby, "SELECT pg_is_in_recovery()", "f")
        self.failed, self.primary, self.standby = self.primary, self.standby, None

    def rejoin(self):
        """The server that was the primary before becomes the standby, with a new copy of what the new primary has."""
        failed = self.failed
        if failed.process:
            failed.wake()
        failed.stop(signal.SIGKILL)
        shutil.rmtree(failed.data)
        failed.run("pg_basebackup", "-D", failed.data, "-R", "--no-sync", "-c", "fast", "-d",
                   "host=%s user=role dbname=postgres application_name=standby" % self.primary.folder)
        settings = os.path.join(failed.data, "postgresql.auto.conf")
        with open(settings, encoding="utf-8") as file:
            lines = [line for line in file if "synchronous_standby_names" not in line]
        with open(settings, "w", encoding="utf-8") as file:
            file.writelines(lines)
        failed.start()
        self.standby, self.failed = failed, None
        self.be_synchronous()

    @staticmethod
    def host(*clusters):
        return urllib.parse.quote(",".join(one.folder for one in clusters), safe=",")

    def address(self, database=None, *clusters, wants="read-write"):
        """A database at these servers, by default at both, in the order old, new."""
        if database is None:
            self.databases += 1
            database = "pair%d" % self.databases
        if not self.primary.sql("postgres", "SELECT 1 FROM pg_database WHERE datname = '%s'" % database):
            self.primary.sql("postgres", "CREATE DATABASE %s" % database)
        clusters = clusters or (self.old, self.standby or self.primary)
        return "postgresql://role@/%s?host=%s&target_session_attrs=%s" % (database, self.host(*clusters), wants)

    def remove(self):
        for one in {self.primary, self.old, self.standby, self.failed} - {None}:
            one.remove()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def is_possible():
    """Whether everything that it needs is installed."""
    programs = postgres.folder_of_programs()
    return bool(programs) and os.path.exists(os.path.join(programs, "pg_basebackup")) and bool(shutil.which("setpriv"))
