"""What servers of a cluster let through of a caller's rate, and how often they ask the database for it; PostgreSQL is started for it.

    python3 bench/cluster/rates.py build/mishap [SECONDS]

Three servers with --rate 1000. One caller sends more than it may: as much to each of them, then nearly all to one. One server would let the rate times the
seconds through, and a second of it at once.
"""
import pathlib
import re
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "store"))
import figures  # noqa: E402
import load  # noqa: E402
import postgres  # noqa: E402

RATE, SERVERS, BATCH, QUERIES = 1000, 3, 10, 60
# Without a key that is known, the caller is the address, and what is let through is 401: so nothing else is measured.
REQUEST = b"GET /users HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: mk_" + b"x" * 43 + b"\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) ")


class Sender(threading.Thread):
    """Sends so many requests per second, BATCH of them at once, and counts what is let through."""

    def __init__(self, address, per_second, until):
        super().__init__()
        host, port = address.rsplit(":", 1)
        self.wire = socket.create_connection((host, int(port)))
        self.wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pause, self.until = BATCH / per_second, until
        self.sent = self.passed = self.refused = 0
        self.problem = None

    def run(self):
        begun = time.monotonic()
        while time.monotonic() < self.until and not self.problem:
            self.wire.sendall(REQUEST * BATCH)
            self.sent += BATCH
            self.read_answers()
            ahead = begun + self.sent / BATCH * self.pause - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)

    def read_answers(self):
        text, count = b"", 0
        while count < BATCH:
            more = self.wire.recv(65536)
            if not more:
                self.problem = "the connection was closed"
                return
            text += more
            count = text.count(b"\r\n\r\n")
        found = STATUS.findall(text)
        self.passed += found.count(b"401")
        self.refused += found.count(b"429")
        if found.count(b"401") + found.count(b"429") != BATCH:
            self.problem = "statuses: %r" % found


def measure(servers, cluster, loads, seconds):
    """(requests that were let through, of how many at most, statements for leases per second)"""
    def statements():
        cluster.sql("bench", "SELECT pg_stat_clear_snapshot()")
        return int(cluster.sql("bench", "SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE relname = 'leases'"))
    time.sleep(2)  # until an idle caller has everything, and statistics were told
    before, begun = statements(), time.monotonic()
    senders = [Sender(server.address, per_second, begun + seconds) for server, per_second in zip(servers, loads)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    took = time.monotonic() - begun
    time.sleep(2)
    problems = [sender.problem for sender in senders if sender.problem]
    if problems:
        raise figures.Void(problems[0])
    sent, passed = sum(sender.sent for sender in senders), sum(sender.passed for sender in senders)
    print("%d sent, %d let through, of at most %d in %.1f s" % (sent, passed, RATE * (1 + took), took))
    if sent < 1.2 * RATE * seconds:
        raise figures.Void("only %d requests were sent: the machine is too busy" % sent)
    return passed, RATE * (1 + took), (statements() - before) / took


def main():
    program, seconds = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 6
    if not postgres.folder_of_programs():
        raise figures.Void("there is no PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="bench-rates-") as folder, postgres.Cluster(fsync="on") as cluster:
        address, servers = cluster.address("bench"), []
        try:
            for number in range(SERVERS):
                servers.append(load.Server(program, pathlib.Path(folder) / str(number), flags=("--cluster", address, "--rate", str(RATE))))
            until = time.monotonic() + load.PATIENCE
            while cluster.sql("bench", "SELECT string_agg(part::text, ' ') FROM mishap.servers") != " ".join(["333333"] * SERVERS):
                if time.monotonic() > until:
                    raise figures.Void("the rate was not divided")
                time.sleep(0.2)
            for what, loads in (("even load", [600] * SERVERS), ("uneven load", [1600, 100, 100])):
                passed, most, statements = measure(servers, cluster, loads, seconds)
                figures.row("let through of what is allowed, %s" % what, passed / most, "×", at_most=1)
                figures.row("statements for leases per second, %s" % what, statements, "/s", at_most=QUERIES)
        finally:
            for server in servers:
                server.stop()


figures.run(main)
