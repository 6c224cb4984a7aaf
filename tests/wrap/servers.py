"""The servers beside which tests/wrap/provoke.py lets programs fail: HTTP, HTTPS, DNS, FTP, SMTP and ports that misbehave.

All of them listen at 127.0.0.1 of the network namespace that provoke.py has made, at fixed ports, so that recordings name the same
ports on every machine:

    53    DNS: server.example is 127.0.0.1, far.example 192.0.2.1 (no route), busy.example SERVFAIL, the rest NXDOMAIN
    8080  HTTP: see `Answers`
    8443  HTTPS, certificate for localhost and 127.0.0.1 of an unknown authority (its certificate: FOLDER/ca.pem)
    8444  HTTPS, certificate that has expired            8445  HTTPS, certificate for other.example
    8090  accepts and closes at once                     8091  accepts and resets
    8092  accepts and says nothing                       8093  speaks no protocol
    8099  never accepts, its queue is full               2121  FTP, 530 or 550        2525  SMTP, 550
    6443  the API of Kubernetes                          docker.sock in FOLDER: the API of Docker

Port 9 is closed. 198.51.100.1 is a host that cannot be reached.
"""
import http.server
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

REASONS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
           406: "Not Acceptable", 407: "Proxy Authentication Required", 409: "Conflict", 410: "Gone", 411: "Length Required",
           412: "Precondition Failed", 413: "Content Too Large", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
           422: "Unprocessable Entity", 423: "Locked", 429: "Too Many Requests", 451: "Unavailable For Legal Reasons",
           500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
           504: "Gateway Timeout", 507: "Insufficient Storage"}


class Answers(http.server.BaseHTTPRequestHandler):
    """HTTP: the path says what happens. /status/CODE/… answers with that status, whatever follows."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body, kind="application/json", **fields):
        data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status, REASONS.get(status))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def read_body(self):
        length = int(self.headers.get("Content-Length") or 0)
        return self.rfile.read(length) if length else b""

    def parse_request(self):
        done = super().parse_request()
        if done:
            method = "do_" + self.command
            if not hasattr(self, method):
                setattr(self, method, self.answer)
        return done

    def answer(self):
        self.body = self.read_body() if self.headers.get("Transfer-Encoding") is None else b""
        if self.headers.get("Transfer-Encoding"):
            self.close_connection = True
        parts = urllib.parse.urlsplit(self.path).path.strip("/").split("/")
        kind = getattr(self, "path_" + parts[0].replace("-", "_").replace(".", "_"), None)
        if kind:
            kind(parts)
        else:
            self.say(404, {"error": "Not Found"})

    def path_status(self, parts):
        status = int(parts[1])
        fields = {401: {"WWW_Authenticate": 'Basic realm="server"'}, 407: {"Proxy_Authenticate": 'Basic realm="proxy"'},
                  429: {"Retry_After": "1"}, 503: {"Retry_After": "1"}, 405: {"Allow": "GET"}}.get(status, {})
        self.say(status, {"error": REASONS.get(status, "")}, **fields)

    def path_slow(self, _):
        time.sleep(40)

    def path_empty(self, _):
        self.close_connection = True

    def path_reset(self, _):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def path_short(self, _):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"only a part")
        self.close_connection = True

    def path_garbage(self, _):
        self.wfile.write(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
        self.close_connection = True

    def path_loop(self, _):
        self.say(302, "", Location=self.path)

    def path_gzip(self, _):
        self.say(200, b"this is not compressed", Content_Encoding="gzip")

    def path_json(self, _):
        self.say(200, {"a": 1, "list": [1, 2]})

    def path_broken_json(self, _):
        self.say(200, '{"a": 1, "list": [1, 2')

    def path_html(self, _):
        self.say(200, "<!DOCTYPE html><html><body><h1>Links</h1></body></html>", "text/html")

    def path_big(self, _):
        self.say(200, b"x" * 300000, "application/octet-stream")

    def path_refused(self, _):
        self.say(302, "", Location="http://127.0.0.1:9/")

    def path_registry(self, parts):
        """What npm asks: a package without the wanted version, and one whose archive is not the promised one."""
        name = parts[1] if len(parts) > 1 else ""
        if name == "demo":
            self.say(200, {"name": "demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
                "name": "demo", "version": "1.0.0", "dist": {
                    "integrity": "sha512-" + "A" * 86 + "==", "tarball": "http://127.0.0.1:8080/big/demo-1.0.0.tgz"}}}})
        elif name == "peer":
            self.say(200, {"name": "peer", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
                "name": "peer", "version": "1.0.0", "peerDependencies": {"demo": "^2.0.0"},
                "dist": {"shasum": "0" * 40, "tarball": "http://127.0.0.1:8080/big/peer-1.0.0.tgz"}}}})
        else:
            self.say(404, {"error": "Not found"})

    def path_simple(self, parts):
        """What pip asks: an index with one package."""
        if len(parts) > 1 and parts[1] == "demo":
            self.say(200, '<html><body><a href="/big/demo-1.0.0-py3-none-any.whl#sha256=%s">demo-1.0.0-py3-none-any.whl</a></body></html>'
                     % ("0" * 64), "text/html")
        else:
            self.say(404, "<html><body>Not Found</body></html>", "text/html")

    def path_crates(self, parts):
        """A sparse registry of cargo, with one crate."""
        if parts[-1] == "config.json":
            self.say(200, {"dl": "http://127.0.0.1:8080/big", "api": "http://127.0.0.1:8080/crates-api"})
        elif parts[-1] == "demo":
            self.say(200, json.dumps({"name": "demo", "vers": "1.0.0", "deps": [], "cksum": "0" * 64, "features": {}, "yanked": False}) + "\n",
                     "text/plain")
        else:
            self.say(404, "")

    def path_api(self, parts):
        """GitHub's API as gh asks it: /api/graphql and /api/v3/…; the name of the repository says what happens."""
        text = "/".join(parts) + self.body.decode("utf-8", "replace")
        for word, status, message in (("limited", 403, "API rate limit exceeded for user ID 1."), ("locked", 403, "Resource not accessible by integration"),
                                      ("denied", 401, "Bad credentials"), ("broken", 502, "Server Error"),
                                      ("twice", 422, "Validation Failed"), ("busy", 503, "Service Unavailable"), ("archived", 403, "Repository was archived so is read-only.")):
            if word in text:
                fields = {"X_RateLimit_Remaining": "0", "X_RateLimit_Limit": "5000"} if word == "limited" else {}
                self.say(status, {"message": message}, **fields)
                return
        if parts[1:] == ["graphql"]:
            if "viewer" in text and "repository" not in text:
                self.say(200, {"data": {"viewer": {"login": "user"}}})
            else:
                self.say(200, {"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "path": ["repository"],
                               "message": "Could not resolve to a Repository with the name 'group/missing'."}]})
        elif parts[1:] == ["v3"]:
            self.say(200, {}, X_OAuth_Scopes="repo, read:org, gist")
        else:
            self.say(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


class UnixThreads(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass

    def get_request(self):
        request, _ = super().get_request()
        return request, ("local", 0)


def run(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_certificates(folder):
    """ca.pem, and three of it: good, expired, other."""
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "3650", "-subj",
            "/CN=Test Authority")
    for name, host, days in (("good", "localhost", "3650"), ("expired", "localhost", "-1"), ("other", "other.example", "3650")):
        with open(os.path.join(folder, name + ".ext"), "w", encoding="ascii") as file:
            file.write("subjectAltName=DNS:%s%s\n" % (host, ",IP:127.0.0.1" if host == "localhost" else ""))
        openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + host)
        openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", days, "-extfile",
                name + ".ext", "-out", name + ".pem")


def serve_tls(folder, port, name):
    server = Threads(("127.0.0.1", port), type("Tls", (Answers,), {}))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key"))
    plain = server.socket

    # The handshake is done in the thread of the connection: one that never ends must not stop the others.
    def accept():
        connection, address = plain.accept()
        return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address
    server.get_request = accept
    run(server)


def listen(port, talk):
    """A server of a few bytes: `talk` gets each connection."""
    listener = socket.create_server(("127.0.0.1", port), backlog=64)

    def loop():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=talk, args=(connection,), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()


def talk_close(connection):
    connection.close()


def talk_reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def talk_nothing(connection):
    time.sleep(60)
    connection.close()


def talk_noise(connection):
    connection.sendall(b"\x00\xff\x00\xff these are no words of a protocol\r\n" * 3)
    time.sleep(0.2)
    connection.close()


def talk_lines(greeting, replies):
    """A server of lines, as FTP and SMTP are: the first word of a line chooses the reply."""
    def talk(connection):
        with connection, connection.makefile("rwb") as file:
            file.write(greeting.encode() + b"\r\n")
            file.flush()
            for line in file:
                word = line.split()[0].decode("ascii", "replace").upper() if line.split() else ""
                reply = replies.get(word, "502 Command not implemented")
                reply = reply(line.decode("utf-8", "replace").strip()) if callable(reply) else reply
                file.write(reply.encode() + b"\r\n")
                file.flush()
                if word == "QUIT":
                    return
    return talk


def full_queue(port):
    """Nothing is ever accepted, and the queue is full: a further connection waits."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(0)
    held = [listener]
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
        held.append(client)
    return held


def dns_reply(question):
    end = 12
    labels = []
    while question[end]:
        labels.append(question[end + 1:end + 1 + question[end]].decode("ascii", "replace").lower())
        end += question[end] + 1
    end += 5
    name, kind = ".".join(labels), struct.unpack("!H", question[end - 4:end - 2])[0]
    address = {"server.example": b"\x7f\0\0\1", "far.example": b"\xc0\0\2\1"}.get(name)
    code = 0 if address else (2 if name.endswith("busy.example") else 3)
    found = address and kind == 1
    head = question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, 1 if found else 0, 0, 0)
    return head + question[12:end] + (b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + address if found else b"")


def serve_dns():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def loop():
        while True:
            question, sender = server.recvfrom(2048)
            try:
                server.sendto(dns_reply(question), sender)
            except (IndexError, struct.error):
                pass
    threading.Thread(target=loop, daemon=True).start()


def start_all(folder):
    """Starts every server; what has to be kept open is returned."""
    from apis import Docker, Kubernetes
    make_certificates(folder)
    serve_dns()
    run(Threads(("127.0.0.1", 8080), Answers))
    run(Threads(("127.0.0.1", 6443), Kubernetes))
    run(UnixThreads(os.path.join(folder, "docker.sock"), Docker))
    for port, name in ((8443, "good"), (8444, "expired"), (8445, "other")):
        serve_tls(folder, port, name)
    for port, talk in ((8090, talk_close), (8091, talk_reset), (8092, talk_nothing), (8093, talk_noise)):
        listen(port, talk)
    listen(2121, talk_lines("220 FTP ready", {
        "USER": "331 Password required", "PASS": lambda line: "530 Login incorrect" if line.endswith("wrong") else "230 Logged in",
        "PWD": '257 "/"', "CWD": "550 No such directory", "EPSV": "502 Not here", "PASV": "502 Not here", "TYPE": "200 Ok",
        "QUIT": "221 Bye", "SIZE": "550 No such file", "STOR": "553 Not allowed"}))
    listen(2525, talk_lines("220 mail ready", {
        "EHLO": "250 mail", "HELO": "250 mail", "MAIL": lambda line: "421 Too many connections, try later" if "later" in line else "250 Ok",
        "RCPT": "550 5.1.1 No such user", "DATA": "554 No recipients", "QUIT": "221 Bye"}))
    return full_queue(8099)
