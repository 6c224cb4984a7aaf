"""What an operator's Prometheus makes of a server: its metrics, the alert rules and the dashboard of docs/.

    MISHAP_PROGRAM=… PROMETHEUS=FOLDER python3 tests/monitoring/monitoring_test.py [PART-OF-A-NAME]

PROMETHEUS is the folder of `prometheus` and `promtool`; without them the tests are skipped. A real server is scraped while calls fail over
HTTP and MCP; each query of the dashboard must have data, and alerts must fire. Nothing but loopback is used.
"""
import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
for room in "http", "mcp":
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), room))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, test  # noqa: E402
from exchange import Session, call  # noqa: E402
from server import PATIENCE, Server, free_port, wait_for  # noqa: E402

DOCS = os.environ.get("PATH_OF_DOCS", os.path.join(server.TREE, "docs"))
FOLDER = os.environ.get("PROMETHEUS", "")
ALERTS = os.path.join(DOCS, "alerts.yml")


def program(name):
    found = os.path.join(FOLDER, name) if os.path.exists(os.path.join(FOLDER, name)) else shutil.which(name)
    if not found:
        raise Skipped("there is no %s" % name)
    return found


def promtool(*words, stdin=None):
    done = subprocess.run([program("promtool"), *words], input=stdin, capture_output=True, timeout=PATIENCE, check=False)
    expect(done.returncode == 0, "promtool", words, done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode() + done.stderr.decode()


def dashboard():
    with open(os.path.join(DOCS, "grafana.json"), encoding="utf-8") as file:
        return json.load(file)


def queries():
    """Of all panels, as Grafana sends them when all servers are chosen."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "30s")


# ---- Files ---------------------------------------------------------------------------------------

@test
def the_alert_rules_are_valid():
    promtool("check", "rules", ALERTS)
    promtool("check", "config", os.path.join(DOCS, "prometheus.yml"))


@test
def each_alert_fires_when_it_should_and_not_before():
    path = os.path.join(server.FOLDER, "alerts_test.yml")
    with open(os.path.join(HERE, "alerts_test.yml"), encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("- ALERTS", "- " + ALERTS))
    promtool("test", "rules", path)
    with open(ALERTS, encoding="utf-8") as file:
        for name in re.findall(r"- alert: (\w+)", file.read()):
            expect(name in text, "no example of", name)


@test
def alerts_and_dashboard_use_metrics_of_the_table_alone():
    with open(os.path.join(DOCS, "metrics.md"), encoding="utf-8") as file:
        known = set(re.findall(r"^\| `(\w+)` \|", file.read(), re.M))
    with open(ALERTS, encoding="utf-8") as file:
        used = set(re.findall(r"mishap_\w+", "\n".join(re.findall(r"expr: (?:\|\n(?: {10}.*\n)+|.*\n)", file.read()))))
    for _, expr in queries():
        used |= set(re.findall(r"mishap_\w+", expr))
    expect(used and {re.sub("_(bucket|sum|count)$", "", name) for name in used} <= known, used - known)
    shown = {re.sub("_(bucket|sum|count)$", "", name) for _, expr in queries() for name in re.findall(r"mishap_\w+", expr)}
    equal(known - shown, set(), "metrics that the dashboard does not show")


@test
def the_dashboard_is_well_formed():
    found = dashboard()
    numbers = [panel["id"] for panel in found["panels"]]
    equal(len(numbers), len(set(numbers)), "numbers of panels")
    places = set()
    for panel in found["panels"]:
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                expect(x < 24 and (x, y) not in places, "panels overlap:", panel["title"])
                places.add((x, y))
    equal({variable["name"] for variable in found["templating"]["list"]}, {"datasource", "instance"})


# ---- A server ------------------------------------------------------------------------------------

class Traffic:
    """Calls that work and calls that fail, over HTTP and MCP."""

    def __init__(self, found):
        self.server, self.session = found, Session(found)

    def go_on(self):
        ask = self.server.ask
        equal(ask("POST", "/todos", {"title": "a"}).status, 201)
        equal(ask("GET", "/todos/987654321").status, 404)
        equal(ask("POST", "/todos", {}).status, 422)
        equal(ask("GET", "/nowhere").status, 404)
        expect(ask("POST", "/chaos", {"how": "crash"}).status == 500, "a crash")
        for name, arguments, failed in [("list_todos", {}, False), ("get_todo", {"id": "987654321"}, True), ("create_todo", {}, True),
                                        ("cause_chaos", {"how": "error"}, True)]:
            answer = self.session.post(call(name, arguments)).json
            equal(answer["result"].get("isError", False), failed, name)


def value_of(text, name, **labels):
    """The sum of all series of this name that have these labels."""
    total, found = 0.0, False
    for line in re.findall(r"^%s(?:\{(.*)\})? (\S+)$" % name, text, re.M):
        if all('%s="%s"' % label in line[0] for label in labels.items()):
            total, found = total + float(line[1]), True
    return total if found else None


ERRORS = dict.fromkeys([("todos.create", "http", "VALIDATION_ERROR", "validation"), ("todos.get", "http", "NOT_FOUND", "resource"),
                        ("todos.get", "mcp", "NOT_FOUND", "resource"), ("todos.create", "mcp", "VALIDATION_ERROR", "validation"),
                        ("chaos.fail", "http", "INTERNAL_ERROR", "system"), ("chaos.fail", "mcp", "INTERNAL_ERROR", "system")], 1)


@test
def calls_are_counted_by_operation_boundary_and_code():
    with Server("--workers", "2", "--chaos", "--service", "todo") as found:
        Traffic(found).go_on()

        def read():
            return found.ask("GET", "/metrics").body.decode()

        def errors_in(text):
            return {labels: value_of(text, "mishap_call_errors_total", **dict(zip(("operation", "boundary", "code", "category"), labels))) for labels in ERRORS}
        text = wait_for(lambda: (lambda text: errors_in(text) == ERRORS and text)(read())) or read()  # a call may be answered before it is counted
        promtool("check", "metrics", stdin=text.encode())
        equal(errors_in(text), ERRORS, "errors")
        equal(value_of(text, "mishap_calls_total", operation="todos.create", boundary="http"), 2)
        equal(value_of(text, "mishap_calls_total", operation="todos.list", boundary="mcp"), 1)
        equal(value_of(text, "mishap_call_duration_seconds_count", operation="chaos.fail", boundary="mcp"), 1)
        equal(value_of(text, "mishap_call_errors_total", operation="todos.list"), None, "a failure of what has not failed")
        equal(value_of(text, "mishap_mcp_sessions"), 1, "sessions")
        expect(value_of(text, "mishap_store_queries_total", store="file") >= 3, "queries:", text)
        equal(value_of(text, "mishap_store_failures_total", store="file"), 0)
        equal(value_of(text, "mishap_service_ready", service="todo"), 1)
        equal(set(re.findall(r'service="(\w+)"', text)) - {"todo", "none", "incidents"}, set(), "services that are not served")


@test
def processes_and_workers_are_told():
    with Server("--workers", "2", "--service", "todo") as found:
        def told():
            equal(found.ask("GET", "/todos").status, 200)
            text = found.ask("GET", "/metrics").body.decode()
            return (value_of(text, "mishap_processes", role="loop") == 2 and value_of(text, "mishap_processes", role="keeper") == 1 and
                    (value_of(text, "mishap_processes", role="worker") or 0) >= 1 and (value_of(text, "mishap_workers", service="todo") or 0) >= 1 and text)
        text = wait_for(told)
        expect(text, found.ask("GET", "/metrics").body.decode())
        for role in "supervisor", "loop", "keeper", "worker":
            expect(value_of(text, "mishap_process_resident_memory_bytes", role=role) > 100000, role)
            expect(value_of(text, "mishap_process_open_files", role=role) >= 3, role)
            expect(value_of(text, "mishap_process_cpu_seconds_total", role=role) is not None, role)
        equal(value_of(text, "mishap_calls_waiting", service="todo"), 0)


# ---- Prometheus ----------------------------------------------------------------------------------

@contextlib.contextmanager
def prometheus(target):
    """Debian's Prometheus that scrapes a server each second. Gives a function that asks it."""
    folder, port = os.path.join(server.FOLDER, "prometheus"), free_port()
    os.mkdir(folder)
    with open(os.path.join(DOCS, "prometheus.yml"), encoding="utf-8") as file:
        config = file.read().replace("15s", "1s").replace("127.0.0.1:8080", target).replace("- alerts.yml", "- " + ALERTS)
    with open(os.path.join(folder, "config.yml"), "w", encoding="utf-8") as file:
        file.write(config)
    with open(os.path.join(folder, "log"), "wb") as log:
        process = subprocess.Popen([program("prometheus"), "--config.file", os.path.join(folder, "config.yml"), "--storage.tsdb.path", os.path.join(folder, "data"),
                                    "--web.listen-address", "127.0.0.1:%d" % port], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def ask(path, **parameters):
        address = "http://127.0.0.1:%d%s?%s" % (port, path, urllib.parse.urlencode(parameters))
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            return json.load(answer)["data"]
        return None
    try:
        expect(wait_for(lambda: process.poll() is not None or ask("/api/v1/query", query="up") is not None), "it does not answer")
        expect(process.poll() is None, "it has ended:", Server.read(os.path.join(folder, "log")).decode())
        yield ask
    finally:
        process.terminate()
        process.wait()


def has_data(answer):
    return answer and any(not math.isnan(float(row["value"][1])) for row in answer["result"])


@test
def every_query_of_the_dashboard_has_data_and_alerts_fire():
    program("prometheus")
    with Server("--workers", "2", "--chaos") as found:
        found.ask("GET", "/ready")  # services are tried
        traffic = Traffic(found)
        traffic.go_on()
        with prometheus("%s:%d" % found.address) as ask:
            missing, deadline = dict(enumerate(queries())), time.monotonic() + PATIENCE
            expect(len(missing) > 30, "so few queries:", missing)
            alerts = {"MishapInternalErrors", "MishapHandlerCrashes"}
            while (missing or alerts) and time.monotonic() < deadline:
                traffic.go_on()
                missing = {number: row for number, row in missing.items() if not has_data(ask("/api/v1/query", query=row[1]))}
                alerts -= {alert["labels"]["alertname"] for alert in (ask("/api/v1/alerts") or {"alerts": []})["alerts"] if alert["state"] == "firing"}
                time.sleep(0.5)
            equal((missing, alerts), ({}, set()), "queries without data, alerts that do not fire: %s" % found.ask("GET", "/metrics").body.decode())

            def targets():
                return [(target["health"], target["lastError"]) for target in ask("/api/v1/targets")["activeTargets"]]
            wait_for(lambda: targets() == [("up", "")])  # a scrape that takes longer than a second counts as none
            equal(targets(), [("up", "")])


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
