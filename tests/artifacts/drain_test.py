"""A server that is told to stop and still serves the sessions that it has (`serve --drain-minutes`): alone, and behind nginx with docs/nginx-cluster.conf.

    MISHAP_PROGRAM=… python3 tests/artifacts/drain_test.py [PART-OF-A-NAME]

Speaks TAP. What needs nginx, openssl or SBCL is skipped where that is missing.
"""
import os
import shutil
import signal
import sys
import time

import world  # noqa: F401  which knows where the others are
from blackbox import Skipped, equal, expect, main, parsed, run_program, test
from nginx import NGINX, OPENSSL, Nginx
from server import FOLDER, PROGRAM, TREE, Server, all_ended_in_order, free_port, secrets, wait_for

sys.path.insert(0, os.path.join(TREE, "tests", "mcp"))
from exchange import Session, call, initialize, message, raw  # noqa: E402

DOCUMENTED = ["10.0.0.%d:8080" % number for number in (11, 12, 13)]
ENDS = "Mishap-Session-Ends"


def evaluate(where, code, session=None, fields=None):
    more = {**(fields or {}), **({"Mishap-Session": session} if session else {})}
    return where.ask("POST", "/lisp/evaluate", {"code": code}, fields=more, checked=False)


def begin(where, fields=None):
    """A Lisp session that knows 41."""
    answer = evaluate(where, "(defvar *x* 41)", fields=fields)
    if answer.status == 503 and b"NOT_CONFIGURED" in answer.body:
        raise Skipped("there is no Lisp here")
    equal(answer.status, 200, "a session begins: %r" % answer)
    return answer["Mishap-Session"]


def knows(where, session, fields=None):
    answer = evaluate(where, "(1+ *x*)", session, fields)
    equal((answer.status, answer.json.get("values")), (200, ["42"]), "a session that goes on: %r" % answer)
    return answer


def is_draining(found):
    answer = found.ask("GET", "/ready", checked=False)
    return answer.status == 503 and b'"draining"' in answer.body


def tell_to_stop(found):
    found.process.send_signal(signal.SIGTERM)
    expect(wait_for(lambda: is_draining(found)), "it does not drain")


def close(where, session, fields=None):
    """The process of the session ends after this answer."""
    answer = where.ask("POST", "/lisp/reset", {}, fields={**(fields or {}), "Mishap-Session": session}, checked=False)
    equal(answer.status, 200, "a session is closed: %r" % answer)


def refused(found, fields=None):
    """A session that may not begin."""
    answer = evaluate(found, "1", fields=fields)
    equal((answer.status, answer["Retry-After"]), (503, "1"), "a session that would begin: %r" % answer)
    return answer


# ---- One server -----------------------------------------------------------------------------------


@test
def a_lisp_session_goes_on_and_the_server_ends_with_it():
    with Server("--workers", "1", "--service", "lisp,todo", "--drain-minutes", "30") as found:
        session, other = begin(found), begin(found)
        equal(knows(found, session)[ENDS], None, "it ends")
        tell_to_stop(found)
        refused(found)
        answer = knows(found, session)
        expect(0 < int(answer[ENDS]) <= 1800, "when it ends:", answer[ENDS])
        expect("The server stops in" in (answer["Warning"] or ""), "a warning:", answer["Warning"])
        equal(evaluate(found, "(error \"x\")", session)[ENDS] is not None, True, "when it ends, in a failure")
        equal(found.ask("GET", "/todos").status, 200, "a call without a session")
        equal(evaluate(found, "1", "0" * 48).status, 404, "a session that never was")
        close(found, session)
        knows(found, other)
        equal(found.process.poll(), None, "the server has ended with one of two sessions")
        close(found, other)
        equal(found.wait().status, 0, "the end")


@test
def sessions_that_no_loop_uses_are_waited_for():
    """A loop is replaced: the session is with the keeper then, until it is used again."""
    with Server("--workers", "1", "--service", "lisp", "--drain-minutes", "30") as found:
        session = begin(found)
        loop = found.workers()
        found.process.send_signal(signal.SIGUSR1)
        expect(wait_for(lambda: found.workers() and not set(found.workers()) & set(loop)), "the loop is not replaced")
        tell_to_stop(found)
        refused(found)
        time.sleep(1.5)  # loops say five times a second whether they have sessions
        knows(found, session)
        time.sleep(1.5)
        knows(found, session)
        close(found, session)
        equal(found.wait().status, 0, "the end")


@test
def without_a_session_the_server_ends_at_once():
    with Server("--workers", "2", "--service", "todo", "--drain-minutes", "30") as found:
        equal(found.ask("GET", "/todos").status, 200)
        equal(found.stop().status, 0, "the end")
        expect(b"stopping when no session is left, in 1800 s at the latest" in found.read(found.stderr), "what it says:", found.read(found.stderr))


@test
def with_drain_ms_it_waits_for_that_in_any_case():
    with Server("--workers", "1", "--service", "todo", "--drain-minutes", "30", "--drain-ms", "1500") as found:
        tell_to_stop(found)
        equal(found.ask("GET", "/todos").status, 200, "a call meanwhile")
        equal(found.wait().status, 0, "the end")


@test
def a_second_signal_ends_it():
    with Server("--workers", "1", "--service", "lisp", "--drain-minutes", "30") as found:
        begin(found)
        end_now(found)


@test
def an_agent_is_told_and_its_session_goes_on():
    with Server("--workers", "1", "--service", "todo", "--drain-minutes", "30") as found:
        session = Session(found)
        equal(session.post(message("tools/list"))[ENDS], None, "it ends")
        with session.exchange("GET", Accept="text/event-stream") as stream:
            tell_to_stop(found)
            told = stream.event().json
            equal((told["method"], told["params"]["level"]), ("notifications/message", "warning"))
            expect(0 < told["params"]["data"]["ends_in_s"] <= 1800, "when it ends:", told)
            answer = session.post(call("create_todo", {"title": "one"}))
            expect("one" in str(answer.json["result"]) and 0 < int(answer[ENDS]) <= 1800, "a call:", answer.json)
            with found.connect() as connection:
                connection.send(raw("POST", initialize()))
                begun = connection.response("POST", "/mcp", checked=False)
            equal((begun.status, begun["Retry-After"], begun["Mcp-Session-Id"]), (503, "1", None), "a session that would begin: %r" % begun)
            equal(found.process.poll(), None, "the server has ended")
            equal(session.exchange("DELETE").status, 204)
        equal(found.wait().status, 0, "the end")


@test
def a_session_that_another_server_can_restore_is_refused():
    """After a restart without its table, the server would have to begin it anew."""
    data = os.path.join(FOLDER, "restored")
    with Server("--workers", "1", "--service", "lisp,todo", "--drain-minutes", "30", data=data) as found:
        session = Session(found)
        end_now(found)
    with Server("--workers", "1", "--service", "lisp,todo", "--drain-minutes", "30", data=data) as found:
        begin(found)
        tell_to_stop(found)
        session.server = found
        answer = session.exchange("POST", message("tools/list"))
        equal((answer.status, answer["Retry-After"]), (503, "1"), "a session that would be restored")
        end_now(found)


def end_now(found):
    """With the sessions that it has."""
    if found.process.poll() is None:
        found.process.send_signal(signal.SIGTERM)
        wait_for(lambda: found.process.poll() is not None or b"stopping when" in found.read(found.stderr))
        found.process.send_signal(signal.SIGTERM)
    found.wait()


# ---- Behind nginx ---------------------------------------------------------------------------------


class Machine:
    def __init__(self, number, first):
        self.number, self.port, self.found = number, free_port(), None
        self.data = os.path.join(FOLDER, "drained-%d" % number)
        os.makedirs(self.data, exist_ok=True)
        for name in ("keys", "mcp-sessions") if first else ():
            shutil.copy(os.path.join(first.data, name), os.path.join(self.data, name))

    def start(self):
        self.found = Server("--workers", "1", "--require-key", "--service", "lisp,todo", "--server-number", str(self.number + 1), "--drain-minutes", "30",
                            data=self.data, listen="127.0.0.1:%d" % self.port)
        return self


@test
def a_lisp_session_survives_a_rolling_restart_until_it_is_closed():
    if not NGINX or not OPENSSL:
        raise Skipped("there is no nginx or no openssl")
    first = Machine(0, None)
    key = parsed(run_program(PROGRAM, "keys", "add", "--name", "one", "--data", first.data, "--output", "json").out)["data"]["key"]
    secrets.add(key)
    fields = {"Authorization": "Bearer " + key}
    machines = [first.start(), *(Machine(number, first).start() for number in (1, 2))]
    nginx = Nginx("nginx-cluster.conf", {**dict(zip(DOCUMENTED, ("127.0.0.1:%d" % one.port for one in machines))), "fail_timeout=2s": "fail_timeout=1s"})
    try:
        session = begin(nginx, fields)
        own = machines[int(session[:2], 16) - 1]
        agent = Session(nginx, fields=fields)
        for one in (own, *(one for one in machines if one is not own)):
            old = one.found
            held = [session] if one is own else []
            tell_to_stop(old)
            refused(old, fields)
            for number in range(10):
                equal(nginx.ask("GET", "/todos", fields=fields).status, 200, "a call without a session")
                for handle in held:
                    expect(int(knows(nginx, handle, fields)[ENDS]) > 0, "it does not say when it ends")
                other = begin(nginx, fields)
                knows(nginx, other, fields)
                expect(one is not own or other[:2] != session[:2], "a session begins where none may:", other)
                close(nginx, other, fields)
                equal(agent.post(message("tools/list")).status, 200, "a session of an agent")
                equal(Session(nginx, fields=fields).exchange("DELETE").status, 204, "an agent that comes and goes")
            if held:
                equal(old.process.poll(), None, "the server has ended before its session")
                close(nginx, session, fields)
            equal(agent.exchange("DELETE").status, 204)
            equal(old.wait().status, 0, "the end")
            one.start()
            agent = Session(nginx, fields=fields)
        equal(agent.exchange("DELETE").status, 204)
    finally:
        nginx.stop()
        for one in machines:
            end_now(one.found)


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
