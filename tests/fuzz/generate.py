"""Makes up documents for a harness to start from.

    tests/fuzz/generate.py NAME COUNT FOLDER

Bytes that are changed at random seldom stay JSON. These documents do: they are those of tests/golden/NAME and
tests/broken/NAME with members left out, renamed, added and given other values, and, for `canonical`, ones that
are made up as a whole. Values are taken from a list of what parsers trip over.
"""
import json
import os
import random
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

TEXTS = [
    # says nothing, or little
    "", " ", "\n", "a", "x" * 300, "null", "[1]", '{"a":1}',
    # codes, types, categories, field errors
    "NOT_FOUND", "not_found", "VALIDATION_ERROR", "INTERNAL_ERROR", "internal_server_error", "RATE_LIMITED", "TIMEOUT",
    "OWN_CODE", "own_code", "OwnCode", "ValueError", "TimeoutError", "RESOURCE_EXHAUSTED", "validation", "system",
    "execution", "resource", "permission", "field_required", "invalid_length", "value_out_of_range", "invalid_type",
    "pattern_mismatch", "error",
    # what must not leak
    "x://u:p@h/p", "://:p@", "x://a:[redacted]@c", "password", "token", "Traceback (most recent call last)",
    # markers of a report
    "[ERROR]", "[\\ERROR]", "[Backtrace]", "[stdout] x", "0: (F)", "...", "(#<no backtrace available>)",
    # places, addresses, numbers and times in words
    "items[0].name", "/items/0/name", "a.b", "~0~1", "about:blank", "https://e.org/x", "mailto:x", "0-150", "-5--1",
    "1.5-2", "404", "500", "200", "1.5s", "-1s", "99999999999999s", "0.000001s",
    # names that the formats themselves use
    "incident", "details", "context", "fields", "code", "message", "line",
    "type.googleapis.com/google.rpc.ErrorInfo", "type.googleapis.com/google.rpc.RetryInfo",
    # characters
    "\u00e9\u20ac\U0001f600", "\0", "\x7f\x1b", 'a"b\\c',
]
NAMES = [text for text in TEXTS if len(text) < 40]
NUMBERS = [0, 1, -1, 5, 250, 404, 422, 500, 1000, 86400000, -32603, -32000, -2**63, 2**63, 2**64 - 1, 2**70, 1.5, -0.0,
           1e300, 5e-324]
CODES = ["NOT_FOUND", "VALIDATION_ERROR", "INTERNAL_ERROR", "RATE_LIMITED", "TIMEOUT", "GENERAL_ERROR", "ARG_ERROR",
         "TYPE_ERROR", "CONNECTION_REFUSED", "OWN_CODE", "A1"]


def chance(probability):
    return random.random() < probability


def text():
    return random.choice(TEXTS)


def value(depth=0):
    kind = random.random()
    if depth < 4 and kind < 0.2:
        return [value(depth + 1) for _ in range(random.randint(0, 3))]
    if depth < 4 and kind < 0.4:
        return {random.choice(NAMES): value(depth + 1) for _ in range(random.randint(0, 3))}
    return text() if kind < 0.7 else random.choice(NUMBERS + [True, False, None])


# ---- Documents that are made up ------------------------------------------------------------------

def field_error():
    field = {"field": text(), "error": text()}
    for key in ("expected", "actual"):
        if chance(0.5):
            field[key] = value()
    for key in ("min", "max"):
        if chance(0.5):
            field[key] = random.choice(NUMBERS)
    return field


def canonical():
    members = {
        "category": lambda: random.choice(["validation", "permission", "resource", "execution", "system"]),
        "retryable": lambda: True,
        "retry_after_ms": lambda: random.choice([0, 1, 250, 999, 1500, 2**62]),
        "docs_url": lambda: random.choice(["https://e.org/x", "mailto:x", "x://u:p@h/"]),
        "context": lambda: {random.choice(NAMES): value() for _ in range(random.randint(0, 4))},
        "fields": lambda: [field_error() for _ in range(random.randint(0, 3))],
        "backtrace": lambda: [text() for _ in range(random.choice([0, 1, 2, 25]))],
    }
    document = {"code": random.choice(CODES), "message": text()}
    for key in ("cause", "suggestion", "type", "stdout", "incident"):
        members[key] = text
    for key, make in members.items():
        if chance(0.35):
            document[key] = make()
    if "retry_after_ms" not in document and chance(0.2):
        document["retryable"] = False
    return document


def report():
    pieces = TEXTS + ["\n", "\n\n", "[ERROR] ", "\n\n[Backtrace]\n", "[stdout]\n", "0: (", "TYPE-ERROR"]
    rest = "".join(random.choice(pieces) for _ in range(random.randint(1, 12)))
    if chance(0.3):
        return rest
    output = "[stdout]\n%s\n\n" % text() if chance(0.5) else ""
    return "%s[ERROR] %s\n%s\n\n[Backtrace]\n0: %s\n%s" % (output, text(), rest, text(), rest)


# ---- Documents that are changed ------------------------------------------------------------------

def known_documents(name):
    documents = []
    for kind in ("golden", "broken"):
        for folder, _, files in sorted(os.walk(os.path.join(TESTS, kind, name))):
            for file in sorted(files):
                try:
                    with open(os.path.join(folder, file), encoding="utf-8") as stream:
                        documents.append(json.load(stream))
                except ValueError:  # not JSON, on purpose
                    pass
    return documents


def keys_of(document):
    if isinstance(document, dict):
        return set(document).union(*map(keys_of, document.values()))
    return set().union(*map(keys_of, document)) if isinstance(document, list) else set()


def changed(document, keys):
    if isinstance(document, dict):
        kept = {random.choice(keys) if chance(0.03) else key: changed(item, keys) for key, item in document.items()
                if not chance(0.03)}
        if chance(0.1):
            kept[random.choice(keys + NAMES)] = value()
        return kept
    if isinstance(document, list):
        kept = [changed(item, keys) for item in document if not chance(0.05)]
        return kept + [changed(random.choice(document), keys)] if document and chance(0.1) else kept
    return value() if chance(0.12) else document


def main():
    name, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    known = known_documents(name)
    keys = sorted(keys_of(known))
    for number in range(count):
        if name == "condition-report":
            document = report()
        else:
            made_up = canonical() if name == "canonical" and chance(0.7) or not known else None
            document = json.dumps(made_up or changed(random.choice(known), keys), ensure_ascii=chance(0.5))
        with open(os.path.join(folder, str(number)), "wb") as stream:
            stream.write(document.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
