"""The program behind notebook.c: it reads calls from its socket, runs their code and writes the answers."""
import json, os, signal, socket

server = socket.socket(fileno=3)
variables = {}
running = False


def send(message):
    text = json.dumps(message).encode()
    pieces = [text[at:at + 65535] for at in range(0, len(text), 65535)]
    for number, piece in enumerate(pieces):
        first, last = number == 0, number == len(pieces) - 1
        server.send((b"=" if first and last else b"<" if first else b">" if last else b"-") + piece)


def receive():
    text = b""
    while True:
        packet = server.recv(65536)
        if not packet:
            os._exit(0)
        text = packet[1:] if packet[:1] in b"=<" else text + packet[1:]
        if packet[:1] in b"=>":
            return json.loads(text)


def interrupt(*_):  # the time of the call is over, or its caller has cancelled it
    global running
    if running:
        running = False
        raise TimeoutError


signal.signal(signal.SIGINT, interrupt)
send({"ready": 1})
while True:
    call = receive()
    try:
        running = True
        exec(call["arguments"]["code"], variables)
        running = False
        end = {"answer": {"answer": repr(variables.get("answer"))}}
    except TimeoutError:
        end = {"failure": {"code": "TIMEOUT"}}
    except Exception as error:
        end = {"failure": {"code": "RUNTIME_ERROR", "message": f"{type(error).__name__}: {error}"}}
    running = False
    send({"id": call["id"], **end})
