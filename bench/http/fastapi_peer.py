"""Seed 003's complete example on FastAPI and uvicorn:  python3 fastapi_peer.py PORT

The model states the rules; the exception handler spells what pydantic found. Runs with pydantic 1 and 2, whose
names for the same findings differ.
"""
import sys
from typing import Optional

import pydantic
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

EMAIL = r".*@.*\..*"
V2 = pydantic.VERSION.startswith("2")


class User(BaseModel):
    name: str = Field(min_length=1)
    age: Optional[int] = Field(default=None, ge=0, le=150)
    email: str = Field(**{"pattern" if V2 else "regex": EMAIL})


REQUIRED = {"missing", "string_too_short", "value_error.missing", "value_error.any_str.min_length"}
RANGE = {"greater_than_equal", "less_than_equal", "value_error.number.not_ge", "value_error.number.not_le"}
PATTERN = {"string_pattern_mismatch", "value_error.str.regex"}

app = FastAPI(openapi_url=None)


def finding(error, body):
    field, kind = error["loc"][-1], error["type"]
    if kind in REQUIRED:
        return {"field": field, "error": "field_required"}
    if kind in RANGE:
        return {"field": field, "error": "value_out_of_range", "min": 0, "max": 150, "actual": body[field]}
    if kind in PATTERN:
        return {"field": field, "error": "pattern_mismatch", "expected": EMAIL}
    return {"field": field, "error": "invalid_type", "actual": type(body[field]).__name__}


@app.exception_handler(RequestValidationError)
async def refuse(request: Request, failure: RequestValidationError):
    details = [finding(error, failure.body) for error in failure.errors()]
    body = {"error": "validation_error", "message": "Validation failed", "details": details}
    return JSONResponse(body, status_code=422)


@app.post("/users", status_code=201)
async def create_user(user: User):
    return user


if __name__ == "__main__":
    port = int(sys.argv[1])
    # uvicorn takes uvloop and httptools where they are installed.
    uvicorn.run(app, host="127.0.0.1", port=port, workers=1, log_level="critical", access_log=False)
