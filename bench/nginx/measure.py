"""What the filter of src/nginx costs nginx: CPU of a success and of an error that is told, beside the same nginx without the module.

    python3 bench/nginx/measure.py MODULE [--rounds 7] [--seconds 2]

Three processes of nginx: one that answers, and two in front of it, with and without the module. wrk asks the two in turn. Each ratio is that of
one round, so that what else the machine does counts for both.
"""
import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402
import load  # noqa: E402
import processes  # noqa: E402

MOST_SUCCESS, MOST_ERROR = 1.03, 1.35
CONNECTIONS = 16
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
DETAIL = '{"detail":[{"loc":["body","age"],"msg":"Input should be less than or equal to 150","type":"less_than_equal","ctx":{"le":150},"input":200}]}'
COMMON = "daemon off; master_process off; pid %s/%s.pid; error_log stderr emerg; events { worker_connections 512; } http { access_log off; keepalive_requests 1000000000; "
BEHIND = "default_type application/json; server { listen 127.0.0.1:%d; location /good { return 200 '%s'; } location /bad { return 422 '%s'; } } }"
FRONT = ("upstream behind { server 127.0.0.1:%d; keepalive 32; keepalive_requests 1000000000; } server { listen 127.0.0.1:%d; %s "
         "location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ''; } } }")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder, name, text, before=""):
    path = os.path.join(folder, name + ".conf")
    with open(path, "w", encoding="utf-8") as file:
        paths = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        file.write(before + COMMON % (folder, name) + paths + text)
    return subprocess.Popen([NGINX, "-p", folder, "-c", path, "-e", "stderr"], stdin=subprocess.DEVNULL)


def wait_for(port, process):
    deadline = time.monotonic() + load.PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise figures.Void("nginx does not listen")


def spent(process, port, request, seconds, folder):
    """Microseconds of CPU a request."""
    script = os.path.join(folder, "script.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(request.script())
    before = processes.own_ns([process.pid])
    seen = load.wrk(script, f"127.0.0.1:{port}", CONNECTIONS, seconds)
    used = processes.own_ns([process.pid]) - before
    figures.answered(request.path, seen["requests"], 1, seen["failed"], seen["refused"], request.refusals(seen["requests"]))
    return used / seen["requests"] / 1000


def measure(fronts, options, folder):
    requests = {"success of 1 KB": (load.Request("GET", "/good", 200, ""), MOST_SUCCESS), "422 with a field error": (load.Request("GET", "/bad", 422, ""), MOST_ERROR)}
    for name, (request, most) in requests.items():
        seen = {way: [] for way in fronts}
        for _ in range(options.rounds):
            for way, (process, port) in fronts.items():
                seen[way].append(spent(process, port, request, options.seconds, folder))
        print(f"{name}, median of {options.rounds} rounds")
        for way, values in seen.items():
            figures.row(f"    CPU: {way}", figures.median(way, values, options.rounds), "µs")
        for way in list(fronts)[1:]:
            ratios = figures.ratios(name, seen[way], seen["without the module"])
            figures.row(f"    {way}, against none", ratios[len(ratios) // 2], "×", at_most=most if way == "with the module" else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2)
    options = parser.parse_args()
    if not NGINX or not os.path.exists(options.module):
        raise figures.Void("there is no nginx, or the module was not built: nginx-dev is needed")
    ways = {"without the module": "", "with the module": "mishap on;", "with the module and a log": "mishap on; mishap_incidents /dev/null;"}
    started, fronts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            behind = free_port()
            started.append(start(folder, "answers", BEHIND % (behind, "x" * 1024, DETAIL)))
            wait_for(behind, started[0])
            for number, (way, lines) in enumerate(ways.items()):
                port = free_port()
                before = f"load_module {os.path.abspath(options.module)}; " if lines else ""
                started.append(start(folder, f"front{number}", FRONT % (behind, port, lines), before))
                fronts[way] = (started[-1], port)
                wait_for(port, started[-1])
            measure(fronts, options, folder)
        finally:
            for process in started:
                process.send_signal(signal.SIGTERM)
                process.wait()


figures.run(main)
