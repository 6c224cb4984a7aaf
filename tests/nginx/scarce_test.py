"""The filter for nginx without memory: each allocation of nginx and of the module fails in turn, and then all that follow.

    MISHAP_NGINX_MODULE=… MISHAP_SCARCE_LIBRARY=… python3 tests/nginx/scarce_test.py [PART-OF-A-NAME]

A request then has the right answer, a shorter one, or none at all. It never has the private text, and nginx goes on.
"""
import functools
import gzip
import json
import mmap
import os
import struct
import tempfile

from filtered import MODULE, NGINX, Nginx, chunked, read_all, response
from blackbox import Skipped, equal, expect, main, test, tests_of

LIBRARY = os.environ["MISHAP_SCARCE_LIBRARY"]
MARK = b"/srv/app/secret-4711.py"
DETAIL = b'{"detail":[{"loc":["body","age"],"msg":"%s","type":"less_than_equal","ctx":{"le":150},"input":200}]}' % MARK
MOST = 2000  # allocations of one request

ROUTES = {
    "field errors": response(422, DETAIL, "Content-Type: application/json", "X-Where: " + MARK.decode(), "Connection: close"),
    "a trace": response(500, b"Traceback (most recent call last):\n  File \"%s\", line 7\nKeyError\n" % MARK, "Connection: close"),
    "compressed": response(500, gzip.compress(MARK * 2000), "Content-Encoding: gzip", "Connection: close"),
    "chunks": chunked(404, [MARK * 200] * 30, "Connection: close"),
    "too long": response(503, MARK * 10000, "Connection: close"),
}


class Order:
    """How many allocations succeed from now on."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile()
        self.file.write(struct.pack("=ii", -1, 0))
        self.file.flush()
        self.page = mmap.mmap(self.file.fileno(), 8)

    def give(self, left, rest=False):
        self.page[:] = struct.pack("=ii", left, rest)

    @property
    def left(self):
        return struct.unpack("=ii", self.page[:])[0]


@functools.lru_cache(None)
def nginx():
    if not MODULE or not NGINX:
        raise Skipped("there is no nginx, or no module: nginx-dev is needed")
    order = Order()
    server = Nginx("mishap on; mishap_incidents {incidents}; location / { proxy_pass http://behind; proxy_http_version 1.1; }",
                   env={"LD_PRELOAD": LIBRARY, "MISHAP_SCARCE": order.file.name})
    equal(server.ask("/none").status, 404)  # it listens before it is ready: only an answer shows that nothing of its start can fail any more
    return server, order


def judge(raw):
    """True if it is a whole answer."""
    expect(MARK not in raw, "the private text is in", raw)
    head, _, body = raw.partition(b"\r\n\r\n")
    if not raw:
        return False
    expect(raw.startswith(b"HTTP/1.1 ") and body, "a part of an answer:", raw)
    expect(b"\r\nContent-Length: %d\r\n" % len(body) in head + b"\r\n", raw)
    if b"\r\nContent-Type: application/json\r\n" not in head + b"\r\n":  # the last words of nginx
        expect(raw.startswith(b"HTTP/1.1 500 ") and b"<center>nginx" in body, raw)
        return False
    expect("error" in json.loads(body), raw)
    return True


@tests_of({name + (", then all" if rest else ""): (name, rest) for name in ROUTES for rest in (False, True)})
def an_allocation_fails_and_nginx_goes_on(name, rest):
    server, order = nginx()
    server.upstream.routes["/it"] = ROUTES[name]
    good = b"GET /it HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answered = refused = number = 0
    while True:
        with server.connect() as connection:  # nginx may have accepted it already: the order counts from here
            order.give(number, rest)
            try:
                connection.sendall(good)
                raw = read_all(connection)
            except BrokenPipeError:
                raw = b""
            reached = order.left <= 0 and not (order.left == 0 and not rest)
            order.give(-1)
        whole = judge(raw)
        answered, refused = answered + whole, refused + (not whole)
        equal(server.process.poll(), None, "nginx has ended")
        if not reached:
            break
        number += 1
        expect(number < MOST, "no end")
    expect(whole and number >= 8, "the last request was not answered, or there were few allocations:", number)
    expect(judge(server.raw(good)), "nginx does not answer any more")
    print("# %s: %d allocations, %d answered, %d not" % (name, number, answered, refused))


@test
def nginx_ends_in_order():
    equal(nginx()[0].stop(), 0)


main()
