"""Tasks that ask: over HTTP, on both engines, and when processes are killed meanwhile.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/asks_test.py [PART-OF-A-NAME]

Speaks TAP. tests/task/worker.c is the program.
"""
import contextlib
import os
import signal
import sqlite3
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "store"), HERE]
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import Closed, Server, free_port, name_of, processes, wait_until  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
NOW = {"Prefer": "respond-async, wait=0"}
SURE = {"answers": {"sure": {"sure": True}}}
server.secrets.add("MISHAP-PRIVATE-7f3a9c")


class Tasks(Server):
    def __init__(self, *flags, **more):
        super().__init__("--workers", "2", *flags, program=PROGRAM, **more)
        self.notes = os.path.join(self.folder, "notes")

    def begin(self, number=1, target="/ask", fields=(), **more):
        found = self.ask("POST", target, {"number": number, "file": self.notes, **more}, {**NOW, **dict(fields)})
        equal(found.status, 202, "a task")
        return found["Location"]

    def until(self, path, states, fields=()):
        """503 has advice to ask again: the process of the tasks may have been killed, and the next one starts."""
        def look():
            with contextlib.suppress(Closed, OSError):
                found = self.ask("GET", path, fields=fields)
                if found.status == 503:
                    return None
                equal(found.status, 200, "a task that was promised")
                return found if found.json["state"] in states else None
            return None
        return wait_until(look, "its state is none of %r" % (states,))

    def asking(self, path, fields=()):
        return self.until(path, ("asking",), fields).json

    def ended(self, path, fields=()):
        return self.until(path, ("succeeded", "failed", "cancelled"), fields).json

    def reply(self, path, answers, fields=()):
        return self.ask("POST", path + "/answers", answers, fields)

    def runs(self, word, number=1):
        with contextlib.suppress(FileNotFoundError), open(self.notes) as file:
            return sum(line.split()[:2] == [word, str(number)] for line in file)
        return 0


def tree(found):
    """All processes of a server, without those that it keeps for later calls."""
    family, all_of = {found.process.pid}, list(processes())
    for _ in range(4):
        family |= {pid for pid, parent in all_of if parent in family}
    return family


def kill(found, name):
    for pid in tree(found):
        if name_of(pid) == name:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


# ---- An answer, and what is none ------------------------------------------------------------------

@test
def a_task_asks_and_goes_on_with_the_answer():
    with Tasks() as found:
        path = found.begin(7)
        told = found.asking(path)
        question = told["questions"]["sure"]
        equal((list(told["questions"]), question["message"], question["schema"]["required"]), (["sure"], "Do number 7?", ["sure"]), "what it asks")
        expect(told["expires"] > told["updated"], "how long it asks:", told)
        early = found.ask("GET", path + "/answer")
        equal((early.status, early.json["error"]), (409, "conflict"), "there is no answer yet")
        given = found.reply(path, SURE)
        equal((given.status, given.json["id"]), (200, told["id"]), "the answer is taken")
        equal(found.ended(path)["state"], "succeeded", "its end")
        equal(found.ask("GET", path + "/answer").json, {"number": 7, "sure": True, "place": ""}, "its answer")
        late = found.reply(path, SURE)
        equal((late.status, late.json["error"]), (409, "conflict"), "an answer that comes late")
        equal((found.runs("asked", 7), found.runs("end", 7)), (2, 1), "runs")


@test
def some_answers_leave_the_rest_open():
    with Tasks() as found:
        path = found.begin(both=True)
        equal(sorted(found.asking(path)["questions"]), ["place", "sure"], "two questions")
        given = found.reply(path, {"answers": {"place": {"place": "here"}}})
        equal((given.status, given.json["state"], list(given.json["questions"])), (200, "asking", ["sure"]), "one is left")
        again = found.reply(path, {"answers": {"place": {"place": "there"}}})
        equal((again.status, again.json["details"][0]["field"]), (422, "place"), "it was answered")
        equal(found.reply(path, SURE).status, 200, "the other one")
        found.ended(path)
        equal(found.ask("GET", path + "/answer").json["place"], "here", "its answer")


@test
def a_wrong_answer_leaves_it_asking_with_what_is_wrong():
    with Tasks() as found:
        path = found.begin()
        found.asking(path)
        for wrong, field in [({"sure": {"sure": "perhaps"}}, "sure.sure"), ({"sure": {}}, "sure.sure"), ({"sure": 7}, "sure")]:
            given = found.reply(path, {"answers": wrong})
            equal((given.status, given.json["details"][0]["field"]), (422, field), wrong)
            told = found.ask("GET", path).json
            expect(told["state"] == "asking" and told["questions"]["sure"]["message"].startswith("Do number 1? ("), "what is wrong:", told)
        message = told["questions"]["sure"]["message"]
        for other in [{"answers": {"none": {}}}, {"answers": 7}, {"other": {}}, {}, [], {"answers": {"sure": {"sure": True}, "x": 1}}]:
            equal(found.reply(path, other).status // 100, 4, other)
        equal(found.ask("GET", path).json["questions"]["sure"]["message"], message, "mistakes of the form change nothing")
        equal(found.runs("asked"), 1, "the handler does not run for a wrong answer")
        equal(found.reply(path, SURE).status, 200, "the right one")
        equal(found.ended(path)["state"], "succeeded", "its end")


@test
def after_eight_rounds_it_is_cancelled():
    with Tasks() as found:
        path = found.begin()
        found.asking(path)
        for round_ in range(8):
            equal(found.ask("GET", path).json["state"], "asking", "round %d" % round_)
            found.reply(path, {"answers": {"sure": {"sure": 1}}})
        equal(found.ask("GET", path).json["state"], "cancelled", "its end")
        equal(found.ask("GET", path + "/answer").json["error"], "cancelled", "its answer")


@test
def who_declines_cancels_unless_the_handler_looks():
    with Tasks() as found:
        path, lenient = found.begin(), found.begin(target="/lenient")
        for one in (path, lenient):
            found.asking(one)
            equal(found.reply(one, {"answers": {"sure": None}}).status, 200, "declined")
        equal(found.ended(path)["state"], "cancelled", "its end")
        equal(found.ask("GET", path + "/answer").json["error"], "cancelled", "its answer")
        equal((found.ended(lenient)["state"], found.ask("GET", lenient + "/answer").json), ("succeeded", {"declined": True}), "the other")


@test
def a_question_that_comes_early_is_that_of_a_call():
    with Tasks() as found:
        early = found.ask("POST", "/ask", {"number": 1}, {"Prefer": "respond-async"})
        equal((early.status, early.json["error"], list(early.json["details"]["questions"])), (428, "input_required", ["sure"]), "no task yet")
        given = {"number": 1, "_state": early.json["details"]["state"], "_answers": SURE["answers"]}
        equal(found.ask("POST", "/ask", given, {"Prefer": "respond-async"}).json["sure"], True, "a fast call")
        path = found.ask("POST", "/ask", given, NOW)
        expect(path.status in (200, 202), "the answers come with a call that becomes a task:", path)
        if path.status == 202:
            equal(found.ended(path["Location"])["state"], "succeeded", "it asks no second time")
        plain = found.ask("POST", "/ask", {"number": 1})
        equal(plain.status, 428, "a caller that takes no task")


@test
def two_answers_at_once_count_once():
    with Tasks() as found:
        for number in range(1, 21):
            path, statuses = found.begin(number), []
            found.asking(path)

            def give(path=path, statuses=statuses):
                statuses.append(found.reply(path, SURE).status)
            threads = [threading.Thread(target=give) for _ in range(4)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            equal(sorted(statuses), [200, 409, 409, 409], "statuses")
            equal((found.ended(path)["state"], found.runs("end", number)), ("succeeded", 1), "its end")


@test
def a_task_that_asks_can_be_cancelled_and_then_removed():
    with Tasks() as found:
        path = found.begin()
        found.asking(path)
        gone = found.ask("DELETE", path)
        equal((gone.status, gone.json["state"]), (202, "cancelled"), "it is cancelled")
        equal(found.reply(path, SURE).status, 409, "an answer")
        equal((found.ask("DELETE", path).status, found.ask("GET", path).status), (204, 404), "it is removed")


@test
def an_old_question_ends_with_an_incident():
    clock = os.path.join(server.FOLDER, "clock-of-questions")
    open(clock, "w").close()
    with Tasks("--task-hours", "1", WORKER_CLOCK=clock) as found:
        path = found.begin()
        told = found.asking(path)
        with open(clock, "w") as file:
            file.write("x" * 3700)
        equal(found.ended(path)["state"], "failed", "its end")
        answer = found.ask("GET", path + "/answer")
        equal(answer.json["error"], "timeout", "its answer")
        equal(found.reply(path, SURE).status, 409, "an answer")
        with contextlib.closing(sqlite3.connect(os.path.join(found.data, "tasks.sqlite"))) as store:
            incident = store.execute("SELECT incident FROM tasks").fetchone()[0]
        expect("was not answered" in found.wait_for_log(incident), "no record of", told)


# ---- Callers, and what they must not see ----------------------------------------------------------

def key_of(data, name, *more):
    answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json", *more)
    key = parsed(answer.out)["data"]["key"]
    server.secrets.add(key)
    return {"Authorization": "Bearer " + key}


@test
def only_its_caller_may_answer():
    data = os.path.join(server.FOLDER, "askers")
    os.mkdir(data)
    ada, bob = key_of(data, "ada"), key_of(data, "bob")
    with Tasks("--require-key", data=data) as found:
        path = found.begin(fields=ada)
        told = found.asking(path, ada)
        equal((found.reply(path, SURE, bob).status, found.reply(path, SURE).status), (404, 401), "other callers")
        for wrong in ["/tasks/x", "/tasks/" + "A" * 43, path[:-1], path + "A"]:
            equal(found.reply(wrong, SURE, ada).status, 404, wrong)
        equal(found.ask("GET", path, fields=ada).json, told, "nothing has changed")
        equal(found.reply(path, SURE, ada).status, 200, "its caller")
        equal(found.ended(path, ada)["state"], "succeeded", "its end")
        waits = found.begin(2, fields=ada)
        found.asking(waits, ada)
        run_program(PROGRAM, "keys", "block", "ada", "--data", data, "--output", "json")

        def cancelled():
            with contextlib.closing(sqlite3.connect(os.path.join(data, "tasks.sqlite"))) as store:
                return store.execute("SELECT count(*) FROM tasks WHERE state = 4").fetchone()[0] == 1
        wait_until(cancelled, "a caller that is blocked has a task that asks")


@test
def the_scopes_of_now_count():
    data = os.path.join(server.FOLDER, "scopes")
    os.mkdir(data)
    eve = key_of(data, "eve", "--scope", "call,work:do")
    with Tasks("--require-key", data=data) as found:
        path = found.begin(target="/scoped-ask", fields=eve)
        found.asking(path, eve)
        with open(os.path.join(data, "keys")) as file:
            text = file.read()
        with open(os.open(os.path.join(data, "keys.new"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(text.replace("call,work:do", "call"))
        os.rename(os.path.join(data, "keys.new"), os.path.join(data, "keys"))
        wait_until(lambda: found.ask("POST", "/scoped-ask", {}, eve).status == 403, "the key has its scope")
        wait_until(lambda: "questions" not in found.ask("GET", path, fields=eve).json, "the question needs the scope")
        wait_until(lambda: found.reply(path, SURE, eve).status == 403, "the answer needs it")
        equal(found.ask("GET", path, fields=eve).json["state"], "asking", "nothing has changed")


@test
def a_version_with_other_scopes_runs_no_task_that_needs_one():
    data = os.path.join(server.FOLDER, "versions")
    os.mkdir(data)
    eve = key_of(data, "eve", "--scope", "call,work:do")
    with Tasks("--require-key", data=data) as found:
        path, other = found.begin(target="/scoped-ask", fields=eve), found.begin(2, fields=eve)
        for one in (path, other):
            found.asking(one, eve)
    with contextlib.closing(sqlite3.connect(os.path.join(data, "tasks.sqlite"))) as store, store:
        store.execute("UPDATE tasks SET scopes = scopes + 1")  # the mark of another list
    with Tasks("--require-key", data=data) as found:
        for one, state in ((path, "failed"), (other, "succeeded")):
            equal(found.reply(one, SURE, eve).status, 200, "the answer")
            equal(found.ended(one, eve)["state"], state, "its end")
        equal(found.ask("GET", path + "/answer", fields=eve).json["error"], "forbidden", "why")


@test
def a_question_has_nothing_private():
    with Tasks() as found:
        path = found.begin(target="/leaky")
        expect("A stack trace was removed here." in found.asking(path)["questions"]["sure"]["message"], "the trace")
        equal(found.reply(path, SURE).status, 200, "the answer")
        equal(found.ended(path)["state"], "succeeded", "its end")
        # server.py searches each response for the marker


@test
def its_description_has_the_answers():
    with Tasks() as found:
        document = found.ask("GET", "/openapi.json").json
        post = document["paths"]["/tasks/{id}/answers"]["post"]
        equal(sorted(post["requestBody"]["content"]["application/json"]["schema"]["properties"]), ["answers"], "its body")
        states = document["paths"]["/tasks/{id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["state"]["enum"]
        expect("asking" in states, "the states:", states)


# ---- Processes -----------------------------------------------------------------------------------

@tests_of({"of workers": "mishap-handler", "of loops": "mishap-loop", "of the keeper": "mishap-keeper", "of the process of tasks": "mishap-tasks"})
def kill_9(name):
    with Tasks() as found:
        paths = {number: found.begin(number, both=number % 2 == 0) for number in range(1, 9)}
        told = {number: found.asking(path) for number, path in paths.items()}
        kill(found, name)
        for number, path in paths.items():
            equal(found.asking(path), told[number], "it asks as before")
        for number, path in paths.items():
            answers = {"sure": {"sure": True}, **({"place": {"place": "x"}} if number % 2 == 0 else {})}
            wait_until(lambda path=path, answers=answers: again(found, path, {"answers": answers}), "it takes no answer")
        for number, path in paths.items():
            equal((found.ended(path)["state"], found.runs("end", number)), ("succeeded", 1), "it ends once")


def again(found, path, answers):
    with contextlib.suppress(Closed, OSError):
        return found.reply(path, answers).status in (200, 409)
    return False


def across_restart(*flags):
    data = os.path.join(server.FOLDER, "restart-%d" % len(os.listdir(server.FOLDER)))
    os.mkdir(data)
    listen = "127.0.0.1:%d" % free_port()
    first = Tasks(*flags, data=data, listen=listen)
    notes = first.notes
    paths = {number: first.begin(number, both=True) for number in range(1, 7)}
    for path in paths.values():
        first.asking(path)
    first.reply(paths[1], {"answers": {"place": {"place": "before"}}})
    first.process.kill()
    first.process.wait()
    first.note_end()
    with Tasks(*flags, data=data, listen=listen) as found:
        found.notes = notes
        equal(list(found.asking(paths[1])["questions"]), ["sure"], "an answer before the end of the server")
        for number, path in paths.items():
            found.asking(path)
            answers = {"sure": {"sure": True}, **({"place": {"place": "after"}} if number > 1 else {})}
            equal(found.reply(path, {"answers": answers}).status, 200, "the answer")
        for number, path in paths.items():
            equal((found.ended(path)["state"], found.runs("end", number)), ("succeeded", 1), "it ends once")
            equal(found.ask("GET", path + "/answer").json["place"], "after" if number > 1 else "before", "the answers")


@test
def kill_9_of_the_server():
    across_restart()


@test
def with_postgresql_a_task_asks_as_well():
    if not postgres.folder_of_programs():
        raise Skipped("PostgreSQL is not installed")
    with postgres.Cluster() as cluster:
        store = ["--task-store", cluster.address()]
        across_restart(*store)
        with Tasks(*store) as one, Tasks(*store) as two:
            path = one.begin(1)
            one.asking(path)
            equal(list(two.asking(path)["questions"]), ["sure"], "another server")
            cluster.stop(signal.SIGKILL)
            cluster.start()
            wait_until(lambda: again(two, path, SURE), "it takes no answer")
            equal((one.ended(path)["state"], one.runs("end")), ("succeeded", 1), "the server that has made it runs it")
            paths = {number: one.begin(number) for number in range(2, 12)}
            for number, path in paths.items():
                one.asking(path)
                statuses = []
                threads = [threading.Thread(target=lambda of=of, path=path: statuses.append(of.reply(path, SURE).status)) for of in (one, two)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                equal(sorted(statuses), [200, 409], "two servers")
                equal((one.ended(path)["state"], one.runs("end", number)), ("succeeded", 1), "it ends once")


@test
def a_thousand_questions_hold_no_process():
    with Tasks("--task-limit", "2000") as found:
        first = found.begin(1)
        found.asking(first)
        before = len(tree(found))
        paths = [found.begin(number) for number in range(2, 1001)]
        for path in paths[-3:] + paths[:3]:
            found.asking(path)

        def asking():
            with contextlib.closing(sqlite3.connect(os.path.join(found.data, "tasks.sqlite"))) as store:
                return store.execute("SELECT count(*) FROM tasks WHERE state = 5").fetchone()[0] == 1000
        wait_until(asking, "not all of them ask")
        equal(found.ask("GET", "/plain").status, 200, "a quick call")
        expect(len(tree(found)) <= before + 8, "processes:", len(tree(found)), "before:", before)
        for path in (first, paths[500]):
            equal(found.reply(path, SURE).status, 200, "the answer")
            equal(found.ended(path)["state"], "succeeded", "its end")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
