"""`mishap audit` as a command: exit codes, baselines, reports in files, dry runs, header fields. The target is a small script."""
import fcntl
import json
import os
import re
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import equal, expect, main, open_terminal, parsed, read_terminal, run_program, test, tests_of  # noqa: E402

MISHAP = os.environ["MISHAP_PROGRAM"]
FOLDER = tempfile.TemporaryDirectory()
ENV = {"HOME": FOLDER.name, "XDG_STATE_HOME": FOLDER.name, "MISHAP_DATA": os.path.join(FOLDER.name, "data"), "ASAN_OPTIONS": "detect_leaks=0"}
GOOD = '#!/bin/sh\ncase "$1" in --help) echo "Usage: good"; exit 0;; *) echo "good: unknown: $1" >&2; exit 2;; esac\n'
BAD = ("#!/bin/sh\ncase \"$1\" in --help) echo 'Usage: bad'; exit 3;; *) printf 'Traceback (most recent call last):\\n  File \"/srv/a.py\", line 3, in f\\n"
       "    g()\\nValueError: ]]></failure>\\n::error::planted\\n' >&2; exit 1;; esac\n")


def path(name):
    return os.path.join(FOLDER.name, name)


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return path(name)


def script(name, text):
    write(name, text)
    os.chmod(path(name), stat.S_IRWXU)
    return path(name)


GOOD, BAD = script("good", GOOD), script("bad", BAD)


def audit(target, *options, status=0):
    done = run_program(MISHAP, "audit", "cli", "--rate", "1000", "--time-limit", "60", *options, "--", target, env=ENV)
    equal(done.status, status, done.out[-1500:] + done.err[-500:])
    return done


def envelope(target, *options, status=0):
    found = parsed(audit(target, *options, status=status).out)
    equal(found["ok"], status == 0)
    return found


def failed(found):
    return sorted(check["id"] for check in found["data"]["checks"] if check["outcome"] == "failed")


# ---- Exit codes ----------------------------------------------------------------------------------

@test
def a_good_command_passes_with_a_score_of_100():
    found = envelope(GOOD)
    equal((found["data"]["score"], failed(found), found["data"]["complete"]), (100, [], True))


@test
def a_failed_check_exits_with_79_and_a_leak_makes_the_score_zero():
    found = envelope(BAD, status=79)
    equal(found["error"]["code"], "NONCONFORMING")
    equal(found["error"]["context"]["score"], 0)
    equal((found["data"]["score"], found["data"]["leak"]), (0, True))
    expect({"cli-leak", "cli-help-exit", "cli-flag-named"} <= set(failed(found)), failed(found))
    leak = next(check for check in found["data"]["checks"] if check["id"] == "cli-leak")
    expect("Traceback" in json.dumps(leak) or "a.py" in json.dumps(leak), "the evidence was taken out:", leak)


@test
def two_audits_give_the_same_findings():
    first, second = (envelope(BAD, status=79)["data"] for _ in range(2))
    equal(first, second)


@tests_of({"just so": (GOOD, "100", 0), "below": (BAD, "1", 79), "never": (BAD, "0", 0)})
def fail_under_decides_by_the_score(target, limit, status):
    envelope(target, "--fail-under", limit, status=status)


@test
def a_command_that_does_not_exist_is_no_finding():
    found = parsed(run_program(MISHAP, "audit", "cli", "--", path("nothing"), env=ENV).out)
    expect(found["error"]["code"] != "NONCONFORMING", found["error"])
    equal(found["data"], None)


@tests_of({"a command": (["cli", "git", "status"], "Put -- before the command: mishap audit cli -- git"),
           "a server": (["mcp", "node", "server.mjs"], "Put -- before the command: mishap audit mcp -- COMMAND..."),
           "both": (["cli", "git", "--", "git"], "Run `mishap audit cli --help` to see its options.")})
def words_of_a_command_belong_behind_two_hyphens(words, suggestion):
    done = run_program(MISHAP, "audit", *words, env=ENV)
    equal((done.status, parsed(done.out)["error"]["suggestion"]), (2, suggestion))


@test
def the_usage_has_the_command_once():
    done = run_program(MISHAP, "audit", "cli", "--help", env=ENV)
    expect((done.out + done.err).startswith(b"Usage: mishap audit cli [OPTIONS] -- COMMAND...\n"), done.out + done.err)


@tests_of({"http": "http", "mcp": "mcp"})
def an_address_without_a_scheme_is_told(area):
    error = parsed(run_program(MISHAP, "audit", area, "localhost:8080", env=ENV).out)["error"]
    equal((error["code"], error["message"]), ("INVALID_ARGUMENT", "The URL `localhost:8080` has no scheme: write http://localhost:8080."))
    error = parsed(run_program(MISHAP, "audit", area, "user:hidden@localhost:8080", env=ENV).out)["error"]
    expect("hidden" not in json.dumps(error), error)


# ---- Baselines -----------------------------------------------------------------------------------

@test
def a_baseline_lets_a_build_fail_for_new_findings_only():
    baseline = path("baseline.json")
    written = envelope(BAD, "--write-baseline", baseline)
    equal([warning for warning in written["warnings"] if "written into" in json.dumps(warning)] != [], True, written["warnings"])
    expect("%d findings were written into the baseline" % written["data"]["findings"] in json.dumps(written["warnings"]), written["warnings"])
    found = envelope(BAD, "--baseline", baseline)
    equal((found["data"]["new_findings"], found["data"]["findings"] > 0), (0, True))
    with open(baseline, encoding="utf-8") as file:
        lines = file.read().splitlines()
    equal(len(lines), found["data"]["findings"] + 2, "a line for each finding")
    without = [line.rstrip(",") for line in lines[1:-1] if "cli-help-exit" not in line]
    fewer = write("fewer.json", lines[0] + ",\n".join(without) + lines[-1])
    new = envelope(BAD, "--baseline", fewer, status=79)
    equal(new["data"]["new_findings"], len(lines) - 2 - len(without))
    expect("not in the baseline" in new["error"]["message"], new["error"])
    gone = envelope(GOOD, "--baseline", baseline)
    expect("did not find" in json.dumps(gone["warnings"]), gone["warnings"])
    envelope(BAD, "--baseline", baseline, "--fail-under", "50", status=79)


@test
def the_table_tells_known_findings_from_new_ones():
    baseline = path("known.json")
    count = envelope(BAD, "--write-baseline", baseline)["data"]["findings"]
    text = audit(BAD, "--baseline", baseline, "--output", "text").out.decode()
    expect("Findings: 0 new, %d known." % count in text and ", 0 failed, " in text, text)
    expect("\nKNOWN  cli-help-exit\n" in text and "FAILED" not in text, text)
    with open(baseline, encoding="utf-8") as file:
        lines = file.read().splitlines()
    fewer = write("less.json", lines[0] + ",\n".join(line.rstrip(",") for line in lines[1:-1] if "cli-help-exit" not in line) + lines[-1])
    text = audit(BAD, "--baseline", fewer, "--output", "text", status=79).out.decode()
    expect("Findings: 1 new, %d known." % (count - 1) in text and ", 1 failed, " in text, text)
    expect("\nFAILED  cli-help-exit\n" in text and "\nKNOWN  cli-leak\n" in text, text)


@tests_of({"not JSON": ("{\n  nope", "line 2"), "another document": ('{"a":1}', "mishap_audit_baseline"), "a wrong entry":
           ('{"mishap_audit_baseline":1,"findings":[\n{"fingerprint":"x"}]}', "line 2")})
def a_malformed_baseline_is_refused_with_its_place(text, words):
    target = script("noted", "#!/bin/sh\ntouch %s\n" % path("noticed"))
    found = envelope(target, "--baseline", write("broken.json", text), status=2)
    expect(not os.path.exists(path("noticed")), "the audit was begun")
    equal(found["error"]["code"], "MALFORMED_INPUT")
    expect(words in found["error"]["message"], found["error"])


@test
def a_baseline_that_cannot_be_read_is_no_empty_one():
    equal(envelope(BAD, "--baseline", path("nothing.json"), status=66)["error"]["code"], "INPUT_UNREADABLE")


# ---- Reports -------------------------------------------------------------------------------------

@tests_of({form: form for form in ["table", "json", "sarif", "junit", "github", "html"]})
def a_form_goes_to_standard_output_or_into_a_file(form):
    printed = audit(BAD, "--format", form, status=79)
    expect(b"NONCONFORMING" in printed.err, printed.err)
    file = path("report." + form)
    kept = parsed(audit(BAD, "--format", form, "--report", file, status=79).out)
    equal(kept["error"]["code"], "NONCONFORMING")
    with open(file, "rb") as opened:
        equal(opened.read(), printed.out)
    if form in ("json", "sarif"):
        parsed(printed.out)
    if form == "junit":
        xml.dom.minidom.parseString(printed.out)
    if form == "github":
        expect(all(line.startswith(("::error file=", "::notice ")) for line in printed.out.decode().splitlines()), printed.out)
    if form == "sarif":
        equal(parsed(printed.out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "file://" + BAD)


def on_terminal(*words, columns=0, both=False, **env):
    ours, theirs = open_terminal()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = subprocess.Popen([MISHAP, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs if both else subprocess.DEVNULL, env=dict(os.environ, **ENV, TERM="xterm", **env))
    os.close(theirs)
    shown = b"".join(read_terminal(ours))
    done.wait(180)
    return shown.replace(b"\r\n", b"\n")


@test
def a_terminal_gets_colours_and_nothing_else_does():
    target = script("coloured", "#!/bin/sh\nprintf 'x \\033[1;31mred\\033[2J\\n'; exit 3\n")
    words = ["audit", "cli", "--rate", "1000", "--", target]
    shown = on_terminal(*words)
    expect(b"\x1b[1;31mFAILED\x1b[0m" in shown, shown)
    expect(b"x ?[1;31mred?[2J" in shown, "what the target wrote acts on the terminal:", shown)
    equal(set(re.findall(rb"\x1b\[[^a-zA-Z]*[a-zA-Z]", shown)) - {b"\x1b[1m", b"\x1b[2m", b"\x1b[1;31m", b"\x1b[1;32m", b"\x1b[1;33m", b"\x1b[0m"}, set())
    for plain in (on_terminal(*words, NO_COLOR="1"), run_program(MISHAP, *words[:2], "--output", "text", *words[2:], env=ENV).out,
                  run_program(MISHAP, *words[:2], "--format", "table", *words[2:], env=ENV).out):
        expect(b"FAILED  cli-help-exit" in plain and b"\x1b" not in plain, plain)


@test
def the_failure_stands_below_the_table():
    text = on_terminal("audit", "cli", "--rate", "1000", "--", BAD, both=True, NO_COLOR="1").decode()
    expect(text.index("FAILED  cli-help-exit") < text.index("\npassed\n") < text.index("error NONCONFORMING"), text)
    expect(re.search(r"\nerror NONCONFORMING  \d+ checks failed\.\n(?:  [a-z]+: \d+\n)*    try: [^\n]*\n$", text), "something stands below it:", text[-400:])


@tests_of({"40": (40, 40), "80": (80, 80), "unknown": (0, 80), "132": (132, 132)})
def the_table_is_broken_between_words_at_the_width_of_the_terminal(columns, most):
    target = script("talkative", "#!/bin/sh\necho 'several words that are longer than any line of a narrow terminal, and further ones behind them'; exit 3\n")
    words = ["audit", "cli", "--rate", "1000"]
    wide = run_program(MISHAP, *words, "--output", "text", "--", target, env=ENV).out.decode()
    expect(max(map(len, wide.splitlines())) > 132, "a pipe gets broken lines:", wide)
    for form in ([], ["--format", "table"]):
        text = on_terminal(*words, *form, "--", target, columns=columns, NO_COLOR="1").decode()
        body = text[text.index("\n"):]  # the first line has the name of the target
        expect(max(map(len, body.splitlines())) <= most, text)
        equal([word for word in body.split() if len(word) < 15 and word not in wide.split() and word not in target], [], "a word is broken")


@test
def an_undecided_check_has_a_reason_and_a_command_has_runs():
    text = audit(GOOD, "--output", "text").out.decode()
    expect("cli-envelope: the program prints no error envelope\n" in text, text)
    expect(re.search(r"undecided\. [0-9]+ runs\.", text) and "request" not in text, text)
    text = audit(GOOD, "--output", "text", "--dry-run").out.decode()
    expect(re.search(r"Dry run: [0-9]+ runs would be made\.", text), text)
    writing = script("writing", "#!/bin/sh\necho x > one\necho usage\n")
    text = audit(writing, "--output", "text", status=79).out.decode()
    expect("--help wrote 1 file: one." in text and re.search(r"\n +run   ", text), text)


@test
def the_reasons_of_a_server_that_is_none_are_true():
    """It is a command, and a request was sent."""
    done = run_program(MISHAP, "audit", "mcp", "--", "false", env=ENV)
    equal(done.status, 79, done.out)
    reasons = {row["id"]: row["reason"] for row in parsed(done.out)["data"]["checks"] if row["outcome"] == "undecided"}
    equal([reasons[name] for name in ("mcp-stdout", "mcp-answers", "mcp-json", "mcp-ids", "mcp-bounded")],
          ["only for a command that answers the first request"] + 4 * ["no session was followed to its end"])


@test
def the_location_of_a_report_can_be_named():
    done = audit(BAD, "--format", "github", "--location", "src/main.c", status=79)
    expect(b"::error file=src/main.c,line=1," in done.out, done.out)


@tests_of({"sarif": "sarif", "github": "github"})
def a_report_for_code_scanning_says_that_it_needs_a_file(form):
    words = lambda *more: parsed(run_program(MISHAP, "audit", "cli", "--rate", "1000", "--format", form, "--report", path("located"), *more, env=ENV).out)["warnings"]
    expect("--location FILE" in json.dumps(words("--", "sh", "-c", "exit 1")), "no warning")
    equal((words("--location", "src/main.c", "--", "sh", "-c", "exit 1"), words("--", BAD)), ([], []))


@test
def an_audit_of_a_command_offers_runs():
    done = run_program(MISHAP, "audit", "cli", "--help", env=ENV)
    expect(b"Runs at most" in done.out + done.err and b"Show each run, and start none" in done.out + done.err, done)


@test
def reports_point_at_the_script_of_a_command():
    os.makedirs(path("tree"), exist_ok=True)
    script("tree/tool.sh", "#!/bin/sh\nexit 1\n")
    for words in (["--", "sh", "tool.sh"], ["--location", os.path.realpath(path("tree/tool.sh")), "--", "sh", "tool.sh"], ["--", "sh", "./tool.sh"]):
        done = run_program(MISHAP, "audit", "cli", "--rate", "1000", "--format", "sarif", *words, env=ENV, cwd=path("tree"))
        equal({row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for row in parsed(done.out)["runs"][0]["results"]}, {"tool.sh"})


@tests_of({flag: flag for flag in ["--report", "--write-baseline"]})
def a_file_that_cannot_be_written_is_told_before_the_audit(flag):
    begun = path("begun" + flag)
    target = script("noting" + flag, "#!/bin/sh\ntouch '%s'\n" % begun)
    error = envelope(target, flag, os.path.join(path("nowhere"), "x"), status=74)["error"]
    equal(error["code"], "OUTPUT_FAILED")
    expect("ENOENT" in error["cause"] and "folder" in error["suggestion"], error)
    expect("EISDIR" in envelope(target, flag, FOLDER.name, status=74)["error"]["cause"], "a folder")
    expect(not os.path.exists(begun), "the audit was begun")
    envelope(path("absent"), flag, path("unborn" + flag), status=5)
    expect(not os.path.exists(path("unborn" + flag)), "an empty file stays behind")


# ---- Credentials ---------------------------------------------------------------------------------

PASSWORD, TOKEN = "Zq9vXk2LmP", "ghp_" + "a1B2" * 9
TELLING = """#!/bin/sh
echo 'Usage: telling'
printf 'ValueError: password=%s\\n{"error":"no \\\\"%s\\\\""}\\nDATABASE_URL=postgres://app:%s@db/x\\n' >&2
exit 3
""" % (PASSWORD, TOKEN, PASSWORD)
MCP_TELLING = """import json, sys
for line in sys.stdin:
    try:
        asked = json.loads(line)
    except ValueError:
        asked = {"id": None}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": 1, "message": "x" * 1970 + " %s"}}), flush=True)
""" % TOKEN


def hides(done):
    expect(PASSWORD.encode() not in done.out + done.err, done.out)
    expect(TOKEN[:12].encode() not in done.out + done.err, done.out)


@tests_of({form: form for form in ["table", "json", "sarif", "junit", "github", "html"]})
def no_report_shows_a_credential_of_the_target(form):
    done = audit(script("telling", TELLING), "--format", form, status=79)
    hides(done)
    expect(b"[redacted]" in done.out, done.out)
    hides(run_program(MISHAP, "audit", "mcp", "--rate", "1000", "--format", form, "--", sys.executable, write("telling.py", MCP_TELLING), env=ENV))
    hides(run_program(MISHAP, "audit", "cli", "--dry-run", "--format", form, "--", GOOD, "--password=" + PASSWORD, env=ENV))


# ---- The journal ---------------------------------------------------------------------------------

@test
def findings_are_an_outcome_and_no_incident():
    env = {**ENV, "MISHAP_LOG": path("judged.log")}
    judged = [["audit", "cli", "--rate", "1000", "--", BAD], ["scan", write("leaky", "password=" + PASSWORD)],
              ["check", "--dialect", "problem", write("broken.problem", '{"status":"x"}')]]
    for words in judged:
        for more in ([], ["--output", "text"]):
            equal(run_program(MISHAP, words[0], *more, *words[1:], env=env).status if words[0] != "audit" else
                  run_program(MISHAP, "audit", "cli", *more, *words[2:], env=env).status, 79, words)
    expect(not os.path.exists(path("judged.log")) or not os.path.getsize(path("judged.log")), "there is a record")
    equal(run_program(MISHAP, "scan", path("absent"), env=env).status, 66)
    with open(path("judged.log"), encoding="utf-8") as log:
        expect("INPUT_UNREADABLE" in log.read(), "other failures have a record")


# ---- Commands that cannot be started -------------------------------------------------------------

NOT_EXECUTABLE = write("noexec", "#!/bin/sh\n")
NO_INTERPRETER = script("headless", "echo\n")


@tests_of({"not executable": (NOT_EXECUTABLE, "chmod"), "no interpreter": (NO_INTERPRETER, "#!"), "a folder": (FOLDER.name, "folder")})
def a_command_that_cannot_be_executed_is_told(target, words):
    for area in ("cli", "mcp"):
        done = run_program(MISHAP, "audit", area, "--", target, env=ENV)
        error = parsed(done.out)["error"]
        equal((error["code"], done.status), ("NOT_AUTHORIZED", 7), error)
        expect(words in error["suggestion"] and target in error["message"], error)


# ---- Requests ------------------------------------------------------------------------------------

@test
def a_dry_run_starts_nothing_and_lists_each_run():
    touched = path("touched")
    target = script("touching", "#!/bin/sh\ntouch %s\n" % touched)
    found = envelope(target, "--dry-run")
    expect(found["data"]["planned"] and target in found["data"]["planned"][0]["request"], found["data"])
    equal((found["data"]["requests"], found["data"]["score"], os.path.exists(touched)), (0, None, False))
    expect(b"Dry run:" in audit(target, "--dry-run", "--format", "table").out, "the table")
    expect("mishap-no-such-command" in json.dumps(found["data"]["remarks"]), found["data"])


def planned(*words):
    found = parsed(run_program(MISHAP, "audit", words[0], "--dry-run", *words[1:], env=ENV).out)["data"]
    expect("were sent" not in json.dumps(found["remarks"]), found["remarks"])
    return [row["request"].split(" HTTP/")[0] for row in found["planned"]], json.dumps(found["remarks"])


@test
def a_dry_run_lists_all_requests_that_are_known_before():
    alone = ["GET /", "HEAD /", "OPTIONS /", "GET /mishap-audit-no-such-path", "HEAD /mishap-audit-no-such-path", "GET /%zz", "GET /openapi.json"]
    requests, remarks = planned("http", "http://127.0.0.1:1/")
    equal(requests, alone)
    expect("More requests follow" in remarks and "/openapi.json" in remarks, remarks)
    requests, _ = planned("http", "http://127.0.0.1:1/", "--allow-writes")
    equal(requests, alone[:3] + ["PATCH /"] + alone[3:] + ["POST /"] * 4)
    requests, remarks = planned("mcp", "--", "nothing")
    equal([json.loads(one).get("method") for one in requests if one.endswith("}")],
          ["initialize", "notifications/initialized", "tools/list", "mishap/no-such-method", "tools/call", "tools/call", "ping"])
    expect("tools/list" in remarks, remarks)


@test
def the_budget_of_requests_ends_an_audit_early():
    found = parsed(run_program(MISHAP, "audit", "cli", "--max-requests", "1", "--", GOOD, env=ENV).out)["data"]
    equal((found["requests"], found["complete"]), (1, False))


@test
def the_rate_and_the_time_of_each_run_can_be_set():
    begun = time.monotonic()
    found = parsed(run_program(MISHAP, "audit", "cli", "--max-requests", "3", "--rate", "2.5", "--", GOOD, env=ENV).out)["data"]
    equal(found["requests"], 3)
    expect(time.monotonic() - begun >= 0.8, "two pauses of 0.4 s take", time.monotonic() - begun)
    found = parsed(run_program(MISHAP, "audit", "cli", "--max-requests", "1", "--time-limit", "1", "--", script("waiting", "#!/bin/sh\nsleep 600\n"), env=ENV).out)["data"]
    expect("It did not end within 1000 ms" in json.dumps(found["checks"]), found["checks"][0])  # on a busy machine: … and had to be killed


@test
def an_audit_is_neither_a_tool_nor_a_route():
    manifest = parsed(run_program(MISHAP, "manifest", env=ENV).out)["data"]
    expect("audit.http" in manifest["commands"], "no command")
    call = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    listed = run_program(MISHAP, "mcp", stdin=call + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n', env=ENV)
    expect(b'"id":2' in listed.out and b"audit" not in listed.out, listed.out[-800:])


@test
def completion_and_manual_know_the_words_behind_two_hyphens():
    offered = run_program(MISHAP, "__complete", "audit", "cli", "--", "", env=ENV).out
    expect(offered.startswith(b"files\n"), offered)
    expect(b"--allow-writes" in run_program(MISHAP, "__complete", "audit", "http", "--a", env=ENV).out, "no flag is offered")
    manual = run_program(MISHAP, "manual", env=ENV).out.replace(b"\\-", b"-")
    expect(b"audit cli -- COMMAND..." in manual and b"audit mcp [URL] [-- COMMAND...]" in manual, manual[-2000:])


# ---- Header fields -------------------------------------------------------------------------------

@tests_of({"no colon": "Authorization", "no name": ": x", "a space in the name": "A b: c", "no value": "Name:", "two lines": "A: b\r\nC: d"})
def a_header_field_is_checked_and_its_value_not_shown(field):
    done = run_program(MISHAP, "audit", "http", "http://127.0.0.1:1", "--header", "@" + write("field", field), env=ENV)
    equal(done.status, 2, done.out)
    expect(b"b\\r" not in done.out, done.out)
    expect(b"Value 1 of --header" in done.out and b"Write a name, a colon and a value on one line" in done.out, "what to do:", done.out)


@test
def a_header_field_is_never_taken_from_the_command_line():
    done = run_program(MISHAP, "audit", "http", "http://127.0.0.1:1", "--header", "Authorization: Bearer marker-1", env=ENV)
    equal(done.status, 2)
    expect(b"marker-1" not in done.out + done.err, done.out)


@tests_of({"neither": [], "both": ["http://127.0.0.1:1", "--", "true"]})
def an_mcp_server_is_a_url_or_a_command(words):
    found = parsed(run_program(MISHAP, "audit", "mcp", *words, env=ENV).out)
    equal(found["error"]["code"], "INVALID_ARGUMENT")
    expect(re.search("URL.*COMMAND", found["error"]["suggestion"]), found["error"])


# ---- Without libcurl -----------------------------------------------------------------------------

def without_libcurl():
    """An environment in which it cannot be loaded: an empty file stands where it is looked for first."""
    os.makedirs(path("lib"), exist_ok=True)
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        write(os.path.join("lib", name), "")
    return dict(ENV, LD_LIBRARY_PATH=path("lib"))


@tests_of({"http": ("http", "http://127.0.0.1:9"), "mcp": ("mcp", "http://127.0.0.1:9/mcp")})
def without_libcurl_an_audit_over_http_exits_with_4_and_names_the_package(*words):
    done = run_program(MISHAP, "audit", *words, env=without_libcurl())
    equal(done.status, 4, done.out)
    error = parsed(done.out)["error"]
    equal(error["code"], "PRECONDITION")
    expect("libcurl" in error["message"] and "libcurl4" in error["suggestion"], error)


@test
def all_else_works_without_libcurl():
    env = without_libcurl()
    equal(run_program(MISHAP, "--version", env=env).status, 0)
    done = run_program(MISHAP, "audit", "cli", "--rate", "1000", "--time-limit", "60", "--", GOOD, env=env)
    equal((done.status, parsed(done.out)["data"]["score"]), (0, 100), done.out)


main()
