"""nginx as the tests start it, with a configuration of docs/ as it stands, but for ports and paths."""
import atexit
import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time

import server
from blackbox import Broken, expect
from server import Connection, Server, TREE, free_port

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
NGINX, OPENSSL = shutil.which("nginx", path=PATH), shutil.which("openssl", path=PATH)


class Nginx:
    """nginx with a documented configuration, in a folder of its own. `replaced` says which of its addresses are others here."""

    def __init__(self, configuration, replaced):
        self.port, self.plain_port = free_port(), free_port()
        self.folder = os.path.join(server.FOLDER, "nginx-%d" % self.port)
        os.mkdir(self.folder)
        os.chmod(server.FOLDER, 0o755)  # its workers may run as another user
        subprocess.run([OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.path("key.pem"), "-out",
                        self.path("certificate.pem"), "-days", "2", "-subj", "/CN=api.example.com", "-addext",
                        "subjectAltName=DNS:api.example.com"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=server.PATIENCE)
        with open(os.path.join(TREE, "docs", configuration), encoding="utf-8") as file:
            text = file.read()
        for old, new in {"listen 443 ssl": "listen 127.0.0.1:%d ssl" % self.port,
                         "listen 80;": "listen 127.0.0.1:%d;" % self.plain_port,
                         "/etc/ssl/mishap": self.folder, "/run/nginx.pid": self.path("pid"), **replaced}.items():
            expect(old in text, "docs/%s has no" % configuration, old)
            text = text.replace(old, new)
        paths = "".join("%s %s;\n" % (name, self.path(name)) for name in [
            "client_body_temp_path", "proxy_temp_path", "fastcgi_temp_path", "uwsgi_temp_path", "scgi_temp_path"])
        text = text.replace("http {\n", "http {\naccess_log off;\n" + paths, 1)
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        self.process = subprocess.Popen([NGINX, "-p", self.folder, "-c", self.path("nginx.conf"), "-e", self.path("log"),
                                         "-g", "daemon off;"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.stop)
        deadline = time.monotonic() + server.PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            expect(self.process.poll() is None, "nginx ended:", Server.read(self.path("log")))
            time.sleep(0.02)
        raise Broken("nginx is not ready")

    def path(self, name):
        return os.path.join(self.folder, name)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(server.PATIENCE)

    def connect(self, protocols=("http/1.1",), source=None):
        context = ssl.create_default_context(cafile=self.path("certificate.pem"))
        context.set_alpn_protocols(list(protocols))
        connection = Connection(("127.0.0.1", self.port), source=source)
        connection.socket = context.wrap_socket(connection.socket, server_hostname="api.example.com",
                                                suppress_ragged_eofs=True)
        return connection

    def ask(self, *arguments, **more):
        with self.connect() as connection:
            return connection.ask(*arguments, **more)
