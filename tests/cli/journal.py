"""The journal of a program, for tests: its lines as records, and as the text that standard error has for people.

A line that is no JSON, or is of no known kind, breaks the test.
"""
import base64
import json
import uuid


def records(text):
    """All records of a log; an unfinished last line is not there yet."""
    found = []
    for line in (text.decode() if isinstance(text, bytes) else text).split("\n")[:-1]:
        assert len(line.encode()) < 128 << 10, "a line has %d bytes" % len(line.encode())
        record = json.loads(line)
        assert record["v"] == 1 and record["kind"] in ("whole", "compact", "line", "lost"), line[:200]
        found.append(record)
    return found


def ids(record):
    """The ids of a record: of a compact one, all that it stands for."""
    if record["kind"] != "compact":
        return [record["id"]] if "id" in record else []
    raw = base64.b64decode(record["ids"], validate=True)
    assert len(raw) == 16 * record["count"] == 16 * len(record["us"]), record
    return [str(uuid.UUID(bytes=raw[at:at + 16])) for at in range(0, len(raw), 16)]


def value(any_value):
    return json.dumps(any_value, ensure_ascii=False, separators=(",", ":"))


def account(record):
    lines = ["%s: %s" % (record["code"], record["message"])]
    if "private_message" in record:
        lines.append("  in detail: " + record["private_message"])
    if "suggestion" in record:
        lines.append("  suggestion: " + record["suggestion"])
    if "place" in record:
        lines.append("  raised at {file}:{line} in {function}".format(**record["place"]))
    lines += ["  told %s = %s" % (name, value(told)) for name, told in record.get("told", {}).items()]
    lines += ["  noted %s = %s" % (name, value(noted)) for name, noted in record.get("noted", {}).items()]
    lines += ["  frame %d: %s" % (at, frame) for at, frame in enumerate(record.get("backtrace", []))]
    if record.get("stack"):
        lines.append("  native stack:")
        lines += ["    #%d %s" % (at, frame) for at, frame in enumerate(record["stack"])]
    return lines


def entry(record):
    """A record as text: time, id, program and operation, and the account indented below it."""
    head = "%s {} %s%s\n" % (record["time"], record["program"], " " + record["operation"] if "operation" in record else "")
    if record["kind"] == "line":
        return head.format(record.get("id", "-")) + "  " + record["text"].replace("\n", "\n  ") + "\n"
    if record["kind"] == "lost":
        return head.format("-") + "  %d entries were lost\n" % record["count"]
    if record["kind"] == "compact":
        like = "; written in full: " + record["like"] if "like" in record else ""
        return "".join(head.format(one) + "  %s: one of many%s\n" % (record["code"], like) for one in ids(record))
    lines = account(record)
    for cause in record.get("causes", []):
        more = account(cause)
        lines += ["caused by " + more[0], *more[1:]]
    return head.format(record["id"]) + "".join("  " + line.replace("\n", "\n  ") + "\n" for line in lines)


def shown(text):
    """A journal as text; anything else as it is."""
    raw = text if isinstance(text, bytes) else text.encode()
    if not raw.startswith(b'{"v":1,"kind":"'):
        return text
    told = "".join(entry(record) for record in records(raw))
    return told.encode("utf-8", "surrogatepass") if isinstance(text, bytes) else told
