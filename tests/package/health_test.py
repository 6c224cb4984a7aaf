"""`mishap health`, the health check of the image: servers that work, that do not, and that are none.

    MISHAP_PROGRAM=… python3 tests/package/health_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import os
import socket
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "http")]
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import Server, all_ended_in_order  # noqa: E402

MISHAP = os.environ["MISHAP_PROGRAM"]


def ask(port, *words, ms="25000"):
    """The usual time would be too little for a machine that is busy."""
    ran = run_program(MISHAP, "health", "--port", str(port), "--output", "json", "--timeout-ms", ms, *words)
    answer = parsed(ran.out)
    return ran.status, answer["error"]["code"] if answer["error"] else None


@contextlib.contextmanager
def peer(*pieces, silent=False, family=socket.AF_INET):
    """A peer that answers each question with these bytes, piece by piece, and closes; or that says nothing."""
    asked = []
    with socket.socket(family) as listener:
        listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        listener.listen()

        def answer():
            with contextlib.suppress(OSError):
                connection = listener.accept()[0]
                with connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    asked.append(connection.recv(4096))
                    for piece in pieces:
                        connection.sendall(piece)
                    if silent:
                        connection.recv(4096)  # until the other end gives up

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield listener.getsockname()[1], asked
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@test
def a_server_that_works_is_healthy():
    with Server("--workers", "1") as served:
        equal(ask(served.url.rsplit(":", 1)[1].rstrip("/")), (0, None))


@tests_of({
    "200": ((b"HTTP/1.1 200 OK\r\n\r\n",), 0, None),
    "200, byte by byte": (tuple(bytes([byte]) for byte in b"HTTP/1.1 200 OK\r\n\r\n"), 0, None),
    "503": ((b"HTTP/1.1 503 Service Unavailable\r\n\r\n",), 12, "UNAVAILABLE"),
    "something else": ((b"220 mail.example.com ESMTP ready\r\n",), 12, "UNAVAILABLE"),
    "less than a status": ((b"HTTP/1.1 2",), 12, "UNAVAILABLE"),
    "nothing": ((), 12, "UNAVAILABLE"),
})
def what_a_peer_answers_counts(pieces, status, code):
    with peer(*pieces) as (port, asked):
        equal(ask(port), (status, code))
        expect(asked[0].startswith(b"GET /health HTTP/1.1\r\n"), asked)


@test
def a_peer_that_says_nothing_is_given_up():
    with peer(silent=True) as (port, _):
        equal(ask(port, ms="200"), (12, "CONNECTION_TIMEOUT"))


@test
def no_server_is_named_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        equal(ask(free.getsockname()[1]), (12, "CONNECTION_REFUSED"))


@test
def an_address_of_version_6_is_asked():
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError as error:
        raise Skipped("this machine has no address of version 6") from error
    with peer(b"HTTP/1.1 200 OK\r\n\r\n", family=socket.AF_INET6) as (port, _):
        equal(ask(port, "--host", "::1"), (0, None))


@test
def a_host_that_is_no_address_is_refused():
    equal(ask(1, "--host", "localhost")[1], "INVALID_ARGUMENT")


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
