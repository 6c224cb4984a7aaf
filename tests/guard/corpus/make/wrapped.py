"""The leaks of the other parts as servers put them into responses: in JSON, escaped once and twice, and in HTML."""
import glob
import html
import json
import os


def express(text):
    """Express's page: each line end is <br>, and two spaces are a space and &nbsp;."""
    body = html.escape(text, quote=True).replace("\n", "<br>").replace("  ", " &nbsp;")
    return f"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n<pre>{body}</pre>\n</body>\n</html>\n"


def numeric(text):
    """HTML with numbered entities for all that is no letter, digit or space."""
    return "<div class=\"error\">" + "".join(c if c.isalnum() or c in " \n⁂" else f"&#{ord(c)};" for c in text) + "</div>"


def lines_of_page(text):
    """A page with an element for each line."""
    return "<ol>" + "".join(f"<li><code>{html.escape(line)}</code></li>" for line in text.splitlines()) + "</ol>"


def escaped(text):
    """JSON as careful serializers write it: <, >, & and ' as \\u00XX, and \\/."""
    written = json.dumps({"error": {"code": "INTERNAL", "message": text}}, ensure_ascii=False)
    for c in "<>&'":
        written = written.replace(c, f"\\u{ord(c):04x}")
    return written.replace("/", "\\/")


def as_json(value):
    return json.dumps(value, ensure_ascii=False)


WRAPPERS = {
    "json": lambda text: as_json({"error": {"code": 500, "message": text}}),
    "json-twice": lambda text: as_json({"statusCode": 502, "body": as_json({"message": text})}),
    "json-escaped": escaped,
    "problem": lambda text: as_json({"type": "about:blank", "title": "Internal Server Error", "status": 500, "detail": text}),
    "json-rpc": lambda text: as_json({"jsonrpc": "2.0", "id": 4, "error": {"code": -32603, "message": "Internal error", "data": text}}),
    "mcp": lambda text: as_json({"jsonrpc": "2.0", "id": 4, "result": {"content": [{"type": "text", "text": as_json({"error": text})}], "isError": True}}),
    "express": express,
    "html-pre": lambda text: "<html><body><h1>Internal Server Error</h1><pre>" + html.escape(text) + "</pre></body></html>",
    "html-lines": lines_of_page,
    "html-numeric": numeric,
    "json-lines": lambda text: as_json({"level": "error", "time": 1760000000, "stack": text.splitlines()}),
    "log-line": lambda text: "ts=2026-03-02T10:11:12Z level=error msg=" + as_json(text) + " caller=orders",
}
MOST = 2500  # bytes of a text that is wrapped: long ones show nothing new
EVERY = {"trace": 2, "sql": 3, "connection": 3, "credential": 3, "environment": 3, "path": 4, "host": 4, "source": 4}


def make(corpus, _):
    number = 0
    for kind, every in EVERY.items():
        paths = sorted(p for p in glob.glob(os.path.join(corpus.folder, "leaks", kind, "*.txt")) if "-in-" not in os.path.basename(p))
        short = []
        for path in paths:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            if len(text.encode()) <= MOST and text[:1] not in "{<" and "\\u" not in text:
                short.append((os.path.basename(path)[:-4], text))
        for name, text in short[::every]:
            wrapper = list(WRAPPERS)[number % len(WRAPPERS)]
            number += 1
            corpus.put(f"leaks/{kind}/{name}-in-{wrapper}", WRAPPERS[wrapper](text), shorten=False)
