"""Makes up documents for a harness to start from.

    tests/fuzz/generate.py NAME COUNT FOLDER

Bytes that are changed at random seldom stay JSON. These documents do: they are those of tests/golden/NAME and
tests/broken/NAME with members left out, renamed, added and given other values, and, for `canonical`, ones that
are made up as a whole. Values are taken from a list of what parsers trip over. For `carry` and `frame` it is the bytes of
src/mishap/carry.c and src/worker/wire/frame.c, with a slip now and then.
"""
import json
import os
import random
import struct
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


# ---- Mishaps as bytes ----------------------------------------------------------------------------

def packed(content):
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    return struct.pack("<I", len(data)) + data


def packed_value():
    kind = random.choice([0, 1, 2, 3, 4, 5, 6, 6, 7, 7])
    number = random.choice([0, 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
    content = {
        2: lambda: bytes([chance(0.5)]),
        3: lambda: struct.pack("<Q", number),
        4: lambda: struct.pack("<Q", number),
        5: lambda: struct.pack("<d", random.choice([0.0, -0.0, 0.1, 1e300, 5e-324, float("inf"), float("nan")])),
        6: lambda: packed(random.choice([text(), b"\xff\x00", b"\xed\xa0\x80"])),
        7: lambda: packed(json.dumps(value(), separators=(",", ":"), ensure_ascii=chance(0.5))),
    }
    return bytes([kind]) + content.get(kind, lambda: b"")()


def packed_list(items):
    return struct.pack("<I", len(items)) + b"".join(items)


def packed_members():
    keys = random.sample(NAMES, random.choice([0, 1, 3, 20]))
    return packed_list([packed(key) + packed_value() for key in keys])


def packed_row():
    name = random.choice(["OWN_CODE", "NOT_FOUND", "A1"])
    texts = [name, name.replace("_", "-"), name.lower(), name.lower(), "ValueError", name.title()] + [text() for _ in "1234"]
    return b"".join(map(packed, texts)) + struct.pack(
        "<BBBBIIIq", random.randint(0, 4), random.randint(0, 2), random.randint(0, 1), chance(0.3),
        random.choice([400, 404, 500, 599]), random.choice([1, 80, 255]), random.choice([0, 404, 2**32 - 32603]),
        random.choice([-1, 0, 5000]))


def packed_mishap():
    whole_row, placed = chance(0.3), chance(0.7)
    flags = random.randrange(0, 128) & ~3 | whole_row << 1 | placed << 7
    code = packed_row() if whole_row else packed(random.choice(CODES[:9]))
    bytes_ = bytes([flags]) + code
    bytes_ += struct.pack("<Bq", random.randint(0, 4), random.choice([-1, 0, 1500]))
    public = chance(0.5)
    bytes_ += packed(text() if public else "") + packed("" if public else text())
    bytes_ += b"".join(packed(text() if chance(0.4) else "") for _ in "123456")
    if placed:
        bytes_ += packed("src/%s.c" % text()) + packed(text()) + struct.pack("<I", random.randrange(2**32))
    bytes_ += packed_members() + packed_members()
    bytes_ += packed_list([packed(text()) + packed(text()) + b"".join(packed_value() for _ in "1234")
                           for _ in range(random.choice([0, 0, 1, 4]))])
    bytes_ += packed_list([packed(text()) for _ in range(random.choice([0, 0, 1, 25]))])
    addresses = [random.randrange(2**64) for _ in range(random.choice([0, 1, 24]))]
    return bytes_ + struct.pack("<B%dQ" % len(addresses), len(addresses), *addresses)


def carry():
    count = 0 if chance(0.02) else random.choice([1, 1, 1, 1, 2, 5, 32])
    bytes_ = bytearray(bytes([1, count]) + b"".join(packed_mishap() for _ in range(count)))
    if chance(0.1):
        bytes_[random.randrange(len(bytes_))] = random.randrange(256)
    return bytes(bytes_)


# ---- Frames between a loop and a worker (fuzz_frame.c) -------------------------------------------

CALL, OPEN, PROGRESS, LOG, CHANGED, BEGIN, PIECE, DONE, OPENED = range(1, 10)
HANDED, TAKEN, BEGUN, ENDED = 1, 2, 3, 4


def framed(kind, slot, payload):
    size = len(payload) if not chance(0.02) else random.choice([0, 2**28, 2**28 + 1, 2**32 - 1])
    return struct.pack("<IBBH", size, kind, chance(0.01), slot) + payload


def compact(document):
    return json.dumps(document, separators=(",", ":"), ensure_ascii=chance(0.5))


def outcome():
    if chance(0.4):
        return bytes([random.choice([1, 1, 2, 3, 4])]) + carry()
    kind, flags = random.choice([0, 1, 1, 1, 1, 2, 3, 4, 5, 6]), random.randrange(16) if chance(0.95) else 255
    bytes_ = struct.pack("<BBBIQQ", 0, kind, flags, random.choice([0, 200, 201, 204, 199, 599, 600]),
                         random.randrange(5), random.randrange(2**64))
    bytes_ += b"".join(packed(text()) for bit in (2, 4, 8, 8) if flags & bit)
    warnings = ",".join(compact(text()) for _ in range(random.choice([0, 0, 1, 2])))
    answer = random.choice([compact({"a": value()}), compact([value()]), text(), '{"a":\r1}', "[%s]" % ("1," * 40000 + "1")])
    return bytes_ + packed(warnings) + packed(answer)


def report_frame():
    kind, slot = random.choice([PROGRESS, LOG, CHANGED, BEGIN, PIECE, DONE, DONE, DONE]), random.choice([0, 1, 2, 3, 3, 4, 31, 32])
    words = packed(text())
    return framed(kind, slot, {
        PROGRESS: lambda: struct.pack("<dd", 1.5, random.choice([3.0, float("nan")])) + (b"\1" + words if chance(0.7) else b"\0"),
        LOG: lambda: bytes([random.randrange(9)]) + words,
        DONE: outcome,
    }.get(kind, lambda: text().encode("utf-8", "replace"))())


def call_frame():
    flags = random.randrange(128)
    bytes_ = struct.pack("<IIIB", random.randrange(2**32), random.choice([0, 0, 1, 2]), random.choice([0, 500, 2**32 - 1]), flags)
    bytes_ += b"".join(packed(text()) for bit in (8, 16, 16, 32) if flags & bit)
    arguments = random.choice([{}, {"number": 5}, {"text": text()}, {"number": value(), "text": text()}, {"other": value()}])
    return framed(CALL, random.randrange(33), bytes_ + b":" + compact(arguments).encode("utf-8", "replace"))


def frame():
    way = random.randrange(4)
    if way == 0:
        bytes_ = b"".join(call_frame() for _ in range(random.choice([1, 1, 3])))
    elif way == 1:
        changes = [framed(CHANGED, 0, text().encode("utf-8", "replace")) for _ in range(random.choice([0, 0, 2]))]
        bytes_ = b"".join(changes) + framed(OPENED, 0, packed(random.choice(["", "identity", "i" * 80, text()])) + random.choice([carry(), b"\1\0"]))
    else:
        states = bytes(random.choice([HANDED, TAKEN, BEGUN, ENDED, ENDED, ENDED, ENDED, random.randrange(256)]) for _ in "1234")
        bytes_ = states + bytes([random.choice([0, 128, 255, random.randrange(256)])])
        bytes_ += b"".join(report_frame() for _ in range(random.choice([1, 1, 2, 5])))
    bytes_ = bytearray(bytes([way]) + bytes_)
    if chance(0.1):
        bytes_[random.randrange(len(bytes_))] = random.randrange(256)
    return bytes(bytes_)


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


# ---- Answers for people (fuzz_readable.c) --------------------------------------------------------

def readable():
    """The width of a terminal, and a list of objects that have some names in common."""
    names = random.sample(NAMES, min(len(NAMES), 4)) + ["items", "next"]
    listed = [{key: value() for key in names if chance(0.7)} for _ in range(random.randrange(6))]
    answer = {"items": listed, "next": value()} if chance(0.3) else listed
    return bytes([random.randrange(256)]) + json.dumps(answer, ensure_ascii=chance(0.5)).encode("utf-8", "replace")


def main():
    name, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    known = known_documents(name)
    keys = sorted(keys_of(known))
    for number in range(count):
        if name == "condition-report":
            document = report()
        elif name == "carry":
            document = carry()
        elif name == "frame":
            document = frame()
        elif name == "readable":
            document = readable()
        else:
            made_up = canonical() if name == "canonical" and chance(0.7) or not known else None
            document = json.dumps(made_up or changed(random.choice(known), keys), ensure_ascii=chance(0.5))
        with open(os.path.join(folder, str(number)), "wb") as stream:
            stream.write(document if isinstance(document, bytes) else document.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
