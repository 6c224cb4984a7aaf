"""The reports of an audit, whose target is hostile (hostile.c): each form is read as its readers read it.

SARIF is held against the schema of OASIS; without the npm package that has it, and without Chromium, these cases are skipped.
MISHAP_SCREENSHOTS=DIR writes pictures of the pages.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["cli", "mcp"]:
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from node import NODE_MODULES, node_22  # noqa: E402

HOSTILE = os.environ["HOSTILE_PROGRAM"]
SCHEMA = os.path.join(NODE_MODULES, "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")
WAYS = {"hostile": (), "known": ("known",), "dry": ("dry",), "plain": ("plain",), "plain and dry": ("plain", "dry"), "an address": ("address",)}


def report(form, *ways):
    done = run_program(HOSTILE, form, *ways)
    equal((done.status, done.err), (0, b""), "exit and stderr")
    expect(done.out.endswith(b"\n") or form == "json", "no line feed at the end")
    return done.out


FORMS = ["table", "json", "sarif", "junit", "github", "html"]


@tests_of({"%s, %s" % (form, way): (form, ways) for form in FORMS for way, ways in WAYS.items()})
def a_report_is_the_same_each_time_and_harmless_to_a_terminal(form, ways):
    found = report(form, *ways)
    equal(report(form, *ways), found)
    text = found.decode("utf-8")  # valid UTF-8
    expect(len(found) < 60000, "a report of", len(found), "bytes: a text of 1 MB was not cut")
    expect(not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text), "a control character")
    if form not in ("json", "sarif"):  # these are for programs
        expect(not re.search("[\u0080-\u009f\u202a-\u202e\u2028\u2029\u2066-\u2069]", text), "a character that changes the direction or ends a line")
    if form in ("table", "github"):
        expect("\r" not in text, "a carriage return")


# ---- JSON ----------------------------------------------------------------------------------------

@test
def json_has_all_findings_and_the_score():
    found = parsed(report("json"))
    equal((found["area"], found["failed"], found["advice"], found["undecided"], found["passed"]), ("http", 1, 1, 3, 1))
    equal((found["score"], found["leak"], found["findings"], found["new_findings"]), (50, False, 3, 3))
    first = found["checks"][0]
    equal((first["id"], first["outcome"], len(first["findings"])), ("http-500", "failed", 3))
    expect(all(re.fullmatch("[0-9a-f]{16}", row["fingerprint"]) for row in first["findings"]), first)
    expect(any("</script>" in row["detail"] for row in first["findings"] if "detail" in row), "the text as it was")
    expect(all(len(row.get("got", "").encode()) <= 2000 for row in first["findings"]), "a text is too long")
    equal(parsed(report("json", "known"))["new_findings"], 0)
    leaking = parsed(report("json", "plain"))
    equal((leaking["leak"], leaking["score"]), (True, 0), "a leak of high confidence")
    equal(len(parsed(report("json", "dry"))["planned"]), 1)


# ---- SARIF ---------------------------------------------------------------------------------------

@test
def sarif_validates_against_its_schema():
    if not os.path.exists(SCHEMA) or not os.path.isdir(os.path.join(NODE_MODULES, "ajv-draft-04")):
        raise Skipped("the schema of SARIF is not installed")
    done = run_program(node_22(), os.path.join(HERE, "sarif.mjs"), NODE_MODULES, SCHEMA,
                       stdin=b"".join(report("sarif", *ways) for ways in WAYS.values()))
    equal((done.status, done.out), (0, b""), done.err)
    planted = report("sarif").replace(b'"ruleId"', b'"ruleid"')
    done = run_program(node_22(), os.path.join(HERE, "sarif.mjs"), NODE_MODULES, SCHEMA, stdin=planted)
    expect(done.status == 1 and b"ruleid" in done.out or b"additional" in done.out, "a wrong log is accepted:", done.out)


@test
def sarif_has_what_code_scanning_needs():
    log = parsed(report("sarif"))
    run = log["runs"][0]
    equal(log["version"], "2.1.0")
    rules = run["tool"]["driver"]["rules"]
    equal(len({rule["id"] for rule in rules}), 6)
    equal(sorted({row["level"] for row in run["results"]}), ["error", "note"])
    for row in run["results"]:
        equal(rules[row["ruleIndex"]]["id"], row["ruleId"])
        expect(re.fullmatch("[0-9a-f]{16}", row["partialFingerprints"]["mishapAudit/v1"]), row)
        place = row["locations"][0]["physicalLocation"]
        equal(place["artifactLocation"]["uri"], "api/open%20api%3A%3C%22%25%3E,%C3%A9.json")
        expect(place["region"]["startLine"] >= 1, place)
        expect(row["message"]["text"], row)
    equal(len({row["partialFingerprints"]["mishapAudit/v1"] + row["ruleId"] for row in run["results"]}), len(run["results"]))
    equal({row.get("baselineState") for row in run["results"]}, {"new", None})
    equal({row.get("baselineState") for row in parsed(report("sarif", "known"))["runs"][0]["results"]}, {"unchanged", None})


@test
def sarif_has_no_location_with_another_scheme_than_file():
    """Code scanning refuses a log with one: "SARIF URI scheme "http" did not match the checkout URI scheme "file"." """
    def uris(*ways):
        return {row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for row in parsed(report("sarif", *ways))["runs"][0]["results"]}
    equal(uris("plain", "address"), {"127.0.0.1/api%20v1/"})
    equal(uris("plain"), {"openapi.json"})
    for uri in uris("address"):
        expect(re.fullmatch(r"(?:[-A-Za-z0-9._~!$&'()*+,;=@/]|%[0-9A-F]{2})+", uri) and not uri.startswith("/"), uri)


@test
def undecided_and_known_checks_are_told_in_each_form():
    reasons = {"http-quiet": "No operation has required fields."}
    for row in parsed(report("json", "plain"))["checks"]:
        equal(row.get("reason"), reasons.get(row["id"]))
        equal(row.get("known"), False if row["outcome"] == "failed" else None)
    equal([row["known"] for row in parsed(report("json", "plain", "known"))["checks"] if row["outcome"] == "failed"], [True] * 3)
    equal({row["reason"] for row in parsed(report("json"))["checks"][1:3]}, {"no response was seen"})
    told = parsed(report("sarif", "plain"))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    equal([(row["associatedRule"], row["message"]["text"]) for row in told if "associatedRule" in row],
          [({"id": "http-quiet", "index": 4}, "http-quiet is undecided: No operation has required fields.")])
    cases = xml.etree.ElementTree.fromstring(report("junit", "plain")).findall(".//testcase")
    equal([case.find("skipped").get("message") for case in cases if case.find("skipped") is not None], ["undecided: No operation has required fields."])
    cases = xml.etree.ElementTree.fromstring(report("junit", "plain", "known")).findall(".//testcase")
    equal([case.find("system-out").text.startswith("known: ") for case in cases if case.find("system-out") is not None], [True] * 3 + [False])
    page = report("html", "plain", "known").decode()
    expect("<h2>Known (3)</h2>" in page and "<h2>Failed" not in page and "<dt>Undecided</dt><dd>No operation has required fields.</dd>" in page, page)
    expect("<h2>Failed (3)</h2>" in report("html", "plain").decode(), "what is new is failed")


# ---- JUnit ---------------------------------------------------------------------------------------

@tests_of(WAYS)
def junit_is_well_formed(*ways):
    text = report("junit", *ways)
    xml.dom.minidom.parseString(text)
    suites = xml.etree.ElementTree.fromstring(text)
    cases = suites.findall("testsuite/testcase")
    equal(int(suites.get("tests")), len(cases))
    equal(int(suites.get("failures")), len(suites.findall(".//failure")))
    equal(int(suites.get("skipped")), len(suites.findall(".//skipped")))
    equal({element.tag for element in suites.iter()} - {"testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"}, set())


@test
def junit_keeps_the_text_and_fails_for_new_findings_only():
    suites = xml.etree.ElementTree.fromstring(report("junit"))
    expect("]]>" in suites.find(".//failure").text, "the text is not there")
    equal(suites.get("failures"), "1")
    equal(xml.etree.ElementTree.fromstring(report("junit", "known")).get("failures"), "0")


# ---- GitHub --------------------------------------------------------------------------------------

@tests_of(WAYS)
def each_line_for_github_is_one_command_of_ours(*ways):
    for line in report("github", *ways).decode("utf-8").split("\n")[:-1]:
        found = re.fullmatch(r"::(error|notice) (?:file=([^:,]*),line=(\d+),)?title=([^:,]*)::(.*)", line, re.S)
        expect(found, "no command:", line)
        expect(re.fullmatch(r"(?:[^%]|%25|%0A|%0D)*", found[5], re.S), "not escaped:", found[5])
        expect(found[4] in ("mishap audit", "http-500", "http-leak", "http-405-allow", "http-coercion"), found[4])


@test
def annotations_are_for_new_findings():
    lines = report("github").decode("utf-8").split("\n")
    equal(sum(line.startswith("::error") for line in lines), 3)
    expect(any("file=api/open api%3A<\"%25>%2Cé.json,line=7,title=http-500::" in line for line in lines), lines[0])
    equal(sum(line.startswith("::error") for line in report("github", "known").decode("utf-8").split("\n")), 0)
    expect("::error title=http-500::POST /users: Malformed" in report("github", "plain", "address").decode("utf-8"), "without a file")


# ---- The table -----------------------------------------------------------------------------------

@test
def the_table_has_what_failed_first_with_reason_and_remedy():
    text = report("table", "plain").decode("utf-8")
    order = [text.index(word) for word in ("Score 0 of 100", "FAILED  http-500", "FAILED  http-leak", "advice  http-coercion", "\nundecided\n", "\npassed\n")]
    equal(sorted(order), order, "the order")
    for words in ("why   RFC 9110, 15.6.1", "fix   Answer malformed requests with 400.", "at    POST /users", "Malformed JSON is answered with 500.",
                  "sent  POST /users HTTP/1.1", "got   HTTP/1.1 500 Internal Server Error", "http-quiet: No operation has required fields.",
                  "POST /users (201)"):
        expect(words in text, words, "is not in", text)
    expect("\n::error" not in report("table").decode("utf-8"), "a line of the target begins a line")


@test
def a_dry_run_shows_each_request_as_it_would_be_sent():
    text = report("table", "plain", "dry").decode("utf-8")
    expect("Dry run: 1 request would be sent." in text, text)
    expect("# 1: POST /users\nPOST /users HTTP/1.1\nHost: 127.0.0.1\n\n{\n" in text, text)


# ---- The page ------------------------------------------------------------------------------------

@test
def the_page_opens_in_a_browser_without_a_word_in_its_console():
    chromium = shutil.which("chromium")
    missing = [name for name in ["playwright-core", "axe-core"] if not os.path.isdir(os.path.join(NODE_MODULES, name))]
    if not chromium or missing:
        raise Skipped("there is no " + " and no ".join(missing or ["chromium"]))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for way, ways in list(WAYS.items()) if os.environ.get("MISHAP_SCREENSHOTS") else [("hostile", ()), ("dry", ("dry",))]:
            files.append(os.path.join(folder, way.replace(" ", "-") + ".html"))
            with open(files[-1], "wb") as file:
                file.write(report("html", *ways))
        done = subprocess.run([node_22(), os.path.join(HERE, "page.mjs"), NODE_MODULES, chromium, os.environ.get("MISHAP_SCREENSHOTS", ""), *files],
                              capture_output=True, text=True, timeout=400, check=False)
    equal(done.returncode, 0, done.stderr[-1500:])
    told = [json.loads(line) for line in done.stdout.splitlines()]
    equal([os.path.basename(row["file"]) for row in told], [os.path.basename(file) for file in files])
    equal([row["wrong"] for row in told], [[] for _ in files])


main()
