"""A stock WSGI application on wsgiref, and the same behind the adapter. Prints its port."""
import os
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server


def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/":
        start_response("200 OK", [("Content-Type", "application/json")])
        return [b'{"hello":', b'"world"}']
    if path == "/late":
        return late(start_response)
    if path == "/written":
        write = start_response("200 OK", [("Content-Type", "text/plain")])
        write(b"written ")
        return [b"and returned"]
    if path == "/crash":
        raise RuntimeError("could not connect to postgres://shop:hunter22@db7:5432/orders")
    if path == "/after":
        return after(start_response)
    if path == "/teapot":
        start_response("409 Conflict", [("Content-Type", "application/json"), ("X-Own", "1"), ("Content-Length", "33")])
        return [b'{"detail": "the pot is taken now"}'[:33]]
    if path == "/mishap":
        from mishap import Mishap
        raise Mishap("NOT_FOUND", "There is no pot 7.", context={"pot": 7})
    start_response("404 Not Found", [("Content-Type", "text/html"), ("ETag", "x")])
    return [b"<h1>Not Found</h1>", b"<pre>/srv/app/pots.py</pre>"]


def late(start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield b"late "
    yield b"but fine"


def after(start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    raise RuntimeError("hunter22")
    yield b""


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if os.environ.get("SHOP_MISHAP") == "1":
    import mishap.wsgi
    application = mishap.wsgi.Middleware(application)
with make_server("127.0.0.1", 0, application, handler_class=Quiet) as server:
    print(server.server_port, flush=True)
    sys.stderr.flush()
    server.serve_forever()
