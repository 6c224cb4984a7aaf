"""The examples of docs/todo.md, docs/artifacts.md, docs/symbolic.md and docs/http.md for real: each line of a `sh` block, one after the other.

    MISHAP_PROGRAM=… python3 tests/http/docs_test.py [PART-OF-A-NAME]

Speaks TAP. The server runs already, on another port, so lines that start one are left out. A comment below a line is
what it prints, with `…` for anything; the time of day in it is any time.
"""
import os
import re
import shutil

import server
from blackbox import Skipped, equal, expect, main, parsed, run_program, test
from server import TREE, Server

if not shutil.which("curl"):
    print("1..0 # SKIP there is no curl")
    raise SystemExit

PLACE = os.path.join(server.FOLDER, "place")  # with the program, and ./data
os.mkdir(PLACE)
os.symlink(server.PROGRAM, os.path.join(PLACE, "mishap"))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def examples(name):
    """(line, what it prints or "") of all blocks of a document."""
    with open(os.path.join(TREE, "docs", name), encoding="utf-8") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)
    found = []
    for line in "".join(blocks).splitlines():
        if line.startswith("#"):
            found[-1][1] += line[1:].strip()
        else:
            found.append([line, ""])
    return found


def run_line(line, found, **placeholders):
    """Run a line as a reader would, but against this server; what it printed."""
    for name, value in {"localhost:8080": found.url, "/srv/todo": found.data, **placeholders}.items():
        line = line.replace(name, value)
    expect("…" not in line.split("#")[0], "nobody can run this:", line)
    ran = run_program("sh", "-c", line, cwd=PLACE, env={"PATH": PLACE + ":" + os.environ["PATH"]})
    equal(ran.status, 0, "exit of %s, which said %r" % (line, ran.err))
    return ran.out


def expect_output(output, expected, line):
    pattern = re.escape(TIME.sub("…", expected)).replace("…", ".*")
    expect(re.fullmatch(pattern, TIME.sub("…", output.decode().strip())), line, "prints", output, "and not", expected)


@test
def the_examples_of_the_todo_service_work():
    with Server("--workers", "1", "--chaos", data=os.path.join(PLACE, "data")) as found:
        for number in range(1, 6):  # what the example of a list has before it
            equal(found.ask("POST", "/todos", {"title": "todo %d" % number}).status, 201)
            equal(found.ask("PATCH", "/todos/%d" % number, {"done": number in (2, 3)}).status, 200)
        lines = [line for line in examples("todo.md") if not line[0].startswith("mishap serve")]
        expect(len(lines) >= 6, "only these were found:", lines)
        for line, expected in lines:
            if "chaos" in line:
                if server.CONTAINED:  # else the sanitizer would end the process
                    expect(run_line(line, found).startswith(b"HTTP/1.1 500 "), line)
                continue
            output = run_line(line, found)
            if expected:
                expect_output(output, expected, line)
            elif "users get" in line:
                equal(parsed(output)["data"]["name"], "Ada")
            else:
                equal([item["id"] for item in parsed(output)["items"]], ["5"], "the second page")


@test
def the_examples_of_the_artifacts_work():
    with Server("--workers", "1", data=os.path.join(PLACE, "data")) as found:
        lines = [line for line in examples("artifacts.md") if not line[0].startswith("mishap serve")]
        expect(len(lines) >= 9 and all(expected for _, expected in lines), "only these were found:", lines)
        for line, expected in lines:
            expect_output(run_line(line, found), expected, line)


@test
def the_examples_of_the_symbolic_service_work():
    with Server("--workers", "1", data=os.path.join(PLACE, "data")) as found:
        if found.ask("GET", "/symbolic/health", checked=False).status == 503:
            raise Skipped("Mishap was built without the symbolic engine")
        lines = [line for line in examples("symbolic.md") if not line[0].startswith("mishap serve")]
        expect(len(lines) >= 9 and all(expected or line.startswith("printf") for line, expected in lines), "only these were found:", lines)
        for line, expected in lines:
            expect_output(run_line(line, found), expected, line)


@test
def the_examples_of_keys_work():
    with Server("--workers", "1") as found:
        lines = [line for line, _ in examples("http.md") if not line.startswith("mishap serve")]
        equal([re.match(r"curl|mishap keys \w+", line)[0] for line in lines],
              ["mishap keys add", "mishap keys list", "mishap keys remove", "mishap keys disable", "curl"], "the examples")
        key = parsed(run_line(lines[0], found))["data"]["key"]
    with Server("--workers", "1", "--require-key", data=found.data) as found:
        equal(found.ask("GET", "/todos").status, 401, "without a key the status")
        output = run_line(lines[4], found, **{"mk_…": key, " …": " %s/todos" % found.url})
        equal(parsed(output)["items"], [], "the items")
        expect(b"ci" in run_line(lines[1], found), "the key is not listed")
        run_line(lines[2], found)
        equal(parsed(run_line(lines[3], found))["data"], {"disabled": True}, "what `keys disable` says")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
