"""`mishap gateway`: nginx with the filter, written, started and ended by the program.

    MISHAP_PROGRAM=… MISHAP_NGINX_MODULE=… python3 tests/gateway/gateway_test.py [PART-OF-A-NAME]
"""
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading

from gatewayed import PROGRAM, TREE, Gateway, children, is_running, needed, wait_until
from blackbox import PATIENCE, SANITIZED, Skipped, equal, expect, main, parsed, peak_of, run_program, test, tests_of
from filtered import MODULE, NGINX, read_all, response

MARK = "/srv/app/secret-4711.py"  # a path: no caller may see it
DETAIL = b'{"detail":[{"loc":["body","age"],"msg":"Input should be less than or equal to 150","type":"less_than_equal","ctx":{"le":150},"input":200}]}'


# ---- What passes ---------------------------------------------------------------------------------

@test
def an_error_is_told_and_recorded_and_a_success_passes():
    with Gateway() as gateway:
        answer = gateway.through("/age", response(422, DETAIL, "Content-Type: application/json", "X-Debug-Exception: " + MARK), method="POST", body=b"{}")
        equal(json.loads(answer.body)["details"], [{"field": "age", "error": "value_out_of_range", "max": 150, "actual": 200}])
        expect(MARK.encode() not in answer.raw, answer.raw)
        row = next(row for row in gateway.incidents() if row["id"] == answer.fields["X-Request-Id"])
        expect(MARK in row["noted"]["upstream_fields"], row)
        good = gateway.through("/good", response(200, b"good", "Server: theirs", "Date: Wed, 21 Oct 2015 07:28:00 GMT", "X_Odd: yes"))
        equal((good.body, good.fields["Server"], good.fields["Date"], good.fields["X_Odd"]), (b"good", "theirs", "Wed, 21 Oct 2015 07:28:00 GMT", "yes"))
        equal(gateway.ask("/none").status, 404)


@test
def the_dialect_is_the_one_that_was_asked_for():
    with Gateway("--dialect", "problem") as gateway:
        answer = gateway.ask("/none")
        equal((answer.status, answer.fields["Content-Type"]), (404, "application/problem+json"))


@test
def a_log_with_a_strange_name_is_written_and_opened_again():
    with Gateway(log='a "log" $x; {y} \\z.log') as gateway:
        gateway.ask("/none")
        os.rename(gateway.log, gateway.log + ".1")
        gateway.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: os.path.exists(gateway.log), "the log is opened again")
        equal(oct(os.stat(gateway.log + ".1").st_mode & 0o777), "0o600")


@test
def without_a_log_nothing_is_named():
    with Gateway(log="off") as gateway:
        equal(gateway.ask("/none").fields["X-Request-Id"], None)
        expect("log" not in "".join(gateway.said), gateway.said)


@tests_of({method: method for method in ("GET", "POST", "PUT", "DELETE", "PROPFIND")})
def a_request_is_passed_on_as_it_was_written(method):
    with Gateway() as gateway:
        seen = []

        def route(connection, head):
            seen.append(head)
            connection.sendall(response(200, b"yes"))

        gateway.routes["/a%2Fb//c/./%7Ed"] = route
        answer = gateway.ask("/a%2Fb//c/./%7Ed?x=%20&y", "X_Under: 1", "X-Forwarded-For: 10.1.1.1", "X-Empty:", method=method, host="shop.example:81")
        equal(answer.body, b"yes")
        lines = seen[0].decode().split("\r\n")
        equal(lines[0], "%s /a%%2Fb//c/./%%7Ed?x=%%20&y HTTP/1.1" % method)
        for line in ("Host: shop.example:81", "X_Under: 1", "X-Forwarded-For: 10.1.1.1, 127.0.0.1", "X-Forwarded-Host: shop.example:81", "X-Forwarded-Proto: http"):
            expect(line in lines, line, "is not in", lines)


@test
def the_page_shows_what_happens():
    with open(os.path.join(TREE, "docs", "gateway.md"), encoding="utf-8") as file:
        start, command, answer = file.read().split("```sh\n")[1].split("```")[0].strip().split("\n")
    equal(start, "mishap gateway --to http://127.0.0.1:3000 &")
    if not shutil.which("curl"):
        raise Skipped("there is no curl")
    with Gateway() as gateway:
        gateway.routes["/users"] = response(422, DETAIL, "Content-Type: application/json")
        equal(subprocess.run(command.replace("localhost:8080", "127.0.0.1:%d" % gateway.port), shell=True, capture_output=True, text=True, timeout=PATIENCE,
                             check=True).stdout, answer.removeprefix("# "))


# ---- Several servers -----------------------------------------------------------------------------

TWICE = {"GET": True, "HEAD": True, "OPTIONS": True, "POST": False, "PATCH": False, "PUT": False, "DELETE": False, "PROPFIND": False}


@tests_of({method: (method, again) for method, again in TWICE.items()})
def only_safe_methods_are_sent_again(method, again):
    with Gateway(count=2) as gateway:
        seen = []
        for each in gateway.upstreams:
            each.routes["/dies"] = lambda connection, head: seen.append(head)  # and closes without an answer
        answer = gateway.ask("/dies", method=method, body=b"" if again else b"x")
        equal((answer.status, len(seen)), (502, 2 if again else 1))


@test
def a_server_that_is_gone_is_left_out():
    with Gateway(count=2) as gateway:
        for each in gateway.upstreams:
            each.routes["/"] = response(200, b"here", "Connection: close")  # else a POST may meet a connection that is being closed
        gateway.upstreams[0].listener.close()
        os.unlink(gateway.upstreams[0].path)
        for _ in range(8):
            equal(gateway.ask("/").body, b"here")
        equal(gateway.ask("/", method="POST", body=b"x").body, b"here")


@test
def no_server_is_a_bad_gateway():
    with Gateway(to="http://unix:/nowhere/at/all") as gateway:
        answer = gateway.ask("/")
        equal((answer.status, json.loads(answer.body)["error"]), (502, "bad_gateway"))


@test
def a_silent_server_is_a_timeout():
    with Gateway("--timeout", "1") as gateway:
        answer = gateway.through("/", lambda connection, head: connection.recv(1))
        equal((answer.status, json.loads(answer.body)["error"]), (504, "gateway_timeout"))


TRACE = b"Traceback (most recent call last):\n  File \"%s\", line 3, in run\n" % MARK.encode()


def endless(connection, _head):
    connection.sendall(response(500, b"", length=False))
    while True:
        connection.sendall(TRACE * 100)


def slow(connection, _head):
    connection.sendall(response(500, TRACE, length=1000))
    connection.recv(1)  # until the gateway closes it


@test
def errors_that_are_long_or_slow_take_little_memory():
    with Gateway("--timeout", "1") as gateway:
        for _ in range(3):
            for name, route in {"endless": endless, "slow": slow, "long": response(500, TRACE * (3_000_000 // len(TRACE)))}.items():
                answer = gateway.through("/" + name, route)
                equal((answer.status, json.loads(answer.body)["error"]), (500, "internal_server_error"), name)
                expect(MARK.encode() not in answer.raw, answer.raw)
        first, workers = gateway.nginx()
        peaks = {pid: peak_of(pid) for pid in (gateway.process.pid, first, *workers)}
        expect(len(peaks) > 2 and max(peaks.values()) < 64 << 10 or SANITIZED, "KB of memory:", peaks)


@tests_of({"trusted": True, "not trusted": False})
def a_server_with_tls_is_asked_by_its_name_and_its_certificate_is_checked(trusted):
    needed()
    if not shutil.which("openssl"):
        raise Skipped("there is no openssl")
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        seen = []

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                    with context.wrap_socket(connection, server_side=True) as safe:
                        seen.append(safe.recv(65536))
                        safe.sendall(response(200, b"safe", "Connection: close"))
                except ssl.SSLError:
                    continue
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        port = listener.getsockname()[1]
        environment = {"SSL_CERT_FILE": certificate} if trusted else {}
        if not trusted and not os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
            raise Skipped("there are no certificates")
        with Gateway(to="https://localhost:%d" % port, env=environment) as gateway:
            answer = gateway.ask("/")
            equal((answer.status, b"safe" in answer.body), (200, True) if trusted else (502, False))
            if trusted:
                expect(b"Host: localhost:%d\r\n" % port in seen[0], seen)


# ---- Signals -------------------------------------------------------------------------------------

def echo(connection, _head):
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
    while piece := connection.recv(65536):
        connection.sendall(piece)


def upgraded(gateway):
    gateway.routes["/echo"] = echo
    connection = gateway.connect()
    connection.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        expect(piece, "the connection ended after", head)
        head += piece
    expect(head.startswith(b"HTTP/1.1 101 ") and b"Upgrade: echo\r\n" in head, head)
    return connection


def echoes(connection, words):
    connection.sendall(words)
    seen = b""
    while len(seen) < len(words):
        piece = connection.recv(65536)
        expect(piece, "the connection ended after", seen)
        seen += piece
    equal(seen, words)


@test
def a_reload_keeps_connections():
    with Gateway("--stop-timeout", "1") as gateway, upgraded(gateway) as connection:
        echoes(connection, b"before")
        first, before = gateway.nginx()
        gateway.process.send_signal(signal.SIGHUP)
        wait_until(lambda: set(children(first)) - set(before), "nginx has new processes")
        echoes(connection, b"after")
        equal(gateway.through("/new", response(200, b"new")).body, b"new")
        gateway.process.send_signal(signal.SIGTERM)
        equal(gateway.finish()[0], 0)
        equal((gateway.left(), is_running(first)), ([], False))


@tests_of({name: getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGQUIT")})
def a_signal_ends_it_and_leaves_nothing(number):
    with Gateway() as gateway:
        equal(gateway.ask("/none").status, 404)
        first, others = gateway.nginx()
        expect(others and gateway.left(), "nothing runs")
        gateway.process.send_signal(number)
        status, said = gateway.finish()
        equal((status, said["data"], gateway.left()), (0, {"stopped": True}, []))
        expect(not [pid for pid in [first, *others] if is_running(pid)], "nginx runs on")


def waiting(gateway):
    """A request that is in progress until the event is set."""
    arrived, event = threading.Event(), threading.Event()

    def route(connection, _head):
        arrived.set()
        event.wait(PATIENCE)
        connection.sendall(response(200, b"late"))

    gateway.routes["/late"] = route
    connection = gateway.connect()
    connection.sendall(b"GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
    expect(arrived.wait(PATIENCE), "the request does not arrive")
    return connection, event


def is_refused(gateway):
    try:
        gateway.connect().close()
    except ConnectionError:
        return True
    return False


@test
def requests_in_progress_are_answered_before_the_end():
    with Gateway("--stop-timeout", "600") as gateway:
        connection, event = waiting(gateway)
        gateway.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(gateway), "new connections are refused")
        equal(gateway.process.poll(), None)
        event.set()
        with connection:
            expect(read_all(connection).endswith(b"late"), "the request was not answered")
        equal((gateway.finish()[0], gateway.left()), (0, []))


@tests_of({"a second signal": True, "the timeout": False})
def ends_requests_that_take_too_long(second):
    with Gateway("--stop-timeout", "600" if second else "1") as gateway:
        connection, event = waiting(gateway)
        gateway.process.send_signal(signal.SIGTERM)
        if second:
            wait_until(lambda: is_refused(gateway), "new connections are refused")
            gateway.process.send_signal(signal.SIGINT)
        equal((gateway.finish()[0], gateway.left()), (0, []))
        with connection:
            expect(b"late" not in read_all(connection), "the request was answered")
        event.set()


@test
def nginx_that_is_killed_is_a_failure_that_leaves_nothing():
    with Gateway() as gateway:
        first, others = gateway.nginx()
        os.kill(first, signal.SIGKILL)
        status, said = gateway.finish()
        equal((status, said["error"]["code"], gateway.left()), (12, "UNAVAILABLE", []))
        expect(not [pid for pid in others if is_running(pid)], "processes of nginx run on")


@test
def a_worker_that_is_killed_is_replaced():
    with Gateway() as gateway:
        first, others = gateway.nginx()
        for pid in others:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: set(children(first)) - set(others), "there are new processes")
        equal(gateway.ask("/none").status, 404)


@test
def nginx_ends_with_a_gateway_that_is_killed():
    with Gateway() as gateway:
        first, others = gateway.nginx()
        gateway.process.kill()
        wait_until(lambda: not [pid for pid in [first, *others] if is_running(pid)], "nginx has ended")
        gateway.finish()


# ---- Settings ------------------------------------------------------------------------------------

def refused(*words, folder, env=None):
    """The findings of a gateway that does not start: sentences by the name of the setting."""
    answer = run_program(PROGRAM, "gateway", "--output", "json", *words, env={"TMPDIR": folder, "XDG_STATE_HOME": folder + "/state", "MISHAP_LOG": "", **(env or {})})
    found = parsed(answer.out)
    equal((answer.status, found["error"]["code"]), (78, "NOT_CONFIGURED"), answer.err)
    equal([name for name in os.listdir(folder) if name != "state"], [], "left behind")
    return [(row["param"], row["message"]) for row in found["error"]["errors"]]


@test
def all_findings_are_told_at_once():
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        found = refused("--to", "ftp://x,http://no-such-host.invalid,http://127.0.0.1:1/path,https://localhost,http://u:p@127.0.0.1,http://127.0.0.1:0,,http://unix:relative",
                        "--listen", "127.0.0.1:%d" % taken.getsockname()[1], "--dialect", "problm", "--incident-log", "/no/such/folder/log",
                        "--nginx", "/nowhere/nginx", "--module", "/nowhere/module.so", folder=folder)
        equal([name for name, _ in found], ["to[%d]" % i for i in range(8)] + ["listen", "dialect", "incident_log", "nginx", "module"])
        said = dict(found)
        for name, words in {"to[0]": "http:// or https://", "to[1]": "no-such-host.invalid", "to[3]": "same scheme", "listen": "EADDRINUSE", "dialect": "`problem`",
                            "incident_log": "/no/such/folder/log", "nginx": "/nowhere/nginx", "module": "/nowhere/module.so"}.items():
            expect(words in said[name], words, "is not in", said[name])


WRONG = {
    "hostile url": (["--to", "http://a;b{}\n\"$x"], "to[0]"),
    "a host that is no name": (["--to", "http://" + "a" * 300], "to[0]"),
    "a port that is too large": (["--to", "http://127.0.0.1:65536"], "to[0]"),
    "a long path": (["--to", "http://unix:/" + "a" * 200], "to[0]"),
    "a path with a line feed": (["--to", "http://unix:/a\nb"], "to[0]"),
    "an address without an end": (["--to", "http://[::1"], "to[0]"),
    "an empty address": (["--to", "http://[]:80"], "to[0]"),
    "two names with TLS": (["--to", "https://localhost,https://127.0.0.1"], "to[1]"),
    "TLS at a unix socket": (["--to", "https://unix:/a"], "to[0]"),
    "too many": (["--to", ",".join(["http://127.0.0.1"] * 40)], "to"),
    "no certificates": (["--to", "https://localhost"], "to"),
    "no port to listen at": (["--to", "http://127.0.0.1", "--listen", "127.0.0.1"], "listen"),
    "hostile address": (["--to", "http://127.0.0.1", "--listen", "0;daemon on:80"], "listen"),
    "an address of another machine": (["--to", "http://127.0.0.1", "--listen", "192.0.2.1:80"], "listen"),
    "a log with a line feed": (["--to", "http://127.0.0.1", "--incident-log", "/tmp/a\nb"], "incident_log"),
    "a log that is a folder": (["--to", "http://127.0.0.1", "--incident-log", "/tmp"], "incident_log"),
}


@tests_of(WRONG)
def a_wrong_setting_is_named(words, name):
    more = [] if "--listen" in words else ["--listen", "127.0.0.1:0"]
    with tempfile.TemporaryDirectory() as folder:
        found = refused(*words, *more, folder=folder, env={"SSL_CERT_FILE": "/nowhere/certificates"})
        expect(name in [found_name for found_name, _ in found], found)


@test
def a_module_that_does_not_fit_is_found_beside_other_findings():
    if not NGINX:
        raise Skipped("there is no nginx")
    with tempfile.TemporaryDirectory() as folder:
        for more in ([], ["--dialect", "morse"]):
            found = dict(refused("--to", "http://127.0.0.1", "--listen", "127.0.0.1:0", "--module", "/etc/passwd", *more, folder=folder))
            equal(sorted(found), ["dialect", "module"] if more else ["module"])
            expect("ELF" in found["module"] and "/nginx.conf" not in found["module"], found)


@test
def a_program_that_is_not_nginx_is_a_finding():
    needed()
    with tempfile.TemporaryDirectory() as folder:
        found = refused("--to", "http://127.0.0.1", "--listen", "127.0.0.1:0", "--module", MODULE, "--nginx", "/bin/false", folder=folder)
        equal(found, [("nginx", "nginx refuses: nginx gives no reason.")])


@test
def a_missing_server_is_a_mistake_of_the_command_line():
    equal(run_program(PROGRAM, "gateway").status, 2)


main()
