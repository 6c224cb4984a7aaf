"""The servers that are compared: how each is started, checked, and asked for the CPU time it has used."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import processes  # noqa: E402

NPM = HERE.parent.parent / "build/deps/npm/node_modules"

REQUEST = '{"name":"","age":200,"email":"invalid"}'
ANSWER = (
    '{"error":"validation_error","message":"Validation failed","details":['
    '{"field":"name","error":"field_required"},'
    '{"field":"age","error":"value_out_of_range","min":0,"max":150,"actual":200},'
    '{"field":"email","error":"pattern_mismatch","expected":".*@.*\\\\..*"}]}'
)


class Absent(Exception):
    """A server that cannot take part, and why."""


class Server:
    """A server process, with its children, that answers on the loopback interface and runs on given cores."""

    def __init__(self, name, port, command, cores, folder, environment=None):
        self.name = name
        self.port = port
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["taskset", "-c", cores, *(str(part) for part in command)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), **(environment or {})})
        try:
            self.wait_until_it_answers()
        except BaseException:
            self.stop()
            raise

    def wait_until_it_answers(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.verify()
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Absent(f"it does not answer ({error}): {last_line(self.log)}") from None
                time.sleep(0.05)

    def verify(self):
        """A server that answers something else does other work, and the comparison would be void."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", "/users", REQUEST, {"Content-Type": "application/json"})
            response = connection.getresponse()
            body = response.read()
        except http.client.HTTPException as error:
            raise Absent(f"it does not speak HTTP: {error!r}") from None
        finally:
            connection.close()
        if response.status != 422 or not is_the_answer(body):
            raise Absent(f"its answer is another: {response.status} {body[:300]!r}")

    def cpu_ns(self):
        """CPU time of all its processes so far."""
        return processes.cpu_ns(self.process.pid)

    def stop(self):
        tree = processes.family(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            for pid in tree:
                if processes.alive(pid):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()


def is_the_answer(body):
    try:
        return json.loads(body) == json.loads(ANSWER)
    except ValueError:
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def last_line(path):
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it says nothing"


# ---- Starting each -----------------------------------------------------------------------------------------------


def need(condition, why):
    if not condition:
        raise Absent(why)


def succeeds(*command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


def ours(name, options, cores, workers=1):
    need(options.program.exists(), f"there is no {options.program}")
    folder, port = options.folder / f"ours-{workers}", free_port()
    shutil.rmtree(folder, ignore_errors=True)
    return Server(name, port, [options.program, "serve", "--listen", f"127.0.0.1:{port}", "--data", folder / "data",
                               "--workers", workers], cores, folder)


def bare(name, options, cores):
    need(options.bare.exists(), f"there is no {options.bare}")
    port = free_port()
    return Server(name, port, [options.bare, port], cores, options.folder / f"bare-{port}")


def nginx(name, options, cores):
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    need(program, "nginx is not installed")
    folder, port = options.folder / "nginx", free_port()
    folder.mkdir(parents=True, exist_ok=True)
    body = ANSWER.replace("\\", "\\\\")  # a backslash stands twice in nginx's strings
    text = (HERE / "nginx.conf").read_text().replace("@PORT@", str(port)).replace("@BODY@", body)
    (folder / "nginx.conf").write_text(text)
    return Server(name, port, [program, "-p", folder, "-c", "nginx.conf"], cores, folder)


def fastify(name, options, cores, kind="plain"):
    program = node()
    need((NPM / "fastify").is_dir(), "fastify is not installed in build/deps/npm")
    port = free_port()
    return Server(name, port, [program, HERE / "fastify.js", port, kind], cores, options.folder / f"fastify-{kind}",
                  {"NODE_PATH": str(NPM), "NODE_ENV": "production"})


def fastify_tuned(name, options, cores):
    return fastify(name, options, cores, "tuned")


def node():
    """Fastify 5 needs Node 20; Debian 12 has 18, and then the npm package `node` has brought another."""
    for program in ("node", str(NPM / ".bin/node")):
        if succeeds(program, "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"):
            return program
    raise Absent("there is no Node 20 or later")


def fastapi(name, options, cores):
    port = free_port()
    return Server(name, port, [python_with_fastapi(), HERE / "fastapi_peer.py", port], cores,
                  options.folder / "fastapi")


def python_with_fastapi():
    for program in (os.environ.get("PYTHON"), "/usr/bin/python3", "python3"):
        if program and succeeds(program, "-c", "import fastapi, uvicorn"):
            return program
    raise Absent("FastAPI and uvicorn are not installed (PYTHON names a python3 that has them)")


# ---- Versions ----------------------------------------------------------------------------------------------------


def versions():
    """What the peers are, as one line."""
    found = []
    for name, command in (
        ("nginx", lambda: [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-v"]),
        ("Node", lambda: [node(), "--version"]),
        ("Fastify", lambda: [node(), "-p", f"require('{NPM}/fastify/package.json').version"]),
        ("FastAPI", lambda: [python_with_fastapi(), "-c", FASTAPI_VERSIONS]),
        ("wrk", lambda: ["wrk", "-v"]),
    ):
        try:
            done = subprocess.run(command(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        except (Absent, OSError, TypeError):
            continue
        match = re.search(r"\d+\.\d[^\n\[]*", done.stdout + done.stderr)
        if match:
            found.append(f"{name} {match[0].strip()}")
    return ", ".join(found)


FASTAPI_VERSIONS = """
import fastapi, uvicorn, pydantic
compiled = pydantic.VERSION[0] != "1" or pydantic.compiled
print(fastapi.__version__, f"(uvicorn {uvicorn.__version__}, pydantic {pydantic.VERSION}"
      f"{'' if compiled else ', not compiled'})")
"""
