"""Durable transfers a second over HTTP, with 64 connections: in batches and one by one on SQLite, and on PostgreSQL against pgbench."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time

import stores  # noqa: F401  knows where the tests' PostgreSQL is, and the modules of all benchmarks

import figures
import load
import processes
from figures import Void

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 64
ACCOUNTS = 1000
HANDLERS = 8  # connections to PostgreSQL, of the server and of pgbench


def genesis(folder):
    path = folder / "genesis.json"
    path.write_text(json.dumps({"principals": {str(i + 1): 1_000_000_000 for i in range(ACCOUNTS)}}))
    return path


class Spent:
    """The CPU seconds of all processes below the roots, and of those that this one starts and waits for meanwhile."""

    def __init__(self, *roots):
        self.roots = roots
        self.before = self.now()

    def now(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return processes.cpu_ns(*self.roots) / 1e9 + used.ru_utime + used.ru_stime

    def seconds(self):
        return figures.figure("CPU", self.now() - self.before)


class Server:
    """`mishap serve` on a new store, or on that of a data folder, until its end."""

    def __init__(self, program, folder, *flags, preload=None, data=None):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        environment = dict(load.own_log(folder), **({"LD_PRELOAD": str(preload), "FLUSH_DELAY_US": "1000"} if preload else {}))
        log = folder / "stderr"
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [program, "serve", "--listen", "127.0.0.1:0", "--workers", "1", "--data", data or folder / "data", "--artifacts-genesis",
                 genesis(folder), *flags], stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment)
        deadline = time.monotonic() + 60
        while not (found := re.search(r"listening on http://(\S+)", log.read_text())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                words = log.read_text()
                self.stop()
                raise Void("%s does not listen: %s" % (program, words))
            time.sleep(0.02)
        self.address = found[1]

    def load(self, seconds, seed, *others, connections=CONNECTIONS):
        """With the CPU of the processes below `others`, too."""
        spent = Spent(self.process.pid, *others)
        seen = load.wrk(HERE / "transfer.lua", self.address, connections, seconds,
                        environment=dict(os.environ, ACCOUNTS=str(ACCOUNTS), SEED=str(seed)))
        cpu = spent.seconds()
        if seen["refused"] > (seen["requests"] / 1000 if others else 0):  # PostgreSQL gives up a transfer that conflicts too often
            raise Void("%d of %d transfers were refused" % (seen["refused"], seen["requests"]))
        good = figures.answered("transfers", seen["requests"] - seen["refused"], 1, seen["failed"])
        return {"rate": good / seen["duration_us"] * 1e6, "cpu": cpu * 1e6 / good, **seen}

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def over_http(program, folder, seconds, seed, *flags, preload=None, warm=0):
    with Server(program, folder, *flags, preload=preload) as server:
        if warm:
            server.load(warm, seed + 1)
        return server.load(seconds, seed)


def bare(program, loop, folder, seconds, batch=1):
    """A loop over SQLite, one commit for each batch of transfers."""
    with Server(program, folder) as server:
        shutil.copytree(folder / "data", str(folder) + "-bare", ignore=shutil.ignore_patterns("incidents"))  # which change meanwhile
    try:
        done = subprocess.run([loop, str(folder) + "-bare/artifacts.sqlite", str(ACCOUNTS), str(seconds), str(batch)], capture_output=True, text=True,
                              check=True)
        seen = json.loads(done.stdout)
        return {"rate": figures.figure("transfers of the bare loop", seen["requests"]) / seen["seconds"]}
    finally:
        shutil.rmtree(str(folder) + "-bare", ignore_errors=True)


ANSWER = ('{"success":true,"from_id":"1000","to_id":"1001","amount":1,"from_balance":1000000000,"to_balance":1000000000}')


def pgbench(cluster, database, seconds):
    """The same statements by PostgreSQL's own client."""
    variables = {"accounts": ACCOUNTS, "amount": 1, "artifact": "genesis_ledger", "method": "transfer", "answer": ANSWER,
                 "now": int(time.time() * 1000)}
    words = [word for name, value in variables.items() for word in ("-D", "%s=%s" % (name, value))]
    spent = Spent(cluster.process.pid)
    done = subprocess.run(
        cluster.as_user(os.path.join(cluster.programs, "pgbench"), "-n", "-M", "prepared", "-c", str(HANDLERS), "-j", "1", "-T",
                        str(seconds), "--max-tries", "10", "-f", "-", *words, "-h", cluster.folder, "-U", "role", database),
        input=(HERE / "transfer.pgbench").read_text(), cwd=cluster.folder, capture_output=True, text=True, check=False)
    cpu = spent.seconds()
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    if done.returncode or not found:
        raise Void("pgbench failed: %s%s" % (done.stdout, done.stderr))
    number = lambda words: int((re.search(words + r": (\d+)", done.stdout) or [0, 0])[1])  # noqa: E731
    count, failed = number("number of transactions actually processed"), number("number of failed transactions")
    if failed > count / 1000:
        raise Void("pgbench: %d of %d transactions failed" % (failed, count))
    return {"rate": float(found[1]), "cpu": cpu * 1e6 / figures.figure("transactions of pgbench", count),
            "retried": number("number of transactions retried")}
