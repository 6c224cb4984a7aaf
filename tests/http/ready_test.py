"""/ready: whether requests should be sent to a server, and what is missing; --drain-ms: how it stops.

    MISHAP_PROGRAM=… python3 tests/http/ready_test.py [PART-OF-A-NAME]
"""
import contextlib
import os
import signal
import threading
import time

import server
from blackbox import equal, expect, main, test
from server import Closed, Server, wait_for


def missing(answer):
    """What a 503 names, in its details; its message says the same in words."""
    equal((answer.status, answer.json["error"]), (503, "unavailable"))
    expect(answer.json["message"].startswith("The server is not ready: "), answer)
    return answer.json["details"]["missing"]


@test
def a_server_that_works_is_ready():
    with Server("--workers", "2", "--service", "todo") as found:
        answer = found.ask("GET", "/ready")
        equal((answer.status, answer.json), (200, {"status": "ready", "services": {}}))
        equal(found.ask("HEAD", "/ready").status, 200)
        described = found.ask("GET", "/openapi.json").json["paths"]["/ready"]["get"]["responses"]
        expect({"200", "503"} <= set(described), "the API description:", described)


@test
def a_store_that_cannot_be_opened_is_named():
    with Server("--workers", "2", "--service", "todo") as found:
        equal(found.ask("POST", "/todos", {"title": "a"}).status, 201)
        for pid in found.handlers():
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(pid, signal.SIGKILL)
        expect(wait_for(lambda: not found.handlers()), "the handlers live on")
        store = os.path.join(found.data, "todo.sqlite")
        os.rename(store, store + ".away")
        expect(wait_for(lambda: found.ask("GET", "/todos").status == 503 and found.ask("GET", "/ready").status == 503), "it stays ready")
        answer = found.ask("GET", "/ready")
        equal(missing(answer), [{"what": "store", "service": "todo"}])
        equal(answer.json["message"], "The server is not ready: the store of todo cannot be opened.")
        equal(answer.json["details"]["services"]["todo"]["state"], "unavailable")
        other = found.ask("GET", "/nowhere").id  # what was recorded before it is in the log with it
        expect(wait_for(lambda: other in found.read(found.log).decode()), "no record")
        expect(answer.id not in found.read(found.log).decode() and "not ready" not in found.read(found.log).decode(), "a probe is recorded")
        equal(found.ask("GET", "/ready", fields={"Accept": "application/problem+json"}).json["status"], 503, "as a problem")
        equal(found.ask("GET", "/health").status, 200, "it is alive")
        os.rename(store + ".away", store)
        expect(wait_for(lambda: found.ask("GET", "/ready").status == 200), "it is never ready again")


@test
def a_server_that_drains_is_not_ready_and_still_accepts():
    with Server("--workers", "2", "--service", "todo", "--drain-ms", "600000") as found:
        with found.connect() as before:
            equal(before.ask("GET", "/ready").status, 200)
            found.process.send_signal(signal.SIGTERM)
            expect(wait_for(lambda: found.ask("GET", "/ready").status == 503), "it says nothing")
            expect(wait_for(lambda: before.ask("GET", "/ready").status == 503), "the other loop says nothing")
        for _ in range(20):  # each on a new connection, so both loops have some
            expect(wait_for(lambda: found.ask("GET", "/ready").status == 503), "a loop that was not told")
            equal(found.ask("POST", "/todos", {"title": "a"}).status, 201, "what is still served")
        answer = found.ask("GET", "/ready")
        equal(missing(answer), [{"what": "draining"}])
        equal(answer.json["message"], "The server is not ready: it is about to stop.")
        equal(found.ask("GET", "/health").json["status"], "ok", "it is alive")
        # A loop that is begun now knows it, too.
        old = found.workers()
        for pid in old:
            os.kill(pid, signal.SIGKILL)
        expect(wait_for(lambda: len(found.workers()) == 2 and not set(old) & set(found.workers())), "no new loops")
        for _ in range(10):
            equal(missing(found.ask("GET", "/ready")), [{"what": "draining"}])
        # The second signal ends it at once.
        found.process.send_signal(signal.SIGTERM)
        equal(found.wait().status, 0, "how it ended")


def stops_after(seconds):
    """Whether it said that it drains before its time was over: on a busy machine it may end unseen."""
    with Server("--workers", "2", "--service", "todo", "--drain-ms", str(1000 * seconds)) as found:
        begun, said = time.monotonic(), False
        found.process.send_signal(signal.SIGTERM)
        while not said and found.process.poll() is None:
            with contextlib.suppress(OSError, Closed):
                said = found.ask("GET", "/ready").status == 503
        equal(found.wait().status, 0, "how it ended")
        expect(time.monotonic() - begun >= seconds, "it has not waited")
        expect(b"mishap: stopping in %d ms\n" % (1000 * seconds) in found.read(found.stderr), found.read(found.stderr))
        return said


@test
def it_stops_when_the_time_is_over():
    expect(any(stops_after(seconds) for seconds in (2, 10, 40)), "it says nothing")


@test
def no_request_is_lost_while_it_drains():
    """A client that looks at /ready before each request, as a load balancer does, is never refused."""
    lost, done = [], []

    def call(found):
        while True:
            try:
                if found.ask("GET", "/ready").status != 200:
                    return done.append(1)
                found.ask("GET", "/todos")
            except (OSError, Closed) as error:
                return lost.append(error)
    with Server("--workers", "2", "--service", "todo", "--drain-ms", "20000") as found:
        clients = [threading.Thread(target=call, args=(found,)) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(0.2)
        found.process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join()
        equal((lost, len(done)), ([], 4), "clients that were refused")
        found.process.send_signal(signal.SIGTERM)
        found.wait()


@test
def without_the_flag_it_stops_at_once():
    with Server("--workers", "1", "--service", "todo") as found:
        equal(found.stop().status, 0)
        expect(b"stopping in" not in found.read(found.stderr), found.read(found.stderr))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
