"""A stock ASGI application without a framework, and the same behind the adapter."""
import os


async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    path = scope["path"]
    if path == "/crash":
        raise RuntimeError("could not connect to postgres://shop:hunter22@db7:5432/orders")
    status, kind, pieces = 404, b"text/plain", [b"Not Found"]
    if path == "/":
        status, kind, pieces = 200, b"application/json", [b'{"hello":', b'"world"}']
    if path == "/validation":
        status, kind, pieces = 422, b"application/json", [b'{"detail":[{"loc":["body","a",1],"msg":"field required","type":"value_error.missing"}]}']
    if path == "/mishap":
        from mishap import Mishap
        raise Mishap("CONFLICT", "It is taken.")
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind), (b"x-own", b"1")]})
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    if path == "/":
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


app = application
if os.environ.get("SHOP_MISHAP") == "1":
    import mishap.asgi
    app = mishap.asgi.Middleware(app)
