"""mishap-python as its parent runs it: packets on descriptor 3 (docs/worker-protocol.md), one call for each process."""
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time

HOST = os.environ.get("PYTHON_HOST", "mishap-python")
PACKET = 65536
PATIENCE = 120  # seconds: a machine may be very busy
LONGEST = 60  # seconds, of a call that ends by itself


class Died(Exception):
    """The process ended in place of an answer; `status` is how."""

    def __init__(self, words, status):
        super().__init__(words)
        self.status = status


class Host:
    began = False

    def __init__(self, by=(), prepare=None):
        """`by`: a program and its arguments that runs it."""
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.output = tempfile.TemporaryFile()
        self.ends = None  # when the time of the call is over: the parent keeps it
        self.seconds, self.grace = LONGEST, PATIENCE
        # The socket comes as descriptor 0 and is moved to where the protocol has it.
        self.process = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" "$@" 3<&0 </dev/null', *by, HOST], stdin=theirs,
                                        stdout=self.output, stderr=self.output, env={}, preexec_fn=prepare)
        theirs.close()
        self.ready = self.receive()

    def receive(self):
        text = b""
        while True:
            left = PATIENCE if self.ends is None else max(0, self.ends - time.monotonic())
            ready, _, _ = select.select([self.ours], [], [], left)
            if not ready and self.ends is not None:
                self.interrupt()
                self.ends = None
                ready, _, _ = select.select([self.ours], [], [], self.grace)
                if not ready:
                    self.process.kill()
            elif not ready:
                raise TimeoutError("no answer from the process")
            try:
                packet = self.ours.recv(PACKET)
            except ConnectionResetError:
                packet = b""
            if not packet:
                self.process.wait(PATIENCE)
                raise Died(self.words(), self.process.returncode)
            kind, piece = packet[:1], packet[1:]
            if kind in b"=<":
                text = b""
            text += piece
            if kind in b"=>" and json.loads(text).get("begins"):
                self.began = True  # it runs code of a caller from now on
                self.ends = time.monotonic() + self.seconds
            elif kind in b"=>":
                return json.loads(text)

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        piece = PACKET - 1
        pieces = [text[i:i + piece] for i in range(0, len(text), piece)]
        for i, part in enumerate(pieces):
            kind = b"=" if len(pieces) == 1 else b"<" if i == 0 else b">" if i == len(pieces) - 1 else b"-"
            self.ours.send(kind + part)

    def begin(self, operation, limit_ms=None, id=7, **arguments):
        arguments.setdefault("timeout", LONGEST)
        message = {"id": id, "operation": "python." + operation, "arguments": arguments}
        if limit_ms is not None:
            message["limit_ms"] = limit_ms
        self.send(message)
        self.seconds = min(arguments["timeout"], (limit_ms or 1e9) / 1000)

    def call(self, operation, **arguments):
        self.begin(operation, **arguments)
        return self.receive()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def words(self):
        self.output.seek(0)
        return self.output.read()[-1500:].decode("utf-8", "replace")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self.ours.close()
        self.output.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def once(operation, by=(), grace=PATIENCE, **arguments):
    """One call in a process of its own, which has `grace` seconds to end it when its time is over."""
    with Host(by) as host:
        host.grace = grace
        return host.call(operation, **arguments)
