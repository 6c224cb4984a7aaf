"""ASGI: every error answer of an application in one shape.

    app = mishap.asgi.Middleware(app)

An exception becomes an answer, and an error answer in another shape (a page, plain text, {"detail": …}) is replaced.
Successful answers pass unchanged, piece by piece. An exception after the first piece was sent cannot be answered: its
record goes to the sink, and the exception goes on to the server, which ends the connection.
"""
from mishap import _http
from mishap._answer import answer, mishap_of, new_incident, record_of, report

DONE = "mishap.done"  # a key of the scope: an adapter has made this answer, and the guard has judged it


class Middleware:
    def __init__(self, app, *, dialect="problem", strict=False):
        self.app, self.dialect, self.strict = app, dialect, strict

    async def __call__(self, scope, receive, send):
        if scope["type"] == "websocket":
            await self.serve_socket(scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        watched = Watched(self, scope, send)
        try:
            await self.app(scope, receive, watched.send)
            if watched.held is not None:  # the application has not ended its error answer
                await watched.judge()
        except Exception as exception:
            if watched.sent:
                lose(exception)
                raise
            await self.send_answer(scope, send, exception)

    async def serve_socket(self, scope, receive, send):
        """A websocket whose application fails leaves a record, and is closed with 1011 and the id of the incident."""
        open_still = True

        async def watched(message):
            nonlocal open_still
            if message["type"] in ("websocket.close", "websocket.http.response.start"):
                open_still = False
            await send(message)

        async def heard():
            nonlocal open_still
            message = await receive()
            if message["type"] == "websocket.disconnect":
                open_still = False
            return message

        try:
            await self.app(scope, heard, watched)
        except Exception as exception:
            if type(exception).__name__ == "WebSocketDisconnect":  # the caller has gone: that is no failure
                raise
            incident = lose(exception)
            if open_still:
                await send({"type": "websocket.close", "code": 1011, "reason": incident if is_short(incident) else ""})

    async def send_answer(self, scope, send, exception, status=None, headers=()):
        made = answer(exception, self.dialect, strict=self.strict, known=lambda: known_of(scope), status=status)
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in made.headers]
        await send({"type": "http.response.start", "status": made.status, "headers": raw + list(headers)})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else made.body})


def is_short(incident):
    """The reason of a close has at most 123 bytes."""
    return isinstance(incident, str) and incident.isascii() and len(incident) <= 123


def known_of(scope):
    return _http.known_of(scope.get("path", ""), scope.get("query_string", b"").decode("latin-1"))


def lose(exception):
    """An answer was under way: the operator gets the record, the caller a broken connection. The id of the incident."""
    mishap = mishap_of(exception)
    mishap.incident = mishap.incident or new_incident()
    report(record_of(mishap, mishap.status))
    return mishap.incident


class Watched:
    """The `send` of one request. An error answer is held back until all of it is known."""
    __slots__ = ("middleware", "scope", "forward", "sent", "held", "body", "size", "judged")

    def __init__(self, middleware, scope, send):
        self.middleware, self.scope, self.forward = middleware, scope, send
        self.sent, self.held, self.body, self.size, self.judged = False, None, [], 0, False

    def send(self, message):
        """Not a coroutine itself: what passes takes none but that of the server."""
        if self.held is None and not self.judged and (
                DONE in self.scope or message["type"] != "http.response.start" or message["status"] < 400):
            self.sent = True
            return self.forward(message)
        return self.hold(message)

    async def hold(self, message):
        kind = message["type"]
        if self.judged:
            return
        if self.held is None:
            self.held = message
        elif kind == "http.response.body":
            self.keep(message.get("body", b""))
            if not message.get("more_body", False):
                await self.judge()
        else:  # an extension of ASGI, such as a file that the server sends: its content is not seen, so it is replaced
            self.body = None
            await self.judge()

    def keep(self, piece):
        """Collect the body of an error answer. A long one is not kept: it is replaced."""
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise TypeError(f"The application gave {type(piece)!r} as a piece of its answer, not bytes.")
        if self.body is not None:
            self.body.append(piece)
            self.size += len(piece)
            if self.size > _http.MOST_READ:
                self.body = None

    async def judge(self):
        """The error answer is complete: let it pass, or replace it."""
        start, body = self.held, None if self.body is None else b"".join(self.body)
        fields = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", ())}
        mishap = _http.of_answer(start["status"], fields, body, self.middleware.strict, lambda: known_of(self.scope))
        self.held, self.sent, self.judged = None, True, True
        if mishap is None:
            await self.forward(start)
            await self.forward({"type": "http.response.body", "body": body})
            return
        kept = [(name, value) for name, value in start.get("headers", ()) if name.lower() not in DROPPED]
        await self.middleware.send_answer(self.scope, self.forward, mishap, start["status"], kept)


# Fields that describe the body that was replaced.
DROPPED = (b"content-type", b"content-length", b"content-encoding", b"transfer-encoding", b"etag", b"last-modified",
           b"accept-ranges", b"content-language", b"retry-after")
