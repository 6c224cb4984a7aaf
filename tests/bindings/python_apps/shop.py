"""A stock application of FastAPI. With `install` as an argument of the environment it has the three lines of the adapter."""
import asyncio
import os

from fastapi import FastAPI, HTTPException, Query
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from pydantic import BaseModel, Field

app = FastAPI(debug=os.environ.get("SHOP_DEBUG") == "1")
if os.environ.get("SHOP_MISHAP") == "1":
    import mishap.fastapi
    mishap.fastapi.install(app)

users = {1: {"id": 1, "name": "Ada", "email": "ada@example.com", "age": 36}}


class Address(BaseModel):
    city: str
    zip: str = Field(min_length=5, max_length=5)


class User(BaseModel):
    name: str = Field(min_length=1, max_length=20)
    email: str
    age: int = Field(ge=0, le=130)
    addresses: list[Address] = []


@app.get("/users/{number}")
def show(number: int):
    if number not in users:
        raise HTTPException(status_code=404, detail="no such user")
    return users[number]


@app.post("/users", status_code=201)
def add(user: User):
    number = len(users) + 1
    users[number] = {"id": number, "name": user.name, "email": user.email, "age": user.age}
    return users[number]


@app.get("/search")
def search(limit: int = Query(ge=1, le=100), word: str = Query(min_length=2)):
    return {"limit": limit, "word": word}


@app.get("/orders/{number}", include_in_schema=False)
def order(number: str):
    if number == "crash":
        raise RuntimeError('could not connect to postgres://shop:hunter22@db7.internal:5432/orders')
    if number == "leak":
        raise HTTPException(400, 'Traceback (most recent call last):\n  File "/srv/shop/orders.py", line 7, in order\nKeyError: 1')
    if number == "hidden":
        raise HTTPException(503, "db7.internal is down", headers={"X-Try": "later"})
    if number == "login":
        raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
    if number == "page":
        return HTMLResponse("<h1>gone</h1>", status_code=410)
    if number == "own":
        return JSONResponse({"fault": "own", "why": "a shape of our own"}, status_code=409)
    if number == "ownleak":
        return JSONResponse({"fault": 'File "/srv/shop/orders.py", line 7, in order', "dsn": "postgres://shop:hunter22@db7/orders"}, status_code=409)
    if number == "moved":
        raise HTTPException(307, headers={"Location": "/users/1"})
    if number == "mishap":
        from mishap import Mishap
        raise Mishap("RATE_LIMITED", "Too many orders.", context={"limit": 3}, retry_after=2.5)
    return {"order": number}


@app.get("/stream", include_in_schema=False)
def stream(fail: bool = False, kind: str = "sync"):
    def end():
        if fail and kind == "mishap":
            from mishap import Mishap
            raise Mishap("CONFLICT", "It is taken: hunter22 mishap")
        if fail:
            raise RuntimeError("hunter22 " + kind)

    def pieces():
        for number in range(3):
            yield f"piece {number}\n"
        end()

    async def later():
        for number in range(3):
            yield f"piece {number}\n"
            await asyncio.sleep(0.001)
        end()
    return StreamingResponse(later() if kind == "async" else pieces(), media_type="text/plain", headers={"Content-Length": "1000"} if kind == "length" else None)


@app.get("/plain", include_in_schema=False)
def plain():
    return PlainTextResponse("fine", headers={"ETag": '"1"'})


@app.middleware("http")
async def timing(request, call_next):
    if request.url.path == "/middleware":
        raise RuntimeError("hunter22 in a middleware")
    return await call_next(request)
