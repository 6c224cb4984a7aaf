"""WSGI: every error answer of an application in one shape.

    app = mishap.wsgi.Middleware(app)

An exception becomes an answer, and an error answer in another shape (a page, plain text, {"detail": …}) is replaced.
Successful answers pass unchanged, piece by piece. An exception after the first piece was sent cannot be answered: its
record goes to the sink, and the exception goes on to the server, which ends the connection.
"""
from mishap import _http
from mishap._answer import answer
from mishap.asgi import lose

# Fields that describe the body that was replaced.
DROPPED = ("content-type", "content-length", "content-encoding", "transfer-encoding", "etag", "last-modified",
           "accept-ranges", "content-language", "retry-after")


class Middleware:
    def __init__(self, app, *, dialect="problem", strict=False):
        self.app, self.dialect, self.strict = app, dialect, strict

    def __call__(self, environ, start_response):
        return Exchange(self, environ, start_response).run()


class Exchange:
    """One request."""

    def __init__(self, middleware, environ, start_response):
        self.middleware, self.environ, self.start_response = middleware, environ, start_response
        self.started = self.sent = False
        self.held = None  # the status and the fields of an error answer
        self.written, self.size = [], 0  # its body; None: it is too long to be read

    def start(self, status, headers, exc_info=None):
        """The `start_response` of the application."""
        if int(status[:3]) < 400:
            self.started, self.held = True, None
            write = self.start_response(status, headers, exc_info) if exc_info else self.start_response(status, headers)

            def written(data):
                self.sent = self.sent or bool(data)
                write(data)
            return written
        if self.sent and exc_info:
            raise exc_info[1].with_traceback(exc_info[2])
        self.held = (int(status[:3]), list(headers))
        return self.keep

    def keep(self, piece):
        """Collect the body of an error answer. A long one is not kept: it is replaced."""
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise TypeError(f"The application gave {type(piece)!r} as a piece of its answer, not bytes.")
        if self.written is not None:
            self.written.append(piece)
            self.size += len(piece)
            if self.size > _http.MOST_READ:
                self.written = None

    def run(self):
        try:
            body = self.middleware.app(self.environ, self.start)
        except Exception as exception:
            return self.answer(exception)
        if self.started and self.held is None and self.is_whole(body):
            return body
        return self.pieces(body)

    def is_whole(self, body):
        """Does the server have its own way with it? It knows the length of a list, and sends a file by itself."""
        wrapper = self.environ.get("wsgi.file_wrapper")
        return type(body) in (list, tuple) or (isinstance(wrapper, type) and isinstance(body, wrapper))

    def pieces(self, body):
        try:
            for piece in body:
                if self.held is not None:
                    self.keep(piece)
                else:
                    self.sent = self.sent or bool(piece)
                    yield piece
        except Exception as exception:
            if self.sent:
                lose(exception)
                raise
            self.held = None
            yield from self.answer(exception)
        finally:
            close = getattr(body, "close", None)
            if close is not None:
                close()
        if self.held is not None:
            try:
                made = self.judge()
            except Exception as exception:  # header fields that are no text
                made = self.answer(exception)
            yield from made

    def judge(self):
        """The error answer is complete: let it pass, or replace it."""
        status, headers = self.held
        body = None if self.written is None else b"".join(self.written)
        fields = {name.lower(): value for name, value in headers}
        mishap = _http.of_answer(status, fields, body, self.middleware.strict, self.known)
        if mishap is None:
            self.start_response(line_of(status), headers)
            return [body]
        return self.answer(mishap, status, [(name, value) for name, value in headers if name.lower() not in DROPPED])

    def answer(self, exception, status=None, headers=()):
        made = answer(exception, self.middleware.dialect, strict=self.middleware.strict, known=self.known, status=status)
        fields = [(name.title(), value) for name, value in made.headers] + list(headers)
        if self.started:  # a success was announced, and nothing of it was sent
            self.start_response(line_of(made.status), fields, (type(exception), exception, exception.__traceback__))
        else:
            self.start_response(line_of(made.status), fields)
        return [b"" if self.environ.get("REQUEST_METHOD") == "HEAD" else made.body]

    def known(self):
        path = self.environ.get("SCRIPT_NAME", "") + self.environ.get("PATH_INFO", "")
        return _http.known_of(path, self.environ.get("QUERY_STRING", ""))


def line_of(status):
    from http import HTTPStatus
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Error"
