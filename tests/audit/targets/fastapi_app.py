"""FastAPI as it comes, with a model for its one body. Its schema is its own /openapi.json."""
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

app = FastAPI()
users = {1: {"id": 1, "name": "Ada", "email": "ada@example.com", "age": 36}}


class User(BaseModel):
    name: str = Field(min_length=1, max_length=20)
    email: str
    age: int = Field(ge=0)


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
