"""A server of another program, for the tests of the gateway: it does what it is told by the arguments of its tools.

    gateway_server.py FOLDER

Each line that it gets is appended to FOLDER/lines, the id of each of its processes to FOLDER/pids, and when it starts to FOLDER/starts. If
FOLDER/broken exists, it ends at once. Its tools:

    echo   read-only: says its text again             pay    the same, but is neither read-only nor idempotent
    fail   answers with the message in FOLDER/answer, with the id of the call; so do all resources
    write  writes the member `raw` to its output first     hang   never answers      progress   reports, then answers
    die    dies, if FOLDER/died does not exist yet         ask    asks the client, and answers with what it says
    daemon leaves a process behind that has left its group
"""
import json
import os
import signal
import sys
import time

FOLDER = sys.argv[1]
ANY = {"type": "object"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["text"], "additionalProperties": False}
TOOLS = [{"name": name, "inputSchema": TEXT if name in ("echo", "pay") else ANY,
          "annotations": {"readOnlyHint": name in ("echo", "die_echo"), "idempotentHint": name == "die_idempotent"}}
         for name in ("echo", "pay", "fail", "write", "hang", "progress", "die", "die_echo", "die_idempotent", "ask", "daemon", "stubborn")]


def note(name, text):
    with open(os.path.join(FOLDER, name), "a", encoding="utf-8") as file:
        file.write(text + "\n")


def put(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def say(number, text):
    put({"id": number, "result": {"content": [{"type": "text", "text": text}]}})


def read_answer():
    with open(os.path.join(FOLDER, "answer"), encoding="utf-8") as file:
        return json.load(file)


def die_once(number, text):
    try:
        os.close(os.open(os.path.join(FOLDER, "died"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        say(number, text)
        return
    os.kill(os.getpid(), signal.SIGKILL)


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note("pids", str(os.getpid()))
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1000)
        os._exit(0)


def call(number, params):
    name, given = params["name"], params.get("arguments", {})
    if name in ("echo", "pay"):
        say(number, given["text"])
    elif name == "fail":
        put(dict(read_answer(), id=number))
    elif name == "write":
        raw = given["raw"].encode("latin-1")
        for _ in range(given.get("times", 1)):
            sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        say(number, "written")
    elif name == "progress":
        for i in range(given["times"]):
            time.sleep(given["pause"])
            put({"method": "notifications/progress", "params": {"progressToken": params["_meta"]["progressToken"], "progress": i}})
        say(number, "done")
    elif name == "die":
        os._exit(3)
    elif name in ("die_echo", "die_idempotent"):
        die_once(number, "alive")
    elif name == "ask":
        put({"id": 0, "method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": ANY}})
        waiting.append(number)
    elif name == "daemon":
        daemon()
        say(number, "left behind")
    elif name == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say(number, "stubborn")
        while True:
            time.sleep(1000)


waiting = []
note("starts", repr(time.monotonic()))
if os.path.exists(os.path.join(FOLDER, "broken")):
    sys.exit(3)
note("pids", str(os.getpid()))
for line in sys.stdin:
    note("lines", line.rstrip("\n"))
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if not method:
        say(waiting.pop(), json.dumps(message.get("result") or message["error"]))
    elif method == "initialize":
        put({"id": number, "result": {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                                      "serverInfo": {"name": "other", "version": "1"}}})
    elif method == "tools/list":
        put({"id": number, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        call(number, message["params"])
    elif method == "resources/read":
        put(dict(read_answer(), id=number))
    elif number is not None:
        put({"id": number, "error": {"code": -32601, "message": "Method not found"}})
