"""The core of the Lisp service as its parent runs it: packets on descriptor 3 (docs/worker-protocol.md)."""
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time

CORE = os.environ.get("LISP_CORE", "mishap-lisp.core")
SBCL = os.environ.get("SBCL", "sbcl")
PACKET = 65536
PATIENCE = 120  # seconds: a machine may be very busy


class Died(Exception):
    """The worker ended in place of an answer."""


def refuse_huge_pages():
    """As the profile of its sandbox does (small_pages)."""
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE


class Worker:
    began = False

    def __init__(self, heap="160MB", options=(), by=()):
        """`by`: a program and its arguments that runs it."""
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.output = tempfile.TemporaryFile()
        # The socket comes as descriptor 0 and is moved to where the protocol has it.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$0" "$@" 3<&0 </dev/null', *by, SBCL, "--core", CORE, "--noinform", "--disable-ldb",
             "--dynamic-space-size", heap, "--control-stack-size", "2MB", "--end-runtime-options", *options],
            stdin=theirs, stdout=self.output, stderr=self.output, env={"PATH": os.environ.get("PATH", "")},
            preexec_fn=refuse_huge_pages)
        theirs.close()
        self.id = 0
        self.ready = self.receive()

    def receive(self, patience=PATIENCE):
        text = b""
        while True:
            ready, _, _ = select.select([self.ours], [], [], patience)
            if not ready:
                raise TimeoutError("no answer from the worker")
            try:
                packet = self.ours.recv(PACKET)
            except ConnectionResetError:
                packet = b""
            if not packet:
                raise Died(self.words())
            kind, piece = packet[:1], packet[1:]
            if kind in b"=<":
                text = b""
            text += piece
            if kind in b"=>" and json.loads(text).get("begins"):
                self.began = True  # it runs code of a caller from now on
            elif kind in b"=>":
                return json.loads(text)

    def send(self, message):
        text = json.dumps(message).encode()
        piece = PACKET - 1
        pieces = [text[i:i + piece] for i in range(0, len(text), piece)]
        for i, part in enumerate(pieces):
            kind = b"=" if len(pieces) == 1 else b"<" if i == 0 else b">" if i == len(pieces) - 1 else b"-"
            try:
                self.ours.send(kind + part)
            except (BrokenPipeError, ConnectionResetError):
                raise Died(self.words()) from None

    def begin(self, operation, limit_ms=None, **arguments):
        self.id += 1
        message = {"id": self.id, "operation": "lisp." + operation, "arguments": arguments}
        if limit_ms is not None:
            message["limit_ms"] = limit_ms
        self.send(message)
        return self.id

    def finish(self):
        while True:
            message = self.receive()
            if message.get("id") == self.id and ("answer" in message or "failure" in message):
                return message

    def call(self, operation, limit_ms=None, **arguments):
        self.begin(operation, limit_ms, **arguments)
        return self.finish()

    def evaluate(self, code, **arguments):
        return self.call("evaluate", code=code, **arguments)

    def interrupt(self, value=None):
        """SIGINT with the id of the call as its value, as the parent sends it."""
        if value is None:
            value = self.id
        union = ctypes.c_void_p(value)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.sigqueue(self.process.pid, signal.SIGINT, union) != 0:
            raise OSError(ctypes.get_errno(), "sigqueue")

    def words(self):
        self.output.seek(0)
        words = self.output.read()
        return (words if len(words) < 3000 else words[:1500] + b"\n...\n" + words[-1500:]).decode("utf-8", "replace")

    def private_kb(self):
        """Memory that this process shares with nothing, not even with the file of the core."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))

    def close(self):
        self.ours.close()
        try:
            self.process.wait(timeout=PATIENCE)
        finally:
            self.output.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.close()


def wait_until(condition, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False
