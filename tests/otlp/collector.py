"""A collector on the loopback address, which keeps what it is sent and holds each body against the published schema of OTLP."""
import base64
import http.server
import json
import os
import sys
import threading

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "build/deps/files"))

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    SCHEMAS = {"/v1/logs": ExportLogsServiceRequest, "/v1/metrics": ExportMetricsServiceRequest, "/v1/traces": ExportTraceServiceRequest}
except ImportError:
    SCHEMAS = None

IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


def with_bytes(value):
    """In JSON of OTLP ids of traces are hexadecimal, where that of protobuf has base64."""
    if isinstance(value, dict):
        return {key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else with_bytes(item) for key, item in value.items()}
    return [with_bytes(item) for item in value] if isinstance(value, list) else value


def check_forms(value, path=""):
    """What the parser of protobuf would forgive: ids of another length, enums as words, 64-bit numbers that are no strings."""
    if isinstance(value, list):
        for item in value:
            check_forms(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in IDS and (len(item) != IDS[key] or item != item.lower()):
                raise ValueError("%s is %r" % (key, item))
            if key.endswith("UnixNano") or key in ("intValue", "count"):
                if not isinstance(item, str):
                    raise ValueError("%s is no string: %r" % (key, item))
            if key in ("severityNumber", "kind", "code", "aggregationTemporality") and not isinstance(item, int):
                raise ValueError("%s is no number: %r" % (key, item))
            check_forms(item, path + "/" + key)


def attributes(thing):
    """Attributes as a dict of their values."""
    def plain(value):
        (kind, item), = value.items()
        if kind == "arrayValue":
            return [plain(one) for one in item["values"]]
        return int(item) if kind == "intValue" else item
    found = {one["key"]: plain(one["value"]) for one in thing["attributes"]}
    if len(found) != len(thing["attributes"]):
        raise ValueError("an attribute stands twice: %r" % thing["attributes"])
    return found


class Collector:
    """`script` has a list of answers for a path, used one after the other: a status, or (status, fields, body). Then 200."""

    def __init__(self, port=0, **script):
        self.lock = threading.Lock()
        self.requests = []  # (path, fields, parsed body, status)
        self.wrong = []     # bodies that are not as they should be
        self.script = {"/v1/" + name: list(answers) for name, answers in script.items()}
        self.hold = threading.Event()  # set: requests are answered
        self.hold.set()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, fields, answer = collector.take(self.path, dict(self.headers), body)
                collector.hold.wait()
                try:
                    self.send_response(status)
                    for name, value in fields.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        class Listener(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, *_):  # a client that is killed
                pass

        self.listener = Listener(("127.0.0.1", port), Handler)
        self.port = self.listener.server_address[1]
        self.url = "http://127.0.0.1:%d" % self.port
        threading.Thread(target=self.listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.hold.set()
        self.listener.shutdown()
        self.listener.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def take(self, path, fields, body):
        parsed = None
        try:
            parsed = json.loads(body)
            check_forms(parsed)
            if SCHEMAS:
                json_format.ParseDict(with_bytes(parsed), SCHEMAS[path]())
            if fields.get("Content-Type") != "application/json":
                raise ValueError("Content-Type: %r" % fields.get("Content-Type"))
        except Exception as problem:
            with self.lock:
                self.wrong.append((path, str(problem), body[:2000]))
        with self.lock:
            answers = self.script.get(path)
            answer = answers.pop(0) if answers else 200
            status, more, text = answer if isinstance(answer, tuple) else (answer, {}, b"{}")
            self.requests.append((path, fields, parsed, status))
        return status, more, text

    def of(self, path, status=200):
        """Bodies of requests that were answered with this status."""
        with self.lock:
            return [body for at, _, body, answered in self.requests if at == "/v1/" + path and answered == status and body]

    def count(self, path):
        with self.lock:
            return sum(at == "/v1/" + path for at, _, _, _ in self.requests)

    def logs(self):
        return [record for body in self.of("logs") for resource in body["resourceLogs"] for scope in resource["scopeLogs"]
                for record in scope["logRecords"]]

    def spans(self):
        return [span for body in self.of("traces") for resource in body["resourceSpans"] for scope in resource["scopeSpans"]
                for span in scope["spans"]]

    def metrics(self):
        """The metrics of the last request, by name."""
        bodies = self.of("metrics")
        return {metric["name"]: metric for resource in (bodies[-1]["resourceMetrics"] if bodies else [])
                for scope in resource["scopeMetrics"] for metric in scope["metrics"]}

    def ids(self):
        """The ids of all incidents that were sent."""
        found = []
        for record in self.logs():
            has = attributes(record)
            if "mishap.incident.ids" in has:
                found += has["mishap.incident.ids"]
            elif "error.type" in has:
                found.append(has["mishap.incident.id"])
        return found
