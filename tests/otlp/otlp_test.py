"""What a collector gets: incidents as logs and spans, metrics; retries, a collector that is gone, a process that is killed, secrets.

    MISHAP_PROGRAM=… OBSERVED_PROGRAM=… python3 tests/otlp/otlp_test.py [PART-OF-A-NAME]

Speaks TAP. The server is tests/otlp/observed.c.
"""
import contextlib
import glob
import http.client
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, run_program, test, tests_of  # noqa: E402
from collector import SCHEMAS, Collector, attributes  # noqa: E402
from server import PATIENCE, free_port, wait_until  # noqa: E402

OBSERVED = os.path.abspath(os.environ["OBSERVED_PROGRAM"])
SECRETS = ["s3cret-noted", "s3cret-cause", "s3cret-argument", "s3cret-header", "s3cret-query"]
KEY = "s3cret-of-the-collector"
COLLECTOR_HEADERS = "Authorization=Bearer%20" + KEY
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))
for name in [name for name in os.environ if name.startswith("OTEL_")]:
    del os.environ[name]


def has_libcurl():
    return any(glob.glob(folder) for folder in ["/usr/lib/*/libcurl.so.4", "/usr/lib/*/libcurl-gnutls.so.4", "/usr/lib*/libcurl.so.4"])


class Observed:
    """The server. `otlp` is the collector's URL."""

    def __init__(self, *flags, otlp=None, folder=None, env=None):
        server.Server.count += 1
        self.folder = folder or os.path.join(server.FOLDER, "observed-%d" % server.Server.count)
        os.makedirs(self.folder, exist_ok=True)
        self.log = os.path.join(self.folder, "log")
        self.error = os.path.join(self.folder, "stderr-%d" % server.Server.count)
        self.address = ("127.0.0.1", free_port())
        flags = [*flags, *(["--otlp", otlp] if otlp else [])]
        with open(self.error, "wb") as error:
            self.process = subprocess.Popen(
                [OBSERVED, "serve", "--data", self.folder, "--listen", "%s:%d" % self.address, "--workers", "2", *flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error,
                env=dict(os.environ, **{"OBSERVED_LOG": self.log, "OTEL_METRIC_EXPORT_INTERVAL": "1000", **(env or {})}))
        wait_until(self.answers, lambda: "the server does not answer: " + self.said())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def said(self):
        with open(self.error, encoding="utf-8") as file:
            return file.read()

    def answers(self):
        expect(self.process.poll() is None, "the server has ended: " + self.said())
        with contextlib.suppress(OSError):
            return self.ask("GET", "/health")[0] == 200

    def ask(self, method, path, body=None, **fields):
        """Status, fields, body."""
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        try:
            fields = {name.replace("_", "-"): value for name, value in fields.items()}
            if body is not None:
                fields.setdefault("Content-Type", "application/json")
            connection.request(method, path, json.dumps(body) if body is not None else None, fields)
            answer = connection.getresponse()
            return answer.status, answer, answer.read()
        finally:
            connection.close()

    def fail(self, method, path, status, body=None, **fields):
        """A call that fails; returns the id that the caller was told."""
        found, answer, text = self.ask(method, path, body, **fields)
        equal(found, status, text)
        return answer.headers["X-Request-Id"]

    def missing(self, name="nothing", **fields):
        return self.fail("GET", "/things/" + name, 404, **fields)

    def fault(self, **fields):
        return self.fail("POST", "/fault?name=a", 500, {"password": "s3cret-argument"}, **fields)

    def mcp(self, tool, arguments):
        """A call of a tool, over /mcp; returns its result."""
        accept = {"Accept": "application/json, text/event-stream"}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                 "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        _, answer, _ = self.ask("POST", "/mcp", hello, **accept)
        session = {**accept, "Mcp_Session_Id": answer.headers["Mcp-Session-Id"], "MCP_Protocol_Version": "2025-06-18"}
        self.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        status, _, text = self.ask("POST", "/mcp", call, **session)
        equal(status, 200, text)
        return json.loads(text)

    def health(self):
        return json.loads(self.ask("GET", "/health")[2])

    def otlp_health(self):
        return self.health().get("readers", {}).get("otlp", {})

    def children(self, name="mishap-otlp"):
        return [one for one, parent in server.processes() if parent == self.process.pid and server.name_of(one) == name]

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        if self.process.returncode:
            raise AssertionError("exit %d: %s" % (self.process.returncode, self.said()))


@contextlib.contextmanager
def observed(*flags, script=None, env=None, **more):
    """A server and its collector, whose bodies are all as they should be."""
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    with Collector(**(script or {})) as collector:
        with Observed(*flags, otlp=collector.url, env={"OTEL_EXPORTER_OTLP_HEADERS": COLLECTOR_HEADERS, **(env or {})}, **more) as program:
            yield program, collector
        equal(collector.wrong, [], "bodies that are not OTLP")


def wait_for_ids(collector, wanted):
    wanted = set(wanted)
    wait_until(lambda: wanted <= set(collector.ids()), lambda: "not sent: %r" % (wanted - set(collector.ids())))


def log_of(collector, incident):
    record, = [one for one in collector.logs() if attributes(one).get("mishap.incident.id") == incident]
    return record


# ---- What is sent --------------------------------------------------------------------------------

@test
def bodies_are_held_against_the_published_schema():
    if not SCHEMAS:
        raise Skipped("python3-protobuf or the schema of OTLP is not installed")


@test
def failures_over_http_are_log_records():
    trace = "0af7651916cd43dd8448eb211c80319c"
    with observed() as (program, collector):
        fault = program.fault(traceparent="00-%s-b7ad6b7169203331-01" % trace, User_Agent="curl/9")
        missing = program.missing()
        wait_for_ids(collector, [fault, missing])
        record = log_of(collector, fault)
        has = attributes(record)
        equal((record["severityNumber"], record["severityText"]), (17, "ERROR"))
        equal(record["body"], {"stringValue": "An internal error occurred."})
        equal(record.get("traceId"), trace, "the trace")
        expect(abs(int(record["timeUnixNano"]) / 1e9 - time.time()) < 3600, record["timeUnixNano"])
        for key, value in {"error.type": "INTERNAL_ERROR", "exception.type": "INTERNAL_ERROR", "mishap.operation": "things.fault",
                           "mishap.boundary": "http", "mishap.category": "system", "http.request.method": "POST", "http.route": "/fault",
                           "http.response.status_code": 500, "user_agent.original": "curl/9"}.items():
            equal(has.get(key), value, key)
        expect("marker-private-disk" in has["exception.message"], has["exception.message"])
        expect("marker-private-sda1" in has["mishap.noted"], has)
        expect("fault" in has["exception.stacktrace"], has["exception.stacktrace"])
        equal(has["code.function.name"], "fault")
        found, = [one for one in collector.logs() if missing in str(one)]
        equal((found["severityNumber"], attributes(found)["error.type"], attributes(found)["http.response.status_code"]), (13, "NOT_FOUND", 404))
        resource = attributes(collector.of("logs")[0]["resourceLogs"][0]["resource"])
        equal((resource["service.name"], resource["service.version"], resource["telemetry.sdk.name"]), ("observed", "1.2", "mishap"))


@test
def failures_over_mcp_are_log_records():
    with observed("--otlp-spans") as (program, collector):
        result = program.mcp("things_show", {"name": "nothing"})["result"]
        equal(result["isError"], True)
        records = wait_until(lambda: [one for one in collector.logs() if attributes(one).get("mishap.boundary") == "mcp"], "no log record")
        has = attributes(records[0])
        equal((has["error.type"], has["gen_ai.tool.name"], has["mcp.method.name"]), ("NOT_FOUND", "things_show", "tools/call"))


@test
def failures_become_spans():
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with observed("--otlp-spans") as (program, collector):
        program.fault(traceparent="00-%s-%s-01" % (trace, parent))
        program.fault(traceparent="garbage")
        spans = wait_until(lambda: len(collector.spans()) >= 2 and collector.spans(), "no spans")
        span, = [one for one in spans if one["traceId"] == trace]
        other, = [one for one in spans if one["traceId"] != trace]
        equal((span["parentSpanId"], span["name"], span["kind"], span["status"]["code"]), (parent, "POST /fault", 2, 2))
        expect(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span)
        equal(span["events"][0]["name"], "exception")
        expect("parentSpanId" not in other and other["spanId"] != span["spanId"], other)
        equal(attributes(span)["error.type"], "INTERNAL_ERROR")


@test
def each_of_many_failures_has_a_span():
    with observed("--otlp-spans") as (program, collector):
        ids = {program.missing("thing-%d" % i) for i in range(60)}
        wait_until(lambda: ids <= {attributes(one)["mishap.incident.id"] for one in collector.spans()}, "not all have a span")
        whole, compact = [], []
        for one in collector.spans():
            (whole if one.get("events") else compact).append(one)
            equal((one["name"], attributes(one)["error.type"]), ("GET /things/:name", "NOT_FOUND"))
            expect(0 <= int(one["endTimeUnixNano"]) - int(one["startTimeUnixNano"]) < 60e9, one)
            expect(abs(int(one["endTimeUnixNano"]) / 1e9 - time.time()) < 600, one)
        expect(whole and compact, "%d whole, %d compact" % (len(whole), len(compact)))
        known = {attributes(one)["mishap.incident.id"] for one in whole}
        for one in compact:
            has = attributes(one)
            equal((one["traceId"], one["spanId"]), (has["mishap.incident.id"].replace("-", ""), one["traceId"][16:]))
            expect(has["mishap.incident.like"] in known, has)


@test
def without_the_flag_there_are_no_spans():
    with observed() as (program, collector):
        wait_for_ids(collector, [program.fault()])
        equal(collector.count("traces"), 0)


@test
def the_variables_name_collector_service_and_resource():
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    with Collector() as collector:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url + "/", "OTEL_EXPORTER_OTLP_HEADERS": COLLECTOR_HEADERS,
                     "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "x-own=1", "OTEL_SERVICE_NAME": "front",
                     "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=a%20test"}
        with Observed(env=variables) as program:
            wait_for_ids(collector, [program.fault()])
            wait_until(lambda: collector.of("metrics"), "no metrics")
            resource = attributes(collector.of("logs")[0]["resourceLogs"][0]["resource"])
            equal((resource["service.name"], resource["deployment.environment.name"]), ("front", "a test"))
            with collector.lock:
                fields = {path: sent for path, sent, _, _ in collector.requests}
            equal(fields["/v1/logs"]["Authorization"], "Bearer " + KEY)
            equal((fields["/v1/metrics"].get("Authorization"), fields["/v1/metrics"]["x-own"]), (None, "1"))
            expect(fields["/v1/logs"]["User-Agent"].startswith("mishap/"), fields)
        equal(collector.wrong, [])


@test
def many_failures_of_one_kind_all_arrive():
    with observed() as (program, collector):
        ids = [program.missing("thing-%d" % i) for i in range(400)]
        wait_for_ids(collector, ids)


# ---- Metrics -------------------------------------------------------------------------------------

def points_of(collector, name):
    metric = collector.metrics().get(name)
    return [(attributes(point), point) for point in metric["histogram"]["dataPoints"]] if metric else []


@test
def requests_are_a_histogram_by_route_and_status():
    with observed() as (program, collector):
        for _ in range(3):
            program.ask("GET", "/fine")
        program.missing()
        program.fault()

        def found():
            return {(has.get("http.route"), has.get("http.response.status_code")): (has, point)
                    for has, point in points_of(collector, "http.server.request.duration")}
        wait_until(lambda: {("/fine", 200), ("/things/:name", 404), ("/fault", 500)} <= set(found()), lambda: "not counted: %r" % found())
        has, point = found()["/fine", 200]
        equal((has["http.request.method"], has["url.scheme"], has.get("error.type")), ("GET", "http", None))
        equal((int(point["count"]), sum(map(int, point["bucketCounts"]))), (3, 3))
        equal(len(point["bucketCounts"]), len(point["explicitBounds"]) + 1)
        expect(point["explicitBounds"] == sorted(point["explicitBounds"]) and 0 < point["sum"] < 600, point)
        expect(int(point["startTimeUnixNano"]) < int(point["timeUnixNano"]), point)
        equal(found()["/fault", 500][0]["error.type"], "500")
        metric = collector.metrics()["http.server.request.duration"]
        equal((metric["unit"], metric["histogram"]["aggregationTemporality"]), ("s", 2))


@test
def calls_of_mcp_are_a_histogram_by_tool_and_outcome():
    with observed() as (program, collector):
        for _ in range(2):
            program.mcp("things_fine", {})
        equal(program.mcp("things_show", {"name": "nothing"})["result"]["isError"], True)

        def found():
            return {(has["gen_ai.tool.name"], has.get("error.type")): (has, int(point["count"]))
                    for has, point in points_of(collector, "mcp.server.operation.duration")}
        wait_until(lambda: {("things_fine", None), ("things_show", "tool_error")} <= set(found()), lambda: "not counted: %r" % found())
        equal(found()["things_fine", None], ({"mcp.method.name": "tools/call", "gen_ai.tool.name": "things_fine"}, 2))
        equal(found()["things_show", "tool_error"][1], 1)


# ---- Collectors that fail ------------------------------------------------------------------------

@tests_of({str(status): (status,) for status in (429, 502, 503, 504)})
def it_is_sent_again_after(status):
    with observed(script={"logs": [status, status]}) as (program, collector):
        incident = program.fault()
        wait_for_ids(collector, [incident])
        expect(len(collector.of("logs", status)) == 2, collector.count("logs"))
        equal(collector.ids().count(incident), 1)
        wait_until(lambda: program.otlp_health().get("state") == "follows", program.otlp_health)
        equal(program.otlp_health()["retries"], 2, "retries in /health")
        expect(b"\nmishap_incident_otlp_retries_total 2\n" in program.ask("GET", "/metrics")[2], "retries in /metrics")


@tests_of({str(status): (status,) for status in (400, 401, 404, 500, 302)})
def it_is_dropped_and_counted_after(status):
    with observed(script={"logs": [status]}) as (program, collector):
        first = program.fault()
        wait_until(lambda: collector.of("logs", status), "nothing was sent")
        second = program.fault()
        wait_for_ids(collector, [second])
        expect(first not in collector.ids(), "it was sent again")
        expect(program.otlp_health()["dropped"] >= 1, program.otlp_health())


@test
def a_request_that_is_too_large_is_halved():
    count_of = lambda body: len(body["resourceLogs"][0]["scopeLogs"][0]["logRecords"])
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    folder = os.path.join(server.FOLDER, "halved")
    with Observed(folder=folder) as program:
        ids = [program.fault() for _ in range(8)]
    # All of them are in the log before one is sent, so the first request has all.
    with observed(script={"logs": [413, 413]}, folder=folder) as (program, collector):
        wait_for_ids(collector, ids)
        sizes = [count_of(body) for body in collector.of("logs", 413)]
        expect(len(sizes) == 2 and sizes[1] < sizes[0] == 8, sizes)


@test
def what_a_collector_rejects_of_a_request_is_counted():
    partial = json.dumps({"partialSuccess": {"rejectedLogRecords": "5", "errorMessage": "no"}}).encode()
    with observed(script={"logs": [(200, {"Content-Type": "application/json"}, partial)]}) as (program, collector):
        wait_for_ids(collector, [program.fault()])
        wait_until(lambda: program.otlp_health().get("dropped") == 5, program.otlp_health)


@test
def retry_after_is_honoured():
    with observed(script={"logs": [(503, {"Retry-After": "4"}, b"")]}) as (program, collector):
        incident = program.fault()
        wait_until(lambda: collector.of("logs", 503), "nothing was sent")
        begun = time.monotonic()
        wait_for_ids(collector, [incident])
        expect(time.monotonic() - begun > 3, "it came after", time.monotonic() - begun)


@test
def a_collector_that_is_gone_or_slow_holds_up_no_request():
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    port = free_port()
    with Observed(otlp="http://127.0.0.1:%d" % port) as program:
        ids = [program.fault() for _ in range(5)]
        wait_until(lambda: program.otlp_health().get("state") == "retries", program.otlp_health)
        expect(program.otlp_health()["lag_bytes"] > 0, program.otlp_health())
        equal(program.health()["status"], "ok")
        wait_until(lambda: "telemetry cannot be sent" in program.said(), program.said)
        with Collector(port) as collector:
            wait_for_ids(collector, ids)
            wait_until(lambda: program.otlp_health().get("state") == "follows", program.otlp_health)
            wait_until(lambda: program.otlp_health()["lag_bytes"] == 0, program.otlp_health)
            collector.hold.clear()  # it takes requests, and answers none
            begun = time.monotonic()
            more = [program.fault() for _ in range(5)]
            expect(time.monotonic() - begun < PATIENCE / 3, "requests wait for the collector")
            collector.hold.set()
            wait_for_ids(collector, more)


@test
def a_killed_process_loses_nothing():
    with observed() as (program, collector):
        ids = []
        for turn in range(4):
            collector.hold.clear()
            ids += [program.fault(), program.missing()]
            before = collector.count("logs")
            wait_until(lambda: collector.count("logs") > before, "nothing was sent")
            pid, = wait_until(program.children, "there is no process")
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # while its request is not answered
            collector.hold.set()
            wait_until(lambda: pid not in program.children() and program.children(), "it does not come back")
            ids.append(program.fault())
        wait_for_ids(collector, ids)
        wait_until(lambda: "another takes its place" in program.said(), program.said)


@test
def a_server_that_is_started_again_goes_on_where_it_was():
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    port, folder = free_port(), os.path.join(server.FOLDER, "again")
    with Observed(otlp="http://127.0.0.1:%d" % port, folder=folder) as program:
        first = program.fault()
    with Collector(port) as collector:
        with Observed(otlp=collector.url, folder=folder) as program:
            second = program.fault()
            wait_for_ids(collector, [first, second])
            wait_until(lambda: program.otlp_health().get("lag_bytes") == 0, program.otlp_health)  # it knows that they have arrived
        sent = len(collector.logs())
        with Observed(otlp=collector.url, folder=folder) as program:
            third = program.fault()
            wait_for_ids(collector, [third])
        again = [one for one in collector.ids() if one in (first, second)]
        equal(sorted(again), sorted([first, second]), "each was sent once")
        expect(len(collector.logs()) > sent, "nothing more")


@test
def torn_lines_are_skipped_and_counted():
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    folder = os.path.join(server.FOLDER, "torn")
    os.makedirs(folder)
    with open(os.path.join(folder, "log"), "wb") as log:
        log.write(b'{"v":1,"kind":"whole","id":"018f2d2e\n\xff\xfe{}\n{"v":1}\nnot a line\n')
    with Collector() as collector, Observed(otlp=collector.url, folder=folder) as program:
        wait_for_ids(collector, [program.fault()])
        wait_until(lambda: program.otlp_health().get("lost", 0) >= 2, program.otlp_health)
    equal(collector.wrong, [])


# ---- Secrets -------------------------------------------------------------------------------------

@test
def no_secret_is_sent_and_no_key_of_the_collector_is_shown():
    with observed("--otlp-spans", "--verbose", script={"logs": [503, 401]}) as (program, collector):
        incident = program.fault(Cookie="a=s3cret-header", Proxy_Authorization="Basic s3cret-header", X_Secret="s3cret-header")
        program.fail("GET", "/things/x", 401, Authorization="Bearer s3cret-header")
        program.ask("GET", "/things/x?password=s3cret-query")
        wait_until(lambda: collector.of("logs", 401), "nothing was refused")
        wait_for_ids(collector, [program.fault(), program.missing()])
        expect(incident, "an id")
        wait_until(lambda: len(collector.spans()) >= 2, "no spans")
        with collector.lock:
            sent = json.dumps([body for _, _, body, _ in collector.requests])
        for secret in SECRETS:
            expect(secret not in sent, secret, "was sent")
        expect("marker-private-disk" in sent, "the private side was not sent")
        shown = [program.said(), json.dumps(program.health())]
        for path in "/metrics", "/ready", "/openapi.json", "/fine":
            shown.append(program.ask("GET", path)[2].decode())
        with open(program.log, encoding="utf-8", errors="replace") as log:
            shown.append(log.read())
        for pid, _ in server.processes():
            if pid == program.process.pid or pid in program.children() or pid in program.children("mishap-log"):
                for name in "environ", "cmdline":
                    with contextlib.suppress(OSError):
                        with open("/proc/%d/%s" % (pid, name), "rb") as file:
                            shown.append(file.read().decode("latin-1"))
        for text in shown:
            expect(KEY not in text, "the key of the collector is in", text)
    expect(KEY not in json.dumps([body for _, _, body, _ in collector.requests]), "it is in a body")


# ---- All sinks in one run ------------------------------------------------------------------------

PLANTED = {"account": {"name": "Ada", "pin": "s3cret-pin-4711"}, "cards": [{"number": "s3cret-card-0815"}]}
NOT_FOR_CALLERS = "marker-private"
PAGES = ["/", "/docs", "/errors", "/errors/NOT_FOUND", "/console", "/health", "/ready", "/metrics", "/openapi.json", "/fine"]


def everything_that_callers_can_ask(program):
    """All bytes that callers get; the ids of what failed. Secrets are in arguments, header fields and queries, of calls that are run and that are refused."""
    seen, ids = [], set()

    def take(answer):
        status, head, text = answer
        seen.append(("%s %s" % (status, head.headers)).encode() + text)
        ids.add(head.headers["X-Request-Id"])
        return text

    secret_fields = {"Cookie": "a=s3cret-cookie", "Proxy_Authorization": "Basic s3cret-proxy", "X_Api_Key": "s3cret-x-api-key"}
    for more in {"own": True}, {"own": False}, {"size": 10}, {"password": "s3cret-unknown"}, {"own": "s3cret-wrong-type"}, {"cards": []}:
        take(program.ask("POST", "/confide", {**PLANTED, **more}, **secret_fields))
    take(program.ask("POST", "/confide?token=s3cret-query", PLANTED))
    take(program.ask("GET", "/things/x?password=s3cret-query"))
    take(program.ask("GET", "/fine", Authorization="Bearer s3cret-key"))
    take(program.ask("GET", "/incidents", Authorization="Bearer s3cret-key"))
    take(program.ask("GET", "/incidents/" + min(ids)))
    take(program.ask("POST", "/fault?name=a", {"password": "s3cret-argument"}))
    for more in {"own": True}, {"own": False}, {"size": 10}, {"deep": {"api_key": "s3cret-deep"}}:
        found = program.mcp("things_confide", {**PLANTED, **more})
        seen.append(json.dumps(found).encode())
        ids.add(found["result"]["_meta"]["dev.mishap/incident"])
    for path in PAGES:
        for accept in "text/html", "application/json":
            _, head, text = program.ask("GET", path, Accept=accept)
            seen.append(str(head.headers).encode() + text)
    for words in ["--own"], [], ["--size", "10"]:
        done = run_program(OBSERVED, "things", "confide", "--account", json.dumps(PLANTED["account"]), "--cards", json.dumps(PLANTED["cards"]), *words,
                           "--output", "json", env={"OBSERVED_LOG": program.log, "OBSERVED_DATA": program.folder})
        seen.append(done.out + done.err.encode() if isinstance(done.err, str) else done.out + done.err)
        ids.add(json.loads(done.out)["meta"]["request_id"])
    return seen, ids


def what_the_operator_gets(program, ids):
    with open(os.path.join(program.folder, "operator.key"), encoding="ascii") as file:
        key = {"Authorization": "Bearer " + file.read().strip()}
    for one in ids:
        wait_until(lambda: program.ask("GET", "/incidents/" + one, **key)[0] == 200, "%s is not in the index" % one)
    paths = ["/incidents", "/incidents/groups", "/incidents/stats", "/incidents/export?format=jsonl", "/incidents/export?format=csv",
             *("/incidents/" + one for one in ids)]
    return [program.ask("GET", path, **key)[2] for path in paths]


@test
def no_secret_is_in_any_sink_and_nothing_private_is_told_to_a_caller():
    with observed("--otlp-spans", "--verbose", "--access-log", "-") as (program, collector):
        seen, ids = everything_that_callers_can_ask(program)
        for answer in seen:
            expect(NOT_FOR_CALLERS.encode() not in answer, "a caller gets", answer.decode("utf-8", "replace"))
        wait_for_ids(collector, ids)
        shown = what_the_operator_gets(program, ids)
        wait_until(lambda: ids <= {attributes(one).get("mishap.incident.id") for one in collector.spans()}, "not all have a span")
        files = {}
        for folder, _, names in os.walk(program.folder):
            for name in names:
                with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name), "rb") as file:
                    files[name] = file.read()
        with collector.lock:
            sent = [json.dumps(body).encode() for _, _, body, _ in collector.requests]
    expect({"log", "groups.sqlite", "groups.sqlite-wal"} <= set(files) and any(name.startswith("20") for name in files), sorted(files))
    for where, texts in {"answers": seen, "pages of the operator": shown, "bodies of the collector": sent}.items():
        for text in texts:
            expect(b"s3cret" not in text, "a secret is in the", where, text.decode("utf-8", "replace")[-3000:])
    for name, text in files.items():
        at = text.find(b"s3cret")
        expect(at < 0, "a secret is in", name, text[max(0, at - 200):at + 100])
    for name in "message", "line", "note", "cause":  # the operator does get the private side, everywhere
        marker = (NOT_FOR_CALLERS + "-" + name).encode()
        for where, text in {"log": files["log"], "what the operator gets": b"".join(shown), "what the collector gets": b"".join(sent),
                            "standard error": program.said().encode()}.items():
            expect(marker in text, marker, "is not in", where)


def memory_has(pid, marker):
    """Is it in the memory of a process? None: the process has ended."""
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8") as maps, open("/proc/%d/mem" % pid, "rb", 0) as memory:
            for line in maps:
                area, rights, *rest = line.split()
                first, last = (int(word, 16) for word in area.split("-"))
                if rights[:2] != "rw" or last - first > 64 << 20 or "[v" in line:
                    continue
                memory.seek(first)
                with contextlib.suppress(OSError):
                    if marker in memory.read(last - first):
                        return True
    except OSError:
        return None
    return False


@test
def only_the_process_that_sends_has_the_key_of_the_collector():
    marker = "m4rked-" + os.urandom(8).hex()
    with observed("--otlp-spans", env={"OTEL_EXPORTER_OTLP_HEADERS": "x-key=%s%%41,x-long=%s" % (marker, marker + "x" * 3000)}) as (program, collector):
        wait_for_ids(collector, [program.fault(), program.missing()])
        with collector.lock:
            equal({fields["x-key"] for _, fields, _, _ in collector.requests}, {marker + "A"}, "what the collector gets")
        own, = program.children()
        parents = dict(server.processes())
        family = {program.process.pid}
        while True:
            more = {pid for pid, parent in parents.items() if parent in family} - family
            if not more:
                break
            family |= more
        names = {pid: server.name_of(pid) for pid in family}
        expect(len(family) >= 6, names)
        expect(memory_has(own, marker.encode()), "the search finds nothing, even where it is")
        for pid in family - {own, program.process.pid}:
            # The sanitizers' own code keeps a copy of the environment.
            expect(server.SANITIZED or not memory_has(pid, marker.encode()), "the key is in the memory of", names[pid])
        for pid in family:
            with contextlib.suppress(OSError):
                with open("/proc/%d/environ" % pid, "rb") as file:
                    expect(marker.encode() not in file.read(), "the key is in the environment of", names[pid])


# ---- Settings that cannot be used ----------------------------------------------------------------

@tests_of({
    "an address without a scheme": ({}, ["--otlp", "127.0.0.1:4318"], 2, "otlp"),
    "a password in it": ({}, ["--otlp", "http://u:s3cret@127.0.0.1"], 2, "otlp"),
    "a list that is none": ({"OTEL_EXPORTER_OTLP_HEADERS": "s3cret"}, ["--otlp", "http://127.0.0.1:1"], 78, "OTEL_EXPORTER_OTLP_HEADERS"),
    "a value with a line feed": ({"OTEL_EXPORTER_OTLP_HEADERS": "a=s3cret%0ab"}, ["--otlp", "http://127.0.0.1:1"], 78, "header field"),
    "a timeout that is none": ({"OTEL_EXPORTER_OTLP_TIMEOUT": "10s"}, ["--otlp", "http://127.0.0.1:1"], 78, "OTEL_EXPORTER_OTLP_TIMEOUT"),
    "another protocol": ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, [], 78, "grpc"),
    "an endpoint that is none": ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, [], 78, "address"),
})
def a_server_is_not_started_with(variables, flags, status, word):
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    folder = os.path.join(server.FOLDER, "refused")
    answer = run_program(OBSERVED, "serve", "--data", folder, "--listen", "127.0.0.1:0", *flags,
                         env={"OBSERVED_LOG": os.path.join(server.FOLDER, "refused.log"), **variables})
    equal(answer.status, status, answer.err)
    expect(word.encode() in answer.err + answer.out, answer)
    expect(b"s3cret" not in answer.err + answer.out, answer)


@test
def without_libcurl_the_package_is_named():
    libraries = os.path.join(server.FOLDER, "libraries")
    os.makedirs(libraries)
    for name in "libcurl.so.4", "libcurl-gnutls.so.4":
        with open(os.path.join(libraries, name), "w", encoding="utf-8") as file:
            file.write("no library\n")
    answer = run_program(OBSERVED, "serve", "--data", os.path.join(server.FOLDER, "without"), "--listen", "127.0.0.1:0",
                         "--otlp", "http://127.0.0.1:1",
                         env={"OBSERVED_LOG": os.path.join(server.FOLDER, "without.log"), "LD_LIBRARY_PATH": libraries})
    equal(answer.status, 4, answer.err)
    expect(b"libcurl4" in answer.err + answer.out, answer)


@test
def a_disabled_sdk_sends_nothing():
    with Collector() as collector, Observed(otlp=collector.url, env={"OTEL_SDK_DISABLED": "true"}) as program:
        program.fault()
        equal(program.children(), [])
        equal(program.otlp_health(), {})
    equal(collector.requests, [])


main()
