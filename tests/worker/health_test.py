"""What services say in /health, and what `mishap doctor` says of the machine.

    MISHAP_PROGRAM=… HEALTHY_PROGRAM=… WITHOUT_PROGRAM=… python3 tests/worker/health_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import Server  # noqa: E402

PROGRAM = os.path.abspath(os.environ["MISHAP_PROGRAM"])
HEALTHY = os.path.abspath(os.environ["HEALTHY_PROGRAM"])
WITHOUT = os.path.abspath(os.environ["WITHOUT_PROGRAM"])


def doctor(*command):
    ran = run_program(*(command or (PROGRAM,)), "doctor", "--output", "json", "--trial-seconds", "60")
    return ran.status, parsed(ran.out)


def offered():
    return [row["layer"] for row in doctor()[1]["data"]["sandbox"] if row["offered"]]


def health(*flags, **variables):
    with Server("--workers", "1", *flags, program=HEALTHY, **variables) as found:
        answers = [found.ask("GET", "/health").json for _ in range(3)]
        paths = found.ask("GET", "/openapi.json").json["paths"]
    for answer in answers:
        answer.pop("readers", None)  # of the journal: there is one as soon as its process runs
    equal(answers[1:], answers[:1] * 2, "later answers")
    expect("services" in str(paths["/health"]), "/openapi.json does not describe it")
    return answers[0]


@test
def a_service_says_its_part_of_health_and_one_without_a_word_is_not_named():
    said = health()
    equal(said["status"], "ok", "the status")
    sandbox = said["services"]["warm"].pop("sandbox")
    equal(said["services"], {"warm": {"interpreter": 'sbcl "2.2"', "sessions": 3, "list": [1, {"a": None}]}}, "the services")
    equal((sandbox["mode"], sandbox["layers"]), ("strict", offered()), "the sandbox")


@test
def a_weak_sandbox_is_said_in_every_answer():
    for said in health("--sandbox", "weak"), health(HEALTHY_SANDBOX="weak"):
        equal(said["services"]["warm"]["sandbox"]["mode"], "weak", "the mode")
    equal(health("--sandbox", "strict", HEALTHY_SANDBOX="weak")["services"]["warm"]["sandbox"]["mode"], "strict", "the mode")


@test
def the_server_of_a_program_whose_services_say_nothing_has_no_such_member():
    with Server("--workers", "1", program=os.path.abspath(os.environ["DIRECTORY_PROGRAM"])) as found:
        equal("services" in found.ask("GET", "/health").json, False, "the member")


@test
def the_health_of_mishap_names_the_layers_around_lisp():
    core = [row["found"] for row in doctor()[1]["data"]["programs"] if row["name"] == "mishap-lisp.core"]
    with Server("--workers", "1") as found:
        said = found.ask("GET", "/health").json["services"]["lisp"]
    equal((said["core"], said["sandbox"]), ("found" if core == [True] else "missing", {"mode": "strict", "layers": offered()}), "lisp")
    with Server("--workers", "1", "--lisp-sbcl", "/nonexistent/sbcl") as found:
        equal(found.ask("GET", "/health").json["services"]["lisp"]["sbcl"], "missing", "SBCL")
        refused = found.ask("POST", "/lisp/evaluate", {"code": "1"})
        expect(refused.status == 503 and "package sbcl" in refused.body.decode(), refused.status, refused.body)
        equal(found.ask("GET", "/todos").status, 200, "all else")


@test
def the_doctor_names_each_layer_and_each_program():
    status, answer = doctor()
    data = answer["data"]
    equal([row["layer"] for row in data["sandbox"]],
          ["seccomp", "landlock", "limits", "mounts", "processes", "network", "ipc", "host", "users", "privileges", "groups"], "layers")
    for row in data["sandbox"]:
        equal(sorted(row), ["layer", "offered", "what"] if row["offered"] else ["advice", "layer", "offered", "what", "why_not"], "members")
    have = set(offered())
    ready = {"seccomp", "limits"} <= have and have & {"landlock", "mounts"}
    equal((status, answer["ok"]), (0, True) if ready else (78, False), "the end")
    for row in data["programs"]:
        expect(row["package"] and row["use"] and isinstance(row["found"], bool), "a program", row)
    equal([row["found"] for row in data["programs"] if row["name"] == "python3"], [True], "python3, which runs this")
    expect(data["system"]["files"] > 0 and data["system"]["kernel"], "the system", data["system"])


@test
def the_doctor_finds_nothing_in_an_empty_path():
    ran = run_program(PROGRAM, "doctor", "--output", "json", env={"PATH": "/nonexistent"})
    equal([row["found"] for row in parsed(ran.out)["data"]["programs"] if row["name"] in ("sbcl", "python3")], [False, False], "found")


@test
def without_namespaces_landlock_is_enough():
    status, answer = doctor(WITHOUT, "namespaces", PROGRAM)
    have = {row["layer"] for row in answer["data"]["sandbox"] if row["offered"]}
    equal(have & {"mounts", "processes", "network", "ipc", "host", "users"}, set(), "namespaces")
    if {"seccomp", "limits", "landlock"} <= have:
        equal(status, 0, "the exit code")


@test
def below_the_minimum_the_doctor_fails_and_says_what_is_missing():
    status, answer = doctor(WITHOUT, "namespaces,landlock", PROGRAM)
    equal((status, answer["ok"], answer["error"]["code"]), (78, False, "NOT_CONFIGURED"), "the end")
    rows = {row["layer"]: row for row in answer["data"]["sandbox"]}
    equal((rows["landlock"]["offered"], rows["landlock"]["why_not"]),
          (False, "landlock: Operation not supported (EOPNOTSUPP)"), "landlock")
    equal((rows["mounts"]["offered"], rows["mounts"]["why_not"]), (False, "clone: Operation not permitted (EPERM)"), "mounts")
    expect("lsm=" in answer["error"]["suggestion"], "the suggestion", answer["error"])
    equal(answer["error"]["cause"], "landlock: Operation not supported (EOPNOTSUPP); mounts: clone: Operation not permitted (EPERM)", "the cause")


@test
def a_person_reads_the_whole_advice():
    ran = run_program(WITHOUT, "namespaces,landlock", PROGRAM, "doctor", "--output", "text", env={"PATH": "/nonexistent"})
    text = ran.out.decode()
    expect(ran.status == 78 and b"NOT_CONFIGURED" in ran.err, ran.status, ran.err)
    for part in ("  MISSING  network     no network, in a network namespace\n           why:  clone: Operation not permitted (EPERM)\n"
                 "           try:  Allow user namespaces.\n",
                 "  MISSING  python3           running Python\n           try:  Install the package python3.\n",
                 "\nForeign programs, such as Lisp sessions, are refused: the sandbox is below its minimum.\n",
                 "What needs a missing program or library answers NOT_CONFIGURED. Everything else works.\n"):
        expect(part in text, "no", part, "in", text)
    ran = run_program(WITHOUT, "namespaces", PROGRAM, "doctor", "--output", "text")
    if ran.status == 0:
        expect("The sandbox is above its minimum, with " in ran.out.decode(), "the end", ran.out)


main()
