"""An issuer of access tokens, for tests: keys that openssl makes, their key set, and tokens."""
import base64
import http.server
import json
import os
import subprocess
import threading
import time

from blackbox import PATIENCE, expect


def openssl(*arguments, stdin=b""):
    return subprocess.run(["openssl", *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=True).stdout


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw_of_der(der, size):
    """The two numbers of an ECDSA signature."""
    expect(der[0] == 0x30 and der[2] == 2, "no signature:", der)
    first, rest = der[4:4 + der[3]], der[4 + der[3]:]
    second = rest[2:2 + rest[1]]
    return b"".join(int.from_bytes(part, "big").to_bytes(size, "big") for part in (first, second))


WAYS = {"RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "PS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        "ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "ES384": ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "EdDSA": ["ED25519"]}


class Key:
    """A key of an algorithm, in a file of a folder."""

    def __init__(self, folder, alg, kid=None):
        self.alg, self.kid = alg, kid or alg
        self.path = os.path.join(folder, "key-" + self.kid)
        openssl("genpkey", "-algorithm", *WAYS[alg], "-out", self.path)

    @property
    def public(self):
        """The key as a JWK."""
        common = {"kid": self.kid, "alg": self.alg, "use": "sig"}
        if self.alg in ("RS256", "PS256"):
            modulus = openssl("rsa", "-in", self.path, "-noout", "-modulus").decode().strip().partition("=")[2]
            return {"kty": "RSA", "n": b64(bytes.fromhex(modulus)), "e": "AQAB", **common}
        der = openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")
        if self.alg == "EdDSA":
            return {"kty": "OKP", "crv": "Ed25519", "x": b64(der[-32:]), **common}
        size = 48 if self.alg == "ES384" else 32
        return {"kty": "EC", "crv": "P-384" if size == 48 else "P-256", "x": b64(der[-2 * size:-size]), "y": b64(der[-size:]), **common}

    def sign(self, said):
        path = self.path + ".said"
        with open(path, "wb") as file:
            file.write(said)
        if self.alg == "EdDSA":
            return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.path, "-in", path)
        pss = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"] if self.alg == "PS256" else []
        mark = openssl("dgst", "-sha384" if self.alg == "ES384" else "-sha256", *pss, "-sign", self.path, path)
        return raw_of_der(mark, 48 if self.alg == "ES384" else 32) if self.alg.startswith("ES") else mark

    def token(self, claims, **header):
        said = "%s.%s" % (b64(json.dumps({"alg": self.alg, "typ": "at+jwt", "kid": self.kid, **header}).encode()), b64(json.dumps(claims).encode()))
        return said + "." + b64(self.sign(said.encode()))


class Issuer:
    """An issuer with one key, whose key set is a file."""

    def __init__(self, folder, url, audience, alg="EdDSA"):
        self.folder, self.url, self.audience = folder, url, audience
        self.file = os.path.join(folder, "jwks.json")
        self.key = Key(folder, alg)
        self.publish([self.key])

    def publish(self, keys):
        self.write(json.dumps({"keys": [key.public for key in keys]}))

    def write(self, text):
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.file + ".new", self.file)

    def claims(self, **more):
        now = int(time.time())
        claims = {"iss": self.url, "aud": self.audience, "sub": "alice", "client_id": "app", "iat": now, "exp": now + 600, "scope": "call"}
        claims.update(more)
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, key=None, header=None, **claims):
        return (key or self.key).token(self.claims(**claims), **(header or {}))


SILENT = None  # instead of a page: the request is never answered


class Site:
    """An issuer over HTTP on the loopback address: what it answers by path, (status, header fields, body), the paths that were asked for, and how
    many requests are not answered yet."""

    def __init__(self):
        site, self.pages, self.asked, self.waiting = self, {}, [], 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = site.pages.get(self.path, (404, {}, b"{}"))
                site.waiting += page is SILENT
                site.asked.append(self.path)
                if page is SILENT:
                    self.rfile.read(1)  # until the other side leaves
                    site.waiting -= 1
                    return
                status, fields, body = page
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **fields}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def offer(self, issuer, where="/.well-known/oauth-authorization-server", **fields):
        """Metadata at one of the two places, and the key set of an issuer."""
        self.pages[where] = (200, {}, json.dumps({"issuer": self.url, "jwks_uri": self.url + "/jwks"}).encode())
        with open(issuer.file, "rb") as file:
            self.pages["/jwks"] = (200, fields, file.read())

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
