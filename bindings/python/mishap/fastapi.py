"""FastAPI: errors of an application in one shape.

    import mishap.fastapi
    mishap.fastapi.install(app)

Exceptions, validation errors (all fields), HTTPException, unknown paths, wrong methods and malformed JSON are answered
as application/problem+json, and the OpenAPI document says so. HEAD is answered wherever GET is. Successful answers stay
as they are.
"""
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware as Stacked
from starlette.responses import Response
from starlette.routing import Match

from mishap import Mishap, _http, _validation, media_type
from mishap._answer import answer
from mishap.asgi import DONE, Middleware, known_of

PROBLEM = {
    "title": "Problem", "type": "object", "description": "A failure, as RFC 9457 describes it.",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"}, "instance": {"type": "string", "description": "The id of the incident."},
        "code": {"type": "string"}, "category": {"type": "string"}, "retryable": {"type": "boolean"},
        "retry_after_ms": {"type": "integer"}, "context": {"type": "object"},
        "errors": {"type": "array", "items": {"type": "object"}, "description": "What is wrong with each field."}}}


def install(app, *, dialect="problem", strict=False):
    """Answer all errors of this application. Call it once, before or after the routes are declared.

    `app.debug` is switched off: it would show tracebacks of middlewares to callers.
    """
    kind = media_type(dialect)
    usual = not kind.startswith("text/")  # of those Starlette says in which charset they are
    app.debug = False

    def respond(request, exception, status=None, headers=None):
        scope = request.scope
        made = answer(exception, dialect, strict=strict, known=lambda: known_of(scope), status=status)
        scope[DONE] = True
        if usual and not headers and len(made.headers) == 2:
            return Failure(made)
        fields = dict(made.headers[2:])
        if headers:
            fields.update((name.lower(), value) for name, value in headers.items())
        return Response(made.body, made.status, fields, kind)

    async def failed(request, exception):
        if request.scope["type"] != "http":  # a websocket has no answer: the middleware closes it
            raise exception
        return respond(request, exception)

    async def invalid(request, exception):
        return respond(request, _validation.mishap_of(exception.errors()))

    async def refused(request, exception):
        if exception.status_code < 400:  # a redirect, or 304
            return await http_exception_handler(request, exception)
        mishap = _http.of_status(exception.status_code, exception.detail)
        mishap.__cause__ = exception
        if request.scope["type"] != "http":
            raise mishap
        headers = getattr(exception, "headers", None)
        return respond(request, mishap, exception.status_code, with_head(headers) if exception.status_code == 405 else headers)

    app.add_exception_handler(Mishap, failed)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, failed)  # what other middleware raises
    app.add_middleware(Middleware, dialect=dialect, strict=strict)
    app.user_middleware.append(Stacked(HeadAsGet, router=app.router))  # the innermost, so that others see HEAD
    describe_errors(app, dialect)


class Failure(Response):
    """The response for an answer with the usual two header fields, which nothing has to look at again."""

    def __init__(self, made):
        (_, kind), (_, size) = made.headers
        self.status_code, self.body, self.background, self.media_type = made.status, made.body, None, kind
        self.raw_headers = [(b"content-length", size.encode("latin-1")), (b"content-type", kind.encode("latin-1"))]


class HeadAsGet:
    """HEAD for a path that has GET alone: FastAPI would refuse it, but RFC 9110 wants it wherever GET is."""

    def __init__(self, app, router):
        self.app, self.router = app, router

    def __call__(self, scope, receive, send):
        """Not a coroutine itself: what is not HEAD takes no time here."""
        if scope.get("method") != "HEAD" or scope["type"] != "http" or self.has(scope):
            return self.app(scope, receive, send)
        asked = dict(scope, method="GET")
        return self.answer(scope, asked, receive, send) if self.has(asked) else self.app(scope, receive, send)

    async def answer(self, scope, asked, receive, send):
        async def send_marked(message):
            if DONE in asked:
                scope[DONE] = True
            await send(message)  # the body, too, which the server leaves out

        await self.app(asked, receive, send_marked)

    def has(self, scope):
        return any(route.matches(scope)[0] == Match.FULL for route in self.router.routes)


def with_head(headers):
    """The header fields of a 405, with HEAD where GET is allowed."""
    allowed = [method.strip() for name, value in (headers or {}).items() if name.lower() == "allow" for method in value.split(",")]
    if "GET" not in allowed or "HEAD" in allowed:
        return headers
    kept = {name: value for name, value in headers.items() if name.lower() != "allow"}
    return {**kept, "Allow": ", ".join(allowed + ["HEAD"])}


def describe_errors(app, dialect):
    """The OpenAPI document names the shape of all errors."""
    make = app.openapi

    def openapi():
        document = make()
        if dialect == "problem":
            content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
            document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
            for path in document.get("paths", {}).values():
                for operation in path.values():
                    if isinstance(operation, dict) and "responses" in operation:
                        describe_responses(operation["responses"], content)
        return document

    app.openapi = openapi


def describe_responses(responses, content):
    """Validation errors, as FastAPI describes them, and all that the author did not describe."""
    invalid = responses.get("422", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if invalid.get("$ref", "").endswith("/HTTPValidationError"):
        responses["422"]["content"] = content
    responses.setdefault("default", {"description": "Any failure.", "content": content})
