"""Each check of `mishap audit http`, with a response that passes and one that does not, and with what must not be accused."""
import json
import tempfile

from auditing import Peer, audited, equal, expect, findings, main, outcome, run_audit, says, test, tests_of

JSON = {"Content-Type": "application/json"}
GOOD = {"code": "not_found", "message": "There is no such path."}


def everywhere(status, fields, body):
    """One response to every request, and no schema."""
    text = says(status, fields, body)
    return lambda connection, head, _body: connection.sendall(text.split(b"\r\n\r\n")[0] + b"\r\n\r\n" if head.startswith("HEAD") else text)


def problem(**members):
    return {"Content-Type": "application/problem+json"}, {"type": "https://example.com/e", "title": "Out of luck", "status": 404,
                                                          "detail": "There is none.", **members}


@tests_of({
    "a good error": ("", "", 404, JSON, GOOD),
    "500 for an unknown path": ("http-unknown-path", "failed", 500, JSON, GOOD),
    "500 for a bad percent-encoding": ("http-percent-encoding", "failed", 500, JSON, GOOD),
    "404 for both": ("http-percent-encoding", "passed", 404, JSON, GOOD),
    "503 is no fault of the code": ("http-unknown-path", "undecided", 503, {**JSON, "Retry-After": "5"}, GOOD),
    "no body": ("http-error-body", "failed", 404, JSON, ""),
    "no Content-Type": ("http-content-type", "failed", 404, {}, GOOD),
    "JSON as text": ("http-content-type", "failed", 404, {"Content-Type": "text/plain"}, GOOD),
    "text as text": ("http-content-type", "passed", 404, {"Content-Type": "text/plain; charset=utf-8"}, "There is none."),
    "HTML as text": ("http-content-type", "failed", 404, {"Content-Type": "text/plain"}, "<!doctype html><html><p>no"),
    "text as HTML": ("http-content-type", "failed", 404, {"Content-Type": "text/html"}, "There is none."),
    "JSON as JSON": ("http-content-type", "passed", 404, {"Content-Type": "application/json;charset=UTF-8"}, GOOD),
    "JSON that is none": ("http-json-parses", "failed", 404, JSON, "{'code': 1}"),
    "JSON that is a text": ("http-json-parses", "failed", 404, JSON, '"not found"'),
    "invalid UTF-8 in JSON": ("http-json-parses", "failed", 404, JSON, b'{"code":"a","message":"\xff there"}'),
    "HTML": ("http-no-html", "failed", 404, {"Content-Type": "text/html"}, "<html><h1>Not Found</h1></html>"),
    "no HTML": ("http-no-html", "passed", 404, {"Content-Type": "text/plain"}, "not found"),
    "another status in the body": ("http-body-status", "failed", 404, JSON, {**GOOD, "status": 400}),
    "the same in a text": ("http-body-status", "passed", 404, JSON, {"error": {**GOOD, "status": "404"}}),
    "a word is no status": ("http-body-status", "undecided", 404, JSON, {**GOOD, "status": "error"}),
    "a list may have several": ("http-body-status", "undecided", 404, JSON, {"errors": [{**GOOD, "status": "400"}]}),
    "a sentence alone": ("http-code", "failed", 404, JSON, {"message": "There is none."}),
    "the phrase of the status is no code": ("http-code", "failed", 404, JSON, {"error": "Not Found", "message": "There is none."}),
    "the status is no code": ("http-code", "failed", 404, JSON, {"code": 404, "message": "There is none."}),
    "a number is one": ("http-code", "passed", 404, JSON, {"error": {"code": 10042, "message": "There is none."}}),
    "a name is one": ("http-code", "passed", 404, JSON, {"errors": [{"code": "none", "detail": "There is none."}]}),
    "a type is one": ("http-code", "passed", 404, JSON, {"detail": [{"type": "missing", "msg": "Field required"}]}),
    "extensions": ("http-code", "passed", 404, JSON, {"errors": [{"message": "There is none.", "extensions": {"code": "NONE"}}]}),
    "about:blank may be left out": ("http-code", "undecided", 404, *problem(type="about:blank")),
    "XML may have one": ("http-code", "undecided", 404, {"Content-Type": "application/xml"}, "<Error><Code>None</Code></Error>"),
    "other formats, too": ("http-sentence", "undecided", 404, {"Content-Type": "application/cbor"}, b"\xa1\x61a\x01"),
    "sentences in a list": ("http-sentence", "passed", 404, JSON, {"statusCode": 404, "error": "NOT_FOUND", "message": ["limit should not be empty"]}),
    "words in a list": ("http-sentence", "failed", 404, JSON, {"code": "none", "message": ["none", 3]}),
    "a code alone": ("http-sentence", "failed", 404, JSON, {"code": "none"}),
    "a leak": ("http-leak", "failed", 404, JSON, {**GOOD, "trace": 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\n    g()\n'
                                                  'ValueError: x'}),
    "401": ("http-401-www-authenticate", "failed", 401, JSON, GOOD),
    "401 with the field": ("http-401-www-authenticate", "passed", 401, {**JSON, "WWW-Authenticate": "Bearer"}, GOOD),
    "405": ("http-405-allow", "failed", 405, JSON, GOOD),
    "405 with an empty Allow": ("http-405-allow", "passed", 405, {**JSON, "Allow": ""}, GOOD),
    "429": ("http-retry-after", "failed", 429, JSON, GOOD),
    "503 with a date": ("http-retry-after", "passed", 503, {**JSON, "Retry-After": "Sun, 06 Nov 2094 08:49:37 GMT"}, GOOD),
    "503 with a word": ("http-retry-after", "failed", 503, {**JSON, "Retry-After": "soon"}, GOOD),
    "a redirect to this host": ("http-redirect", "passed", 302, {"Location": "/login"}, ""),
})
def a_response_is_judged(check, expected, status, fields, body):
    with Peer(everywhere(status, fields, body)) as peer:
        done = audited(peer.url)
    if not check:
        equal([row for row in findings(done.results) if row[0] == "failed"], [])
        equal((done.status, done.results["score"]), (0, 100))
        return
    equal(outcome(done.results, check), expected, findings(done.results, check))


# ---- Published formats ---------------------------------------------------------------------------

def jsonapi(**members):
    return {"Content-Type": "application/vnd.api+json"}, {"errors": [{"status": "404", "title": "There is none.", **members}]}


def rpc(error, **members):
    return JSON, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "There is none.", **error}, **members}


def google(info=None, **members):
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "NO_ORDER", "domain": "example.com", **(info or {})}
    return JSON, {"error": {"code": 404, "message": "There is none.", "status": "NOT_FOUND", "details": [info], **members}}


def graphql(media="application/graphql-response+json", top=None, **members):
    error = {"message": "There is none.", "locations": [{"line": 1, "column": 3}], "path": ["order", 0, "total"], **members}
    return {"Content-Type": media}, {"errors": [error], "data": None, **(top or {})}


@tests_of({
    "a problem": ("passed", *problem()),
    "a problem of ASP.NET": ("passed", *problem(title="One or more validation errors occurred.", errors={"password": "The Password field is required."},
                                                traceId="00-84c1fd4063c38d9f3900d06e56542d48-85d1d4-00")),
    "a problem with a code of its own": ("passed", *problem(code="out_of_luck", category="luck", retryable="no", balance=30)),
    "a problem with a code that has another status here": ("passed", *problem(code="CONFLICT")),
    "a problem without a title": ("passed", {"Content-Type": "application/problem+json; charset=utf-8"}, {"type": "https://example.com/no-luck"}),
    "a problem whose title is a number": ("failed", *problem(title=7)),
    "a problem whose status is a text": ("failed", *problem(status="404")),
    "a problem whose type is no reference": ("failed", *problem(type="no such luck")),
    "a problem that is a list": ("failed", {"Content-Type": "application/problem+json"}, [{"title": "There is none."}]),
    "JSON:API": ("passed", *jsonapi(code="no-order", meta={"code": 7}, source={"pointer": "/data/attributes/name"})),
    "JSON:API with a code that has another status here": ("passed", *jsonapi(code="CONFLICT")),
    "JSON:API whose code is a number": ("failed", *jsonapi(code=7)),
    "JSON:API whose status is a number": ("failed", *jsonapi(status=404)),
    "JSON:API with another member": ("failed", *jsonapi(message="There is none.")),
    "JSON:API with data": ("failed", {"Content-Type": "application/vnd.api+json"}, {"errors": [{"title": "There is none."}], "data": None}),
    "JSON-RPC": ("passed", *rpc({"code": -32601, "data": {"code": "no such order", "retryable": 1}})),
    "JSON-RPC whose data is a text": ("passed", *rpc({"data": "no order"})),
    "JSON-RPC whose code is a text": ("failed", *rpc({"code": "none"})),
    "JSON-RPC whose number is reserved": ("failed", *rpc({"code": -32701})),
    "JSON-RPC with a result": ("failed", *rpc({}, result=None)),
    "google.rpc.Status": ("passed", *google()),
    "google.rpc.Status with a delay": ("passed", *google(details=[google()[1]["error"]["details"][0], {
        "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}])),
    "google.rpc.Status with another name": ("failed", *google(status="NO_ORDER")),
    "google.rpc.Status with the number of gRPC": ("failed", *google(code=5)),
    "google.rpc.Status with the name of another status": ("failed", *google(status="PERMISSION_DENIED")),
    "google.rpc.Status without an ErrorInfo": ("failed", *google(details=[])),
    "google.rpc.Status with a reason in small letters": ("failed", *google({"reason": "no order"})),
    "google.rpc.Status without a domain": ("failed", *google({"domain": None})),
    "without details it may be another format": ("undecided", *google(details={})),
    "GraphQL": ("passed", *graphql(extensions={"code": "no-order", "category": "orders", "retryable": "no"})),
    "GraphQL without extensions": ("passed", *graphql()),
    "GraphQL with extensions that have no code": ("passed", *graphql(extensions={"time": 7}, top={"extensions": {"cost": 3}})),
    "GraphQL with an entry of older servers": ("passed", *graphql(code="NO_ORDER")),
    "GraphQL as JSON": ("passed", *graphql("application/json")),
    "GraphQL without a message": ("failed", *graphql(message=None)),
    "GraphQL whose errors are an object": ("failed", graphql()[0], {"errors": {"message": "There is none."}}),
    "GraphQL whose extensions are a text": ("failed", *graphql(extensions="no-order")),
    "GraphQL whose line is 0": ("failed", *graphql("application/json", locations=[{"line": 0, "column": 3}])),
    "GraphQL whose path is a text": ("failed", *graphql(path="order.total")),
    "GraphQL with another member at the top": ("failed", *graphql(top={"status": 404})),
    "a list of errors that is not GraphQL": ("undecided", *graphql("application/json", top={"success": False})),
    "a message alone is not GraphQL": ("undecided", JSON, {"errors": [{"message": "There is none.", "field": "name"}]}),
})
def a_body_keeps_the_rules_of_the_format_that_it_claims(expected, fields, body):
    with Peer(everywhere(404, fields, body)) as peer:
        done = audited(peer.url)
    equal(outcome(done.results, "http-dialect"), expected, findings(done.results, "http-dialect"))


# ---- Several responses ---------------------------------------------------------------------------

def routed(table, schema=None):
    """Responses by method and target; others are a good 404."""
    def part(connection, head, body):
        method, target = head.split()[:2]
        if target == "/openapi.json" and schema:
            connection.sendall(says(200, JSON, schema))
            return
        answer = table.get((method, target)) or table.get(target) or (404, JSON, GOOD)
        status, fields, content = answer(body) if callable(answer) else answer
        text = says(status, fields, content)
        connection.sendall(text.split(b"\r\n\r\n")[0] + b"\r\n\r\n" if method == "HEAD" else text)
    return part


def schema(body=None, parameters=(), method="post", responses=None, path="/things"):
    operation = {"parameters": list(parameters), "responses": responses or {"200": {"description": "ok"}, "422": {"description": "refused"}}}
    if body:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return {"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {path: {method: operation}}}


TWO = {"type": "object", "required": ["alpha", "beta"], "properties": {"alpha": {"type": "string"}, "beta": {"type": "integer", "maximum": 5}}}
SPELLED = {"type": "object", "required": ["itemName", "its_own_id"], "properties": {"itemName": {"type": "string"}, "its_own_id": {"type": "integer"}}}
REFUSED = {"code": "refused", "message": "It is refused."}


def names(*missing):
    return 422, JSON, {**REFUSED, "fields": list(missing)}


QUERY = [{"name": "q", "in": "query", "required": True, "schema": {"type": "string"}},
         {"name": "n", "in": "query", "schema": {"type": "integer", "minimum": 1}}]


@tests_of({
    "two shapes": ("http-one-shape", "failed", {"/%zz": (400, JSON, {"error": {"code": "bad", "message": "It is bad."}})}, None),
    "an optional member": ("http-one-shape", "passed", {"/%zz": (400, JSON, {**GOOD, "help": "https://example.com"})}, None),
    "a member of two types": ("http-one-shape", "failed", {"/": (404, JSON, {**GOOD, "more": []}), "/%zz": (400, JSON, {**GOOD, "more": {}})}, None),
    "HEAD that is 405": ("http-head", "failed", {("GET", "/"): (200, JSON, {}), ("HEAD", "/"): (405, {**JSON, "Allow": "GET"}, "")}, None),
    "HEAD of another type": ("http-head", "failed", {("GET", "/"): (200, JSON, {}), ("HEAD", "/"): (200, {"Content-Type": "text/html"}, "")}, None),
    "HEAD as GET": ("http-head", "passed", {"/": (200, JSON, {})}, None),
    "malformed JSON is 500": ("http-malformed-json", "failed", {("POST", "/"): (500, JSON, GOOD)}, None),
    "an empty body is 500": ("http-empty-body", "failed", {("POST", "/"): lambda body: (400 if body else 500, JSON, GOOD)}, None),
    "malformed JSON is 409": ("http-400-or-422", "advice", {("POST", "/"): (409, JSON, GOOD)}, None),
    "invalid UTF-8 is accepted": ("http-invalid-utf8-accepted", "advice", {("POST", "/"): (201, JSON, {})}, None),
    "3 MB are accepted": ("http-oversize-accepted", "advice", {("POST", "/"): (201, JSON, {})}, None),
    "3 MB are refused": ("http-oversize-accepted", "passed", {("POST", "/"): lambda body: (413 if len(body) > 9999 else 400, JSON, GOOD)}, None),
    "another method without a schema": ("http-wrong-method-404", "advice", {("GET", "/"): (200, JSON, {})}, None),
    "missing fields are accepted": ("http-required-refused", "failed", {"/things": (200, JSON, {})}, schema(TWO)),
    "… are refused": ("http-required-refused", "passed", {"/things": names("alpha")}, schema(TWO)),
    "one of two is named": ("http-required-named", "failed", {"/things": names("alpha", "alphabeta")}, schema(TWO)),
    "in other letters": ("http-required-named", "passed", {"/things": names("Item name is required", "its-own id is required")}, schema(SPELLED)),
    "in one word": ("http-required-named", "passed", {"/things": names("ItemName", "itsownid")}, schema(SPELLED)),
    "a longer name": ("http-required-named", "failed", {"/things": names("Item names", "its_own_id")}, schema(SPELLED)),
    "a name that ends so": ("http-required-named", "failed", {"/things": names("item_name", "bits own id")}, schema(SPELLED)),
    "both are": ("http-required-named", "passed", {"/things": names("alpha", "beta")}, schema(TWO)),
    "a refusal for another reason": ("http-required-named", "undecided", {"/things": (403, JSON, GOOD)}, schema(TWO)),
    "what is read-only is not missing": ("http-required-refused", "undecided", {"/things": (200, JSON, {})}, schema(
        {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer", "readOnly": True}}})),
    "a schema that is not read": ("http-wrong-type-accepted", "undecided", {"/things": (200, JSON, {})}, schema(
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^x$"}}, "oneOf": []})),
    "a wrong type is accepted": ("http-wrong-type-accepted", "advice", {"/things": (200, JSON, {})}, schema(TWO)),
    "a limit is ignored": ("http-limit-accepted", "advice", {"/things": (200, JSON, {})}, schema(TWO)),
    "a wrong type is 500": ("http-schema-5xx", "failed", {"/things": lambda body: (500 if b"mishap" in body else 422, JSON, GOOD)}, schema(TWO)),
    "404 on a known path": ("http-wrong-method", "failed", {("POST", "/things"): names("alpha")}, schema(TWO)),
    "405 on a known path": ("http-wrong-method", "passed", {("GET", "/things"): (405, {**JSON, "Allow": "POST"}, GOOD)}, schema(TWO)),
    "404 where a parameter may not exist": ("http-wrong-method", "undecided", {}, schema(TWO, path="/things/{id}", parameters=[
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}])),
    "a status that is not documented": ("http-status-documented", "failed", {"/things": (418, JSON, GOOD)}, schema(TWO)),
    "… but one of the server": ("http-status-documented", "undecided", {"/things": (413, JSON, GOOD)}, schema(TWO)),
    "4XX": ("http-status-documented", "passed", {"/things": (418, JSON, GOOD)}, schema(TWO, responses={"4XX": {"description": "x"}})),
    "a query is missing": ("http-required-refused", "failed", {("GET", "/things"): (200, JSON, {})}, schema(None, QUERY, "get")),
    "a query out of limits": ("http-limit-accepted", "advice", {("GET", "/things?q=mishap&n=0"): (200, JSON, {})}, schema(None, QUERY, "get")),
    "a query of a wrong type": ("http-wrong-type-accepted", "advice", {("GET", "/things?q=mishap&n=mishap"): (200, JSON, {})}, schema(None, QUERY, "get")),
})
def responses_are_judged(check, expected, table, document):
    with Peer(routed(table, document)) as peer:
        done = audited(peer.url, "--allow-writes")
    equal(outcome(done.results, check), expected, findings(done.results))


@test
def a_token_of_the_server_is_in_no_finding():
    token = "ghp_" + "a1B2" * 9
    with Peer(everywhere(500, {"Content-Type": "text/plain"}, "x" * 1970 + " no access with " + token)) as peer:
        done = audited(peer.url)
    expect(token[:12] not in done.err and findings(done.results), done.err[-2000:])


@test
def what_was_sent_is_no_leak():
    """An echo of the request, also of its body and of the host."""
    def part(connection, head, body):
        echo = {"code": "bad", "message": "Cannot use it.", "request": head.split("\r\n")[0], "host": head.split("Host: ")[1].split("\r\n")[0],
                "body": body[:200].decode("utf-8", "replace")}
        connection.sendall(says(400, JSON, echo))
    with Peer(part) as peer:
        done = audited(peer.url, "--allow-writes")
    equal(findings(done.results, "http-leak"), [])


@test
def an_operation_with_rules_that_are_not_read_gets_the_other_probes():
    number = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[a-f]+$"}}
    with Peer(routed({("POST", "/things/mishap"): (500, JSON, GOOD)}, schema(TWO, [number], path="/things/{id}"))) as peer:
        done = audited(peer.url, "--allow-writes")
    equal([outcome(done.results, name) for name in ("http-malformed-json", "http-empty-body", "http-required-refused")],
          ["failed", "failed", "undecided"])


READ = {"GET", "HEAD", "OPTIONS"}


@tests_of({
    "no schema": ({}, None),
    "a schema that is written to": ({"/": (200, JSON, {})}, {**schema(TWO), "paths": {"/things": {
        method: schema(TWO)["paths"]["/things"]["post"] for method in ("get", "post", "put", "patch", "delete")}}}),
    "a path that is only read": ({"/": (200, JSON, {}), "/things": (200, JSON, {})}, schema(None, QUERY, "get")),
})
def nothing_is_written_without_leave(table, document):
    """A bad request may succeed. With the flag the same server gets methods that write, and what succeeded is listed."""
    table = {**table, ("POST", "/"): (201, JSON, {}), ("PATCH", "/things"): (200, JSON, {})}
    with Peer(routed(table, document)) as peer:
        done = audited(peer.url)
        equal({head.split()[0] for head, _ in peer.requests} - READ, set())
        equal(done.results["created"], [])
        peer.requests.clear()
        done = audited(peer.url, "--allow-writes")
        written = [tuple(head.split()[:2]) for head, _ in peer.requests if head.split()[0] not in READ]
    expect(written, "nothing was written")
    succeeded = [" ".join(one) for one in written if one in table or one[1] in table]
    equal(sorted(row["place"] for row in done.results["created"]), sorted(succeeded))


@test
def nothing_is_deleted():
    """A DELETE is sent only with a path that the schema refuses, or that no resource can have."""
    number = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    flag = {"name": "n", "in": "query", "schema": {"type": "integer", "maximum": 5}}
    for parameters, expected in (([number, flag], {"/things/mishap/parts", "/things/%zz/parts"}),
                                 ([{**number, "schema": {"type": "string"}}, flag], {"/things/%zz/parts"})):
        with Peer(routed({}, schema(None, parameters, "delete", path="/things/{id}/parts"))) as peer:
            audited(peer.url, "--allow-writes")
            equal({head.split()[1] for head, _ in peer.requests if head.startswith("DELETE")}, expected)


@test
def paths_are_below_the_url_or_the_server_of_the_document():
    document = json.dumps({**schema(TWO), "servers": [{"url": "https://example.com/v7/"}]})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file, Peer(routed({})) as peer:
        file.write(document)
        file.flush()
        for base, expected in (("", "/v7/things"), ("/api/", "/api/things")):
            peer.requests.clear()
            audited(peer.url + base, "--openapi", file.name, "--allow-writes")
            targets = {head.split()[1] for head, _ in peer.requests}
            expect(expected in targets, targets)


@test
def header_fields_are_sent_and_stand_in_no_report():
    with Peer(routed({})) as peer:
        done = run_audit(peer.url, "--rate", "10000", env={"MISHAP_AUDIT_HEADER": '["Authorization: Bearer s3cret-value"]'})
        expect(peer.requests and all("Authorization: Bearer s3cret-value" in head for head, _ in peer.requests), peer.requests[:1])
    expect(done.results and "s3cret" not in json.dumps(done.results) + done.err, done.err[:300])


@test
def a_header_field_that_is_repeated_in_small_letters_stands_in_no_report():
    trace = 'Traceback (most recent call last):\n  File "/srv/s3cret-value.py", line 3, in f\n    g()\nValueError: x'
    with Peer(routed({"/": (404, JSON, {**GOOD, "trace": trace})})) as peer:
        done = run_audit(peer.url, "--rate", "10000", env={"MISHAP_AUDIT_HEADER": '["Authorization: Bearer S3CRET-Value"]'})
    report = json.dumps(done.results)
    expect("line 3" in report and "s3cret" not in report.lower() + done.err.lower(), report[:600])


@test
def the_requests_have_a_limit():
    with Peer(routed({}, schema(TWO))) as peer:
        done = audited(peer.url, "--max-requests", "3")
        equal((len(peer.requests), done.results["requests"], done.results["complete"]), (3, 3, False))


main()
