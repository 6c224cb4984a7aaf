"""What the tests of src/schema share: the program that holds values against schemas (checker.c)."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["cli", "mcp"]:
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
from blackbox import equal, run_program  # noqa: E402

DRAFTS = {"draft7": "http://json-schema.org/draft-07/schema#", "draft2020-12": "https://json-schema.org/draft/2020-12/schema"}


def of_draft(schema, draft):
    """The schema, with the name of its draft if it has none."""
    return dict({"$schema": DRAFTS[draft]}, **schema) if isinstance(schema, dict) else schema


def checked(cases):
    """For each (schema, value): None if the value fits, "unread", or a list of pointers and sentences."""
    lines = "".join(json.dumps({"schema": schema, "data": value}) + "\n" for schema, value in cases)
    done = run_program(os.environ["SCHEMA_CHECKER"], stdin=lines.encode())
    equal((done.status, done.err), (0, b""))
    answers = done.out.decode().split("\n")[:-1]
    equal(len(answers), len(cases))
    return [answer_of(line) for line in answers]


def answer_of(line):
    if line in ("fits", "unread"):
        return None if line == "fits" else line
    errors = json.loads(line)["errors"]
    return [(error.get("source", {}).get("pointer"), error["detail"]) for error in errors[1:]]


class Tally:
    """Values that are valid or not, and what became of them."""

    def __init__(self):
        self.valid = self.invalid = self.found = 0
        self.refused, self.missed = [], []

    def add(self, name, valid, answer):
        wrong = isinstance(answer, list)
        if valid:
            self.valid += 1
            self.refused += [(name, answer)] if wrong else []
        else:
            self.invalid += 1
            self.found += wrong
            self.missed += [] if wrong else [name]

    def share(self):
        return 100 * self.found / max(self.invalid, 1)

    def __str__(self):
        return "%d valid, %d refused; %d invalid, %d found (%.1f %%)" % (self.valid, len(self.refused), self.invalid, self.found, self.share())
