"""The pages from outside: which request gets a page and which gets JSON as before, what a page is sent with, and routes of a program."""
import gzip
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
from server import TREE, Server, all_ended_in_order, equal, expect, run_program, PROGRAM  # noqa: E402
from blackbox import main, parsed, test, tests_of  # noqa: E402

HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'")
PAGES = ["/", "/docs", "/errors", "/errors/NOT_FOUND", "/errors/not-found", "/errors/404", "/console"]

server = Server("--workers", "1")
keyed = os.path.join(server.folder, "keyed")
os.mkdir(keyed)
key = parsed(run_program(PROGRAM, "keys", "add", "--name", "alice", "--data", keyed, "--output", "json").out)["data"]["key"]
guarded = Server("--workers", "1", "--require-key", "--rate", "3", data=keyed)
own = Server("--workers", "1", program=os.environ["OWN_PROGRAM"])
plain = Server("--workers", "1", program=os.environ["MARKED_PROGRAM"])


def get(target, accept=HTML, to=server, method="GET", **fields):
    return to.ask(method, target, fields={"Accept": accept, **fields}, checked=False)


# ---- Pages

@tests_of({path: path for path in PAGES})
def a_browser_gets_a_page(path):
    found = get(path)
    equal((found.status, found["Content-Type"]), (200, "text/html; charset=utf-8"), path)
    equal(found["Content-Security-Policy"], CSP, "CSP")
    equal(found["X-Content-Type-Options"], "nosniff")
    equal(found["Referrer-Policy"], "no-referrer")
    expect("Accept" in found.all("Vary"), "Vary:", found.all("Vary"))
    text = found.body.decode()
    expect(text.startswith("<!doctype html>"), text)
    expect(not re.search(r"<script(?![^>]*src=)|\son\w+=|style=|https?://", text), "what the CSP forbids:", text)
    head = get(path, method="HEAD")
    equal((head.status, head.body, head["Content-Length"]), (200, b"", str(len(found.body))), "HEAD")


@tests_of({"nothing": None, "any": "*/*", "JSON": "application/json", "both": "text/html, application/json", "problem": "application/problem+json",
           "refused": "text/html;q=0", "malformed": "text/html;;;q=x, nonsense"})
def a_program_gets_what_it_got_before(accept):
    fields = {"Accept": accept} if accept else {}
    for path in ["/", "/docs", "/console"]:
        found = server.ask("GET", path, fields=fields)
        equal(found.status, 404, path)
        expect("json" in found["Content-Type"], found["Content-Type"])
    for path, member in [("/errors", "codes"), ("/errors/NOT_FOUND", "code")]:
        found = server.ask("GET", path, fields=fields)
        equal((found.status, found["Content-Type"], found["Vary"]), (200, "application/json", "Accept"), path)
        expect(member in found.json, found.json)


@test
def other_methods_are_what_they_were():
    for method, path, status in [("POST", "/", 404), ("DELETE", "/docs", 404), ("OPTIONS", "/console", 404), ("POST", "/errors", 405)]:
        equal(server.ask(method, path, fields={"Accept": "application/json"}, checked=False).status, status, method + " " + path)
        equal(get(path, method=method).status, status, method + " " + path + " of a browser")


@tests_of({"a key that is none": {"Authorization": "Bearer x"}, "a body that is too large": {"Content-Length": "99999999999"},
           "an unknown expectation": {"Expect": "zzz"}, "another host": {"Host": "evil.example", "Accept-Encoding": "gzip"}})
def a_request_that_is_refused_before_its_page_costs_no_loop(fields):
    before = server.workers()
    for path in PAGES:
        for method in "GET", "HEAD":
            equal(server.ask(method, path, fields={"Accept": HTML, **fields}, checked=False).status // 100, 4, "the class of the status of %s %s" % (method, path))
    equal(server.workers(), before, "the loops")


@test
def an_unknown_code_is_a_page_that_says_404():
    found = get("/errors/NO_SUCH_CODE")
    equal((found.status, found["Content-Type"]), (404, "text/html; charset=utf-8"))
    equal(server.ask("GET", "/errors/NO_SUCH_CODE").json["error"], "not_found")
    equal(get("/errors/NO_SUCH_CODE", to=server, **{"If-None-Match": "*"}).status, 404, "never 304")


@test
def all_links_of_pages_lead_somewhere():
    seen, left = set(), ["/", "/docs", "/errors", "/console"]
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        found = get(path)
        equal(found.status, 200, path)
        if path.endswith((".js", ".html", ".css")) or found["Content-Type"].startswith("text/html"):
            text = found.body.decode()
            left += re.findall(r'(?:href|src)="(/[^"]*)"', text)
            left += ["/_pages/" + name for name in re.findall(r"from '\./([^']+)'", text)]
    expect({"/_pages/console.js", "/_pages/overview.js", "/_pages/uplot.js", "/_pages/style.css"} <= seen, sorted(seen))


# ---- Files

@test
def a_file_is_packed_and_kept():
    whole = get("/_pages/style.css", "text/css,*/*;q=0.1")
    packed = get("/_pages/style.css", "text/css", **{"Accept-Encoding": "gzip, deflate, br"})
    equal((whole["Content-Encoding"], packed["Content-Encoding"]), (None, "gzip"))
    equal(gzip.decompress(packed.body), whole.body, "unpacked")
    expect(len(packed.body) < len(whole.body) / 2, len(packed.body), len(whole.body))
    expect(whole["ETag"] != packed["ETag"], "one tag for two forms")
    equal(whole["Cache-Control"], "no-cache")
    for tag in [packed["ETag"], "W/" + packed["ETag"], '"x", ' + packed["ETag"], "*"]:
        known = server.ask("GET", "/_pages/style.css", fields={"Accept-Encoding": "gzip", "If-None-Match": tag})
        equal((known.status, known.body, known["ETag"]), (304, b"", packed["ETag"]), tag)
    equal(get("/_pages/style.css", "*/*", **{"If-None-Match": packed["ETag"]}).status, 200, "the other form")
    with server.connect() as connection:  # the connection goes on behind a 304
        fields = {"Accept-Encoding": "gzip", "If-None-Match": packed["ETag"]}
        equal([connection.ask("GET", "/_pages/style.css", fields=fields).status for _ in range(3)], [304] * 3)
        expect(connection.is_open(), "the connection ended")


@tests_of({"nothing": "x.js", "another folder": "..%2fstyle.css", "dots": "..", "a NUL": "style.css%00", "a folder": "a/style.css", "empty": ""})
def there_is_no_other_file(name):
    found = get("/_pages/" + name)
    equal(found.status, 404, name)


@test
def every_file_is_served_with_its_type():
    names = sorted(os.listdir(os.path.join(TREE, "console")))
    names.remove("page.html")  # the pages are made from it
    for name in names:
        found = get("/_pages/" + name, "*/*")
        with open(os.path.join(TREE, "console", name), "rb") as file:
            equal(found.body, file.read(), name)
        expect(found["Content-Type"], "no type:", name)
        equal(found["Content-Security-Policy"], CSP, name)


@test
def the_pages_are_made_from_one_and_name_the_modules_that_they_import():
    with open(os.path.join(TREE, "console", "page.html"), encoding="utf-8") as file:
        parts = [part for part in re.split(r"\{\w+\}", file.read()) if len(part) > 3]
    for name in ["index", "docs", "errors", "console"]:
        page = get("/_pages/%s.html" % name, "*/*").body.decode()
        expect(not re.search(r"\{\w+\}", page) and all(part in page for part in parts), name, "is not made from page.html:", page)
        named = set(re.findall(r'"modulepreload" href="/_pages/([\w.]+)"', page))
        imported, left = set(), [name + ".js"]
        while left:
            with open(os.path.join(TREE, "console", left.pop()), encoding="utf-8") as file:
                new = set(re.findall(r"^import .* from '\./([\w.]+)'", file.read(), re.M)) - imported
            imported |= new
            left += [other for other in new if other != "uplot.js"]
        equal(named, imported, "the modules of " + name)
    equal(get("/_pages/page.html", "*/*").status, 404, "the template")


@test
def text_reaches_a_page_through_text_nodes_alone():
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment|srcdoc|\.style\s*=|setAttribute\('style'")
    for name in os.listdir(os.path.join(TREE, "console")):
        with open(os.path.join(TREE, "console", name), encoding="utf-8") as file:
            found = name != "examples.js" and forbidden.search(file.read())
        expect(not found, name, "has", found and found[0])


@test
def the_examples_are_those_of_the_seeds():
    text = get("/_pages/examples.js", "*/*").body.decode()
    rows = re.findall(r"^  \{ (.*) \},$", text, re.M)
    expect(len(rows) > 10, text[:300])
    for row in rows:
        fields = dict(re.findall(r'(title|dialect|golden|document): ("(?:[^"\\]|\\.)*")', row))
        document = json.loads(fields["document"])
        if "golden" in fields:
            with open(os.path.join(TREE, "tests/golden", json.loads(fields["dialect"]), json.loads(fields["golden"]), "expected"), encoding="utf-8") as file:
                equal(document, file.read(), fields["title"])


@test
def a_build_without_uplot_has_an_empty_one():
    equal(get("/_pages/uplot.js", "*/*", to=plain).body, b"export default null;\n")
    equal(get("/_pages/uplot.css", "*/*", to=plain).status, 200)
    equal(get("/console", to=plain).status, 200)


# ---- Routes of a program

@tests_of({"/": "own.home", "/docs": "own.docs", "/errors": "own.errors", "/errors/NOT_FOUND": "own.error", "/console": "own.console"})
def a_route_of_the_program_wins(name):
    path = {"own.home": "/", "own.docs": "/docs", "own.errors": "/errors", "own.error": "/errors/NOT_FOUND", "own.console": "/console"}[name]
    for accept in [HTML, "application/json"]:
        found = get(path, accept, to=own)
        equal((found.status, found["Content-Type"], found.json), (200, "application/json", {"own": name}), path)


@test
def a_program_keeps_its_own_playground_and_its_description():
    equal(own.ask("POST", "/playground", {}).json, {"own": "own.play"})
    document = own.ask("GET", "/openapi.json").json
    equal(document["paths"]["/errors"]["get"]["operationId"], "own_errors")
    equal([verb for verbs in document["paths"].values() for verb in verbs.values() if verb["operationId"] in ("server_code", "server_codes")], [])


# ---- The playground

@test
def the_playground_shows_an_error_in_all_dialects():
    found = server.ask("POST", "/playground", {"document": '{"error":"not_found","message":"No todo"}'}).json
    equal((found["dialect"], found["code"], found["findings"]), ("http-api", "NOT_FOUND", []))
    equal(len(found["dialects"]), 11)
    equal(json.loads(found["dialects"]["problem"]["document"])["status"], 404)
    for body in [b"", b"{", {"document": 1}]:
        equal(server.ask("POST", "/playground", body).status, 400, repr(body))
    equal(server.ask("POST", "/playground", b" " * 16385).status, 413, "too large")
    hostile = {"document": "[" * 15000, "strict": True}
    equal(server.ask("POST", "/playground", hostile).json["dialect"], None, "nested")


@test
def the_playground_needs_a_key_and_counts():
    equal(guarded.ask("POST", "/playground", {"document": "x"}).status, 401)
    equal(get("/docs", to=guarded).status, 200, "pages need no key")
    statuses = []
    while 429 not in statuses and len(statuses) < 2000:  # until the machine is quick enough to ask too often
        statuses.append(guarded.ask("POST", "/playground", {"document": "x"}, fields={"Authorization": "Bearer " + key}).status)
    expect(429 in statuses and 200 in statuses, statuses)


@test
def a_foreign_page_cannot_use_it():
    equal(server.ask("POST", "/playground", {"document": "x"}, fields={"Origin": "http://evil.example"}).status, 403)


@test
def a_code_is_shown_in_all_dialects():
    found = server.ask("GET", "/errors/not_found/dialects").json["dialects"]
    equal(len(found), 11)
    equal(json.loads(found["http-api"]["document"])["error"], "not_found")
    equal(server.ask("GET", "/errors/NO_SUCH_CODE/dialects", checked=False).status, 404)


@test
def explain_names_the_page():
    found = parsed(run_program(PROGRAM, "explain", "already_exists", "--output", "json").out)["data"]
    equal(found["page"], "/errors/ALREADY_EXISTS")
    equal(get(found["page"]).status, 200)
    link = server.ask("GET", "/nowhere", fields={"Accept": "application/problem+json"}).json["type"]
    expect(link.startswith("http://localhost"), link)
    equal(get(re.sub("^http://[^/]+", "", link)).status, 200, link)


@test
def each_page_has_metrics_of_its_own():
    text = server.ask("GET", "/metrics").body.decode()
    series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if line and not line.startswith("#")]
    equal([name for name in set(series) if series.count(name) > 1], [], "series that stand twice")
    expect('route="page.docs"' in text or '"page.docs"' in text, "no series of a page")


@test
def the_servers_end_in_order():
    for one in [server, guarded, own, plain]:
        one.stop()
    all_ended_in_order()


main()
