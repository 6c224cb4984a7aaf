"""Durable transfers a second over HTTP, with 64 connections: in batches and one by one on SQLite, and on PostgreSQL against pgbench."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import stores  # noqa: F401  knows where the tests' PostgreSQL is

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "handlers"))
import processes  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 64
ACCOUNTS = 1000
HANDLERS = 8  # connections to PostgreSQL, of the server and of pgbench


def genesis(folder):
    path = folder / "genesis.json"
    path.write_text(json.dumps({"principals": {str(i + 1): 1_000_000_000 for i in range(ACCOUNTS)}}))
    return path


def spent(roots, command, **more):
    """Run a command; what it wrote, and the CPU seconds of it and of all processes below the roots."""
    def cpu():
        pids = {pid for root in roots for pid in processes.family(root)}
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return processes.cpu_ns(pids) / 1e9 + used.ru_utime + used.ru_stime
    before = cpu()
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    return done, cpu() - before


class Server:
    """`mishap serve` on a new store, or on that of a data folder, until its end."""

    def __init__(self, program, folder, *flags, preload=None, data=None):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        environment = dict(os.environ, **({"LD_PRELOAD": str(preload), "FLUSH_DELAY_US": "1000"} if preload else {}))
        log = folder / "stderr"
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [program, "serve", "--listen", "127.0.0.1:0", "--workers", "1", "--data", data or folder / "data", "--artifacts-genesis",
                 genesis(folder), *flags], stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment)
        deadline = time.monotonic() + 60
        while not (found := re.search(r"listening on http://(\S+)", log.read_text())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                sys.exit("%s does not listen: %s" % (program, log.read_text()))
            time.sleep(0.02)
        self.address = found[1]

    def load(self, seconds, seed, *others):
        """With the CPU of the processes below `others`, too."""
        done, cpu = spent([self.process.pid, *others],
                          ["wrk", "-t1", "-c%d" % CONNECTIONS, "-d%ds" % seconds, "--timeout", "30s", "-s", HERE / "transfer.lua",
                           "http://" + self.address], env=dict(os.environ, ACCOUNTS=str(ACCOUNTS), SEED=str(seed)))
        seen = json.loads(done.stdout.strip().splitlines()[-1])
        if not seen["requests"] or seen["failed"] or seen["refused"] > seen["requests"] / 1000:
            sys.exit("the measurement means nothing: %s" % seen)
        good = seen["requests"] - seen["refused"]
        return {"rate": good / seen["seconds"], "cpu": cpu * 1e6 / good, **seen}

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


def bare(program, loop, folder, seconds):
    """A loop over SQLite, one commit for each transfer."""
    with Server(program, folder) as server:
        shutil.copytree(folder / "data", str(folder) + "-bare")
    try:
        done = subprocess.run([loop, str(folder) + "-bare/artifacts.sqlite", str(ACCOUNTS), str(seconds)], capture_output=True, text=True,
                              check=True)
        seen = json.loads(done.stdout)
        return {"rate": seen["requests"] / seen["seconds"]}
    finally:
        shutil.rmtree(str(folder) + "-bare", ignore_errors=True)


ANSWER = ('{"success":true,"from_id":"1000","to_id":"1001","amount":1,"from_balance":1000000000,"to_balance":1000000000}')


def pgbench(cluster, database, seconds):
    """The same statements by PostgreSQL's own client."""
    variables = {"accounts": ACCOUNTS, "amount": 1, "artifact": "genesis_ledger", "method": "transfer", "answer": ANSWER,
                 "now": int(time.time() * 1000)}
    words = [word for name, value in variables.items() for word in ("-D", "%s=%s" % (name, value))]
    done, cpu = spent([cluster.process.pid],
                      cluster.as_user(os.path.join(cluster.programs, "pgbench"), "-n", "-M", "prepared", "-c", str(HANDLERS), "-j", "1", "-T",
                                      str(seconds), "--max-tries", "10", "-f", "-", *words, "-h", cluster.folder, "-U", "role", database),
                      input=(HERE / "transfer.pgbench").read_text(), cwd=cluster.folder)
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    if done.returncode or not found:
        sys.exit("pgbench failed: %s%s" % (done.stdout, done.stderr))
    failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
    retried = re.search(r"number of transactions retried: (\d+)", done.stdout)
    count = int(re.search(r"number of transactions actually processed: (\d+)", done.stdout)[1])
    return {"rate": float(found[1]), "cpu": cpu * 1e6 / count, "failed": int(failed[1]) if failed else 0, "retried": int(retried[1]) if retried else 0}
