"""Black-box tests of the `mishap` program: what it prints, where, and how it exits.

    MISHAP_PROGRAM=build/mishap python3 tests/cli/cli_test.py [PART-OF-A-NAME]

Speaks TAP. A table holds the inputs of each kind; one function says what must hold for a row of it. Every
envelope that any test sees is kept, and at the end all of them must conform to cli-envelope, strictly.
MISHAP_SANITIZED=1 leaves out the bound on memory.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import blackbox
from blackbox import PATIENCE, SANITIZED, Skipped, equal, environment_of, expect, main, parsed, run_program, test, tests_of, open_terminal

PROGRAM = os.path.abspath(os.environ["MISHAP_PROGRAM"])
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEXT_DIALECT = "condition-report"
DIALECTS = ["condition-report", "cli-envelope", "artifact", "http-api", "tool-result", "problem", "json-rpc",
            "google-rpc", "json-api", "graphql", "canonical"]
JSON_DIALECTS = [dialect for dialect in DIALECTS if dialect != TEXT_DIALECT]

NOT_FOUND = b'{"code":"NOT_FOUND","message":"Todo not found."}'
GOOD = b'{"error":"not_found","message":"Todo not found"}'     # conforms to http-api, strictly too
CUSTOM = b'{"error":"payment_required","message":"Pay first"}'  # conforms, but not strictly
BAD = b'{"error":"Not Found","message":""}'                     # breaks two rules

# ---- Running the program -------------------------------------------------------------------------

envelopes = []  # (name of the test, bytes)


def mishap(*arguments, **more):
    return run_program(PROGRAM, *arguments, **more)


def envelope(answer, status=None, code=None):
    """The one object on stdout, which must be an envelope, with nothing on stderr and an exit to match."""
    equal(answer.err, b"", "stderr")
    expect(answer.out.endswith(b"\n") and answer.out.count(b"\n") == 1, "stdout is not one line:", answer.out)
    found = parsed(answer.out)
    envelopes.append((blackbox.current, answer.out))
    equal(list(found), ["ok", "data", "error", "warnings", "meta"], "the keys")
    expect(isinstance(found["data"], (dict, list, type(None))), "data:", found["data"])
    equal(found["warnings"], [], "warnings")
    expect(isinstance(found["meta"]["duration_ms"], int) and found["meta"]["duration_ms"] >= 0, found["meta"])
    equal(found["ok"], answer.status == 0, "ok")
    equal(found["error"] is None, found["ok"], "no error")
    error = found["error"]
    if error:
        expect(re.fullmatch("[A-Z][A-Z0-9_]+", error["code"]), "code:", error["code"])
        expect(re.fullmatch(r"[A-Z`].*[.)]", error["message"], re.S), "no sentence:", error["message"])
        expect(isinstance(error["retryable"], bool), "retryable:", error)
        expect(error["suggestion"], "no suggestion:", error)
    if status is not None:
        equal(answer.status, status, "the exit code")
    if code is not None:
        equal(error and error["code"], code, "the error code")
    return found


def says_where(found, line=None, column=None):
    """The message names a line and a column, and the context has the same as numbers."""
    message = found["error"]["message"]
    named = re.search(r"line (\d+), column (\d+)", message, re.I)
    expect(named, "no line and column in:", message)
    told = found["error"].get("context", {})
    if "line" in told:
        equal([told["line"], told["column"]], [int(named[1]), int(named[2])], "the place in the context")
    if line:
        equal([int(named[1]), int(named[2])], [line, column], "the place")


# ---- Golden documents ----------------------------------------------------------------------------

def golden_cases():
    """DIALECT/CASE: (dialect, mishap.json, expected)."""
    rows = {}
    for dialect in DIALECTS:
        folder = os.path.join(TESTS, "golden", dialect)
        for case in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, case, "mishap.json"), "rb") as file:
                source = file.read()
            with open(os.path.join(folder, case, "expected"), "rb") as file:
                rows["%s/%s" % (dialect, case)] = (dialect, source, file.read())
    return rows


def normal(dialect, document):
    """A document without what may vary: the white space of JSON, the last line feed, duration_ms."""
    if dialect == TEXT_DIALECT:
        return document.rstrip(b"\n")
    # Numbers as they stand, keys in their order: only white space is lost.
    values = json.loads(document.decode("utf-8"), object_pairs_hook=list, parse_float=str, parse_int=str)
    text = json.dumps(values)
    return re.sub(r'\["duration_ms", "\d+"\]', '["duration_ms", ""]', text)


GOLDEN = golden_cases()


@tests_of(GOLDEN)
def render_gives_the_golden_document(dialect, source, expected):
    answer = mishap("render", "--dialect", dialect, stdin=source)
    equal((answer.status, answer.err), (0, b""), "exit and stderr")
    expect(answer.out.endswith(b"\n"), "no line feed at the end of", answer.out)
    equal(normal(dialect, answer.out), normal(dialect, expected), "the rendering")
    if dialect != TEXT_DIALECT:
        equal(answer.out.count(b"\n"), 1, "line feeds")


@tests_of(GOLDEN)
def check_accepts_the_golden_document(dialect, source, expected):
    found = envelope(mishap("check", "--dialect", dialect, stdin=expected), 0)
    equal((found["data"]["dialect"], found["data"]["documents"], found["data"]["errors"]), (dialect, 1, 0))


@tests_of(GOLDEN)
def translate_to_the_same_dialect_changes_nothing(dialect, source, expected):
    answer = mishap("translate", "--from", dialect, "--to", dialect, stdin=expected)
    equal((answer.status, answer.err), (0, b""), "exit and stderr")
    equal(normal(dialect, answer.out), normal(dialect, expected), "the translation")


@tests_of({dialect: dialect for dialect in DIALECTS})
def translate_to_each_dialect_gives_what_check_accepts(dialect):
    source = mishap("render", "--dialect", dialect, stdin=NOT_FOUND).out
    for other in DIALECTS:
        answer = mishap("translate", "--from", dialect, "--to", other, stdin=source)
        equal((answer.status, answer.err), (0, b""), "exit and stderr")
        envelope(mishap("check", "--dialect", other, stdin=answer.out), 0)


@tests_of({dialect: dialect for dialect in DIALECTS})
def every_dialect_has_golden_documents(dialect):
    expect(any(row[0] == dialect for row in GOLDEN.values()), "there is none")


# ---- Malformed input -----------------------------------------------------------------------------

DEEP = 129
NO_JSON = {  # not JSON in any dialect: input, line, column
    "empty": (b"", 1, 1),
    "white space": (b" \n\n ", 1, 1),
    "no JSON": (b"hello", 1, 1),
    "cut off": (NOT_FOUND[:-1], 1, len(NOT_FOUND)),
    "cut off in a string": (b'{"code":"NOT_FO', 1, 16),
    "on the third line": (b'{\n  "code": "NOT_FOUND",\n  oops\n}', 3, 3),
    "two documents": (NOT_FOUND + NOT_FOUND, 1, len(NOT_FOUND) + 1),
    "trailing comma": (b'{"code":"NOT_FOUND",}', 1, 20),
    "comment": (b'{} // no', 1, 4),
    "single quotes": (b"{'code':'NOT_FOUND'}", 1, 2),
    "NaN": (b'{"a":NaN}', 1, 6),
    "byte order mark": (b"\xef\xbb\xbf" + NOT_FOUND, 1, 1),
    "UTF-16": ('{"code":"NOT_FOUND"}'.encode("utf-16"), 1, 1),
    "invalid UTF-8": (b'{"code":"NOT_FOUND","message":"a\xffb"}', 1, 33),
    "overlong UTF-8": (b'{"code":"NOT_FOUND","message":"\xc0\xaf"}', 1, 32),
    "surrogate in UTF-8": (b'{"code":"NOT_FOUND","message":"\xed\xa0\x80"}', 1, 32),
    "NUL byte": (b"\0", 1, 1),
    "NUL byte in a string": (b'{"code":"NOT_FOUND","message":"a\0b"}', 1, 33),
    "NUL byte at the end": (NOT_FOUND + b"\0", 1, len(NOT_FOUND) + 1),
    "raw line feed in a string": (b'{"code":"NOT_FOUND","message":"a\nb"}', 1, 33),
    "a hundred open brackets": (b"[" * 100, 1, 101),
    "a megabyte of open brackets": (b"[" * (1 << 20), 1, (1 << 20) + 1),
    "open brackets and objects": (b'{"a":[' * 1000, None, None),
}
NO_MISHAP = {  # JSON, but nothing that can be read as a mishap in any dialect
    "null": b"null",
    "number": b"5",
    "string": b'"NOT_FOUND"',
    "array": b"[" + NOT_FOUND + b"]",
    "empty object": b"{}",
    "duplicate keys": b'{"code":"NOT_FOUND","code":"NOT_FOUND","message":"Gone."}',
    "duplicate keys, one escaped": b'{"code":"NOT_FOUND","c\\u006fde":"NOT_FOUND","message":"Gone."}',
    "duplicate keys inside": b'{"code":"NOT_FOUND","message":"Gone.","context":{"a":{"b":1,"b":2}}}',
    "NUL in a key": b'{"code":"NOT_FOUND","message":"Gone.","a\\u0000b":1}',
    "too deep": b'{"code":"NOT_FOUND","message":"Gone.","context":{"a":' + b"[" * DEEP + b"]" * DEEP + b"}}",
}
NO_CANONICAL = {  # an object, but not a canonical one
    "code missing": b'{"message":"Gone."}',
    "code null": b'{"code":null,"message":"Gone."}',
    "code a number": b'{"code":404,"message":"Gone."}',
    "code in small letters": b'{"code":"not_found","message":"Gone."}',
    "code of one letter": b'{"code":"N","message":"Gone."}',
    "code empty": b'{"code":"","message":"Gone."}',
    "code with a line feed at its end": b'{"code":"NOT_FOUND\\n","message":"Gone."}',
    "message an object": b'{"code":"NOT_FOUND","message":{}}',
    "category unknown": b'{"code":"NOT_FOUND","message":"Gone.","category":"weather"}',
    "retryable a string": b'{"code":"NOT_FOUND","message":"Gone.","retryable":"no"}',
    "retry_after_ms a string": b'{"code":"RATE_LIMITED","message":"Wait.","retry_after_ms":"5"}',
    "retry_after_ms negative": b'{"code":"RATE_LIMITED","message":"Wait.","retry_after_ms":-5}',
    "retry_after_ms a fraction": b'{"code":"RATE_LIMITED","message":"Wait.","retry_after_ms":0.5}',
    "context an array": b'{"code":"NOT_FOUND","message":"Gone.","context":[]}',
    "fields an object": b'{"code":"VALIDATION_ERROR","message":"No.","fields":{}}',
    "field without a name": b'{"code":"VALIDATION_ERROR","message":"No.","fields":[{"error":"field_required"}]}',
    "field without an error": b'{"code":"VALIDATION_ERROR","message":"No.","fields":[{"field":"a"}]}',
    "backtrace of numbers": b'{"code":"NOT_FOUND","message":"Gone.","backtrace":[1]}',
    "unknown member": b'{"code":"NOT_FOUND","message":"Gone.","status":404}',
}


@tests_of(NO_JSON)
def what_is_no_JSON_is_refused_with_its_place(source, line, column):
    for arguments in [("render", "--dialect", "http-api"), ("translate", "--from", "http-api", "--to", "canonical"),
                      ("check", "--dialect", "http-api"), ("check", "--dialect", "canonical", "--strict")]:
        found = envelope(mishap(*arguments, stdin=source), 2, "MALFORMED_INPUT")
        says_where(found, line, column)
        equal(found["data"], None, "data")


@tests_of(dict(NO_MISHAP, **NO_CANONICAL))
def what_is_no_canonical_mishap_is_refused_with_its_place(source):
    for dialect in ["canonical", "cli-envelope", TEXT_DIALECT]:
        says_where(envelope(mishap("render", "--dialect", dialect, stdin=source), 2, "MALFORMED_INPUT"))


@tests_of({dialect: dialect for dialect in JSON_DIALECTS})
def translate_refuses_malformed_input(dialect):
    for source in [row[0] for row in NO_JSON.values()] + list(NO_MISHAP.values()):
        if len(source) < 1000 or dialect == "canonical":
            found = envelope(mishap("translate", "--from", dialect, "--to", "http-api", stdin=source), 2,
                             "MALFORMED_INPUT")
            says_where(found)


@tests_of({"empty": b"", "prose": b"hello", "no backtrace": b"[ERROR] TYPE-ERROR\nNo number.\n",
           "no type": b"[ERROR]\nNo number.\n\n[Backtrace]\n0: (F)\n",
           "wrong order": b"[Backtrace]\n0: (F)\n\n[ERROR] TYPE-ERROR\nNo number.\n"})
def translate_refuses_a_report_without_its_sections(source):
    says_where(envelope(mishap("translate", "--from", TEXT_DIALECT, "--to", "canonical", stdin=source), 2,
                        "MALFORMED_INPUT"))


FASTAPI = b'{"detail":[{"loc":["body","age"],"msg":"Field required","type":"missing"}]}'
UPSTREAM = {
    "a body and its status": (["--status", "422"], FASTAPI, b'{"error":"validation_error","message":"Validation failed",'
                              b'"details":[{"field":"age","error":"field_required"}]}\n'),
    "a response with its head": ([], b"HTTP/1.1 422 No\r\nContent-Type: application/json\r\n\r\n" + FASTAPI,
                                 b'{"error":"validation_error","message":"Validation failed","details":[{"field":"age","error":"field_required"}]}\n'),
    "a status that replaces that of the head": (["--status", "404"], b"HTTP/1.1 200 OK\r\n\r\nThere is no user 7.\n",
                                                b'{"error":"not_found","message":"There is no user 7."}\n'),
    "a body of no shape": (["--status", "404", "--content-type", "image/png"], b"\x89PNG\r\n\x00", b'{"error":"not_found","message":"The requested resource was not found."}\n'),
    "nothing at all": ([], b"", b'{"error":"general_error","message":"The operation failed."}\n'),
}


@tests_of(UPSTREAM)
def translate_reads_the_response_of_another_server(arguments, source, expected):
    answer = mishap("translate", "--from", "upstream", "--to", "http-api", *arguments, stdin=source)
    equal((answer.status, answer.out, answer.err), (0, expected, b""))


@test
def translate_refuses_a_response_that_is_no_error():
    envelope(mishap("translate", "--from", "upstream", "--to", "canonical", stdin=b"HTTP/1.1 200 OK\r\n\r\n{}"), 2, "MALFORMED_INPUT")


@tests_of({"empty": b"", "invalid UTF-8": b"[ERROR] A\xff\nB\n\n[Backtrace]\n0: (F)\n"})
def check_cannot_read_a_report(source):
    found = envelope(mishap("check", "--dialect", TEXT_DIALECT, stdin=source), 2, "MALFORMED_INPUT")
    expect(re.search("line 1", found["error"]["message"]), found["error"]["message"])


@tests_of(NO_MISHAP)
def check_finds_what_is_wrong_in_every_dialect(source):
    for dialect in JSON_DIALECTS:
        found = envelope(mishap("check", "--dialect", dialect, stdin=source), 79, "NONCONFORMING")
        expect(found["data"]["findings"], "no findings")


@tests_of({"high": b"\\ud800", "low": b"\\udc00", "in the wrong order": b"\\udc00\\ud800",
           "high and a letter": b"\\ud800x", "in capitals": b"\\uDBFF"})
def a_lone_surrogate_is_read_as_a_replacement_character(escape):
    source = b'{"code":"NOT_FOUND","message":"a ' + escape + b' b."}'
    answer = mishap("render", "--dialect", "canonical", stdin=source)
    equal(answer.status, 0, "the exit code")
    expect("a \ufffd" in parsed(answer.out)["message"], answer.out)
    findings = envelope(mishap("check", "--dialect", "canonical", stdin=source), 79)["data"]["findings"]
    expect("lone-surrogate" in [finding["rule"] for finding in findings], findings)


@tests_of({
    "a pair": (b'"\\ud83d\\ude00"', "\U0001f600"),
    "a NUL": (b'"a\\u0000b"', "a\ufffdb"),
    "control characters": (b'"\\u0001\\u001b[31m\\u007f"', "\x01\x1b[31m\x7f"),
    "the largest integer": (b"18446744073709551615", 18446744073709551615),
    "an integer beyond 64 bits": (b"-98765432109876543210987654321", -98765432109876543210987654321),
    "a fraction": (b"0.1", 0.1),
    "a small number": (b"5e-324", 5e-324),
    "minus zero": (b"-0.0", -0.0),
    "null": (b"null", None),
    "an array": (b'[1, {"a": [true]}, "x"]', [1, {"a": [True]}, "x"]),
})
def context_comes_through_as_it_is(written, value):
    source = b'{"code":"NOT_FOUND","message":"Gone.","context":{"k":' + written + b"}}"
    for dialect, way in [("canonical", ["context", "k"]), ("cli-envelope", ["error", "context", "k"])]:
        answer = mishap("render", "--dialect", dialect, stdin=source)
        equal((answer.status, answer.err), (0, b""), "exit and stderr")
        found = parsed(answer.out)
        for step in way:
            found = found[step]
        equal((found, str(found)), (value, str(value)), "the value")
        expect(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", answer.out), "control characters in", answer.out)


# ---- Checking ------------------------------------------------------------------------------------

def broken_documents():
    rows = {}
    for dialect in DIALECTS:
        folder = os.path.join(TESTS, "broken", dialect)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            rows["%s/%s" % (dialect, name)] = (dialect, os.path.join(folder, name))
    return rows


@tests_of({dialect: dialect for dialect in DIALECTS})
def check_names_the_rule_that_a_broken_document_breaks(dialect):
    for name, (owner, path) in broken_documents().items():
        if owner != dialect:
            continue
        rule = os.path.basename(path).split("--")[0]
        strict = ["--strict"] if ".strict" in path else []
        found = envelope(mishap("check", "--dialect", dialect, *strict, path))
        if rule in ("not-json", "not-text"):
            equal((found["ok"], found["error"]["code"], found["data"]), (False, "MALFORMED_INPUT", None), name)
            continue
        rules = {finding["rule"] for finding in found["data"]["findings"]}
        errors = [finding for finding in found["data"]["findings"] if finding["severity"] == "error"]
        equal(rules, {rule}, name)
        equal(found["ok"], not errors, name)
        equal(found["data"]["errors"], len(errors), name)


@test
def check_lists_every_finding_with_rule_severity_place_and_message():
    found = envelope(mishap("check", "--dialect", "http-api", stdin=b'{"error":"Not Found","message":"","x":1,"details":'
                            b'[{"field":"a","error":"B"},{"field":""}]}'), 79, "NONCONFORMING")
    findings = found["data"]["findings"]
    for finding in findings:
        equal(list(finding), ["rule", "severity", "place", "message"], "the members of a finding")
    equal([(finding["rule"], finding["place"]) for finding in findings],
          [("code-spelling", "/error"), ("empty-text", "/message"), ("unknown-member", "/x"),
           ("field-error-name", "/details/0/error"), ("empty-text", "/details/1/field"),
           ("missing-member", "/details/1")], "the findings")
    equal((found["data"]["documents"], found["data"]["errors"], found["data"]["warnings"]), (1, 6, 0), "the counts")
    equal(found["error"]["context"], {"dialect": "http-api", "findings": 6}, "the context")


@test
def check_takes_warnings_for_no_error():
    source = mishap("render", "--dialect", "cli-envelope", stdin=b'{"code":"NOT_FOUND","message":"gone"}').out
    found = envelope(mishap("check", "--dialect", "cli-envelope", stdin=source), 0)
    equal([(finding["rule"], finding["severity"]) for finding in found["data"]["findings"]],
          [("not-a-sentence", "warning")], "the findings")
    equal((found["data"]["errors"], found["data"]["warnings"]), (0, 1), "the counts")


@test
def check_is_strict_when_told():
    envelope(mishap("check", "--dialect", "http-api", stdin=CUSTOM), 0)
    found = envelope(mishap("check", "--dialect", "http-api", "--strict", stdin=CUSTOM), 79, "NONCONFORMING")
    equal([finding["rule"] for finding in found["data"]["findings"]], ["unknown-code"], "the rules")
    envelope(mishap("check", "--strict", "--dialect", "http-api", stdin=GOOD), 0)


# Lines: input, exit, documents, errors, the lines that findings name.
LINES = {
    "good lines": (GOOD + b"\n" + GOOD + b"\n", 0, 2, 0, []),
    "the last without line feed": (GOOD + b"\n" + GOOD, 0, 2, 0, []),
    "one without line feed": (GOOD, 0, 1, 0, []),
    "CRLF": (GOOD + b"\r\n" + GOOD + b"\r\n", 0, 2, 0, []),
    "blank lines": (b"\n" + GOOD + b"\n\n\r\n" + GOOD + b"\n\n", 0, 2, 0, []),
    "a bad line": (GOOD + b"\n" + BAD + b"\n" + GOOD + b"\n", 79, 3, 2, [2, 2]),
    "a bad last line without line feed": (GOOD + b"\n\n" + BAD, 79, 2, 2, [3, 3]),
    "a bad line after CRLF": (GOOD + b"\r\n" + BAD + b"\r\n", 79, 2, 2, [2, 2]),
    "a malformed line among others": (GOOD + b"\n" + b"{oops\n" + BAD + b"\n", 2, 3, 3, [2, 3, 3]),
    "a malformed last line": (GOOD + b"\n" + GOOD[:-1], 2, 2, 1, [2]),
    "a line with a NUL": (GOOD + b"\n" + b"\0\n" + GOOD + b"\n", 2, 3, 1, [2]),
    "invalid UTF-8": (GOOD + b"\n" + b'{"error":"\xff"}\n', 2, 2, 1, [2]),
    "lines longer than a block": (GOOD + b" " * 700000 + b"\n" + BAD + b" " * 300000 + b"\n" + GOOD, 79, 3, 2, [2, 2]),
    "many lines": ((GOOD + b"\n") * 20000 + BAD + b"\n", 79, 20001, 2, [20001, 20001]),
}


@tests_of(LINES)
def check_goes_line_by_line(source, status, documents, errors, lines):
    found = envelope(mishap("check", "--dialect", "http-api", "--lines", stdin=source), status)
    data = found["data"]
    equal((data["documents"], data["errors"]), (documents, errors), "documents and errors")
    equal([finding["line"] for finding in data["findings"]], lines, "the lines")
    if status == 2:
        expect("ine %d" % lines[0] in found["error"]["message"], found["error"]["message"])


@tests_of({"nothing": b"", "blank lines": b"\n\r\n\n"})
def check_finds_no_document_among_no_lines(source):
    says_where(envelope(mishap("check", "--dialect", "http-api", "--lines", stdin=source), 2, "MALFORMED_INPUT"))


@test
def check_lists_only_so_many_findings_and_counts_all():
    found = envelope(mishap("check", "--dialect", "http-api", "--lines", stdin=(BAD + b"\n") * 6000), 79)
    equal((len(found["data"]["findings"]), found["data"]["errors"]), (10000, 12000), "listed and counted")
    equal(found["meta"]["truncated"], True, "truncated")


@test
def check_reads_lines_in_constant_memory():
    if SANITIZED:
        raise Skipped("sanitizers take memory of their own")
    with tempfile.TemporaryDirectory() as folder:
        peaks = {}
        for megabytes in (1, 60):
            path = os.path.join(folder, "lines")
            with open(path, "wb") as file:
                for _ in range(megabytes):
                    file.write((GOOD + b"\n") * ((1 << 20) // (len(GOOD) + 1)))
            peaks[megabytes] = peak_memory("check", "--dialect", "http-api", "--lines", path)
    growth = peaks[60] - peaks[1]
    expect(growth < 30 << 10, "60 MB took", growth, "KB more than 1 MB")


def peak_memory(*arguments):
    """The most memory that a run took, in KB, as a child of a child tells it: the figure is that of the largest one."""
    measured = subprocess.run(
        [sys.executable, "-c", "import resource, subprocess, sys\n"
         "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", PROGRAM, *arguments],
        stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
    return int(measured.stdout)


# Large inputs that would take for ever if any part of the work grew with the square of their size.
def object_of(count, key):
    return b"{%s}" % b",".join(b'"%s":1' % (key % number) for number in range(count))


HOSTILE = {  # command, input
    "many keys": (["render", "--dialect", "http-api"],
                  b'{"code":"NOT_FOUND","message":"x","context":%s}' % object_of(60000, b"k%d")),
    "many keys, one of them redacted": (
        ["render", "--dialect", "http-api"], b'{"code":"NOT_FOUND","message":"x","context":%s}' %
        object_of(60000, b"k%d").replace(b"k0", b"x://a:b@c")),
    "many keys that are redacted": (["render", "--dialect", "http-api"],
                                    b'{"code":"NOT_FOUND","message":"x","context":%s}' %
                                    object_of(60000, b"x://a%d:b@c")),
    "many keys in google-rpc": (
        ["translate", "--from", "google-rpc", "--to", "canonical"],
        b'{"error":{"code":404,"message":"x","status":"NOT_FOUND","details":[{"@type":'
        b'"type.googleapis.com/google.rpc.ErrorInfo","reason":"NOT_FOUND","domain":"mishap","metadata":{"context":%s}}]}}' %
        json.dumps(object_of(60000, b"%d").decode()).encode()),
    "many passwords": (["render", "--dialect", "http-api"],
                       b'{"code":"NOT_FOUND","message":"%s"}' % (b"x://a:b@c " * 100000)),
    "many fields": (["translate", "--from", "http-api", "--to", "google-rpc"],
                    b'{"error":"validation_error","message":"x","details":[%s]}' %
                    b",".join([b'{"field":"a","error":"field_required"}'] * 20000)),
    "many findings": (["check", "--dialect", "http-api"],
                      b'{"error":"validation_error","message":"x","details":[%s]}' %
                      b",".join([b'{"field":"a","error":"B"}'] * 40000)),
    "many duplicate keys": (["check", "--dialect", "http-api"],
                            b'{"error":"not_found","message":"x","details":{%s}}' % b",".join([b'"k":1'] * 60000)),
    "many wrong frames": (["check", "--dialect", TEXT_DIALECT],
                          b"[ERROR] A\nB\n\n[Backtrace]\n" + b"x\n" * 200000),
    "many markers in a message": (["translate", "--from", TEXT_DIALECT, "--to", "canonical"],
                                  b"[ERROR] A\n" + b"[\\ERROR]" * 50000 + b"\n\n[Backtrace]\n0: (F)\n"),
    "many lines of a trace": (["check", "--dialect", "http-api"],
                              b'{"error":"not_found","message":"%s"}' % (b"\\n at x (y.jav:1)" * 50000)),
}


@tests_of(HOSTILE)
def a_large_input_is_answered_in_time(arguments, source):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    answer = mishap(*arguments, stdin=source)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    expect(answer.status in (0, 79), "exit", answer.status, answer.out[:500])
    expect(seconds < (20 if SANITIZED else 3), "it took", seconds, "seconds")


# ---- Files ---------------------------------------------------------------------------------------

@test
def input_comes_from_a_file_or_from_standard_input():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ein Öl.json")
        with open(path, "wb") as file:
            file.write(NOT_FOUND)
        expected = mishap("render", "--dialect", "http-api", stdin=NOT_FOUND).out
        equal(mishap("render", "--dialect", "http-api", path).out, expected, "from a file")
        equal(mishap("render", path, "--dialect", "http-api").out, expected, "the file first")
        equal(mishap("render", "--dialect", "http-api", "-", stdin=NOT_FOUND).out, expected, "from -")


@tests_of({"render": ("render", "--dialect", "http-api"), "check": ("check", "--dialect", "http-api"),
           "check --lines": ("check", "--dialect", "http-api", "--lines"),
           "translate": ("translate", "--from", "http-api", "--to", "canonical")})
def a_file_that_cannot_be_read_is_an_error(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        missing = os.path.join(folder, "missing.json")
        found = envelope(mishap(*arguments, missing), 66, "INPUT_UNREADABLE")
        equal(found["error"]["context"]["file"], missing, "the file")
        expect("ENOENT" in found["error"]["cause"], found["error"])
        found = envelope(mishap(*arguments, folder), 66, "INPUT_UNREADABLE")
        expect("EISDIR" in found["error"]["cause"], found["error"])
        if os.getuid() != 0:
            path = os.path.join(folder, "closed.json")
            with open(path, "wb") as file:
                os.fchmod(file.fileno(), 0)
            found = envelope(mishap(*arguments, path), 66, "INPUT_UNREADABLE")
            expect("EACCES" in found["error"]["cause"], found["error"])


@test
def standard_input_may_be_closed():
    answer = mishap("render", "--dialect", "http-api", preexec_fn=lambda: os.close(0))
    envelope(answer, 66, "INPUT_UNREADABLE")


# ---- The command line ----------------------------------------------------------------------------

ARGUMENTS = {  # arguments, code, the parameters that are named
    "no command": ([], "UNKNOWN_COMMAND", None),
    "unknown command": (["rendre"], "UNKNOWN_COMMAND", None),
    "empty command": ([""], "UNKNOWN_COMMAND", None),
    "option before the command": (["--input", "http-api", "render"], "UNKNOWN_COMMAND", None),
    "unknown option": (["render", "--dialekt", "http-api"], "ARG_ERROR", ["--dialekt", "dialect"]),
    "unknown option with a value": (["render", "--dialekt=http-api"], "ARG_ERROR", ["--dialekt", "dialect"]),
    "start of an option": (["render", "--dia", "http-api"], "ARG_ERROR", ["--dia", "dialect"]),
    "two hyphens": (["render", "--"], "ARG_ERROR", ["dialect"]),
    "option of another command": (["render", "--dialect", "http-api", "--strict"], "ARG_ERROR", ["--strict"]),
    "very long option": (["check", "--" + "x" * 100000], "ARG_ERROR", ["--" + "x" * 98, "dialect"]),
    "option in invalid UTF-8": (["check", b"--\xff\xfe"], "ARG_ERROR", ["--\ufffd\ufffd", "dialect"]),
    "option with spaces": (["check", "--dialect --strict"], "ARG_ERROR", ["--dialect --strict", "dialect"]),
    "dialect missing": (["render"], "ARG_ERROR", ["dialect"]),
    "dialect without value": (["render", "--dialect"], "ARG_ERROR", ["dialect"]),
    "dialect with empty value": (["render", "--dialect="], "ARG_ERROR", ["dialect"]),
    "unknown dialect": (["check", "--dialect", "morse"], "ARG_ERROR", ["dialect"]),
    "unknown dialect after =": (["check", "--dialect=morse"], "ARG_ERROR", ["dialect"]),
    "dialect in invalid UTF-8": (["check", b"--dialect=\xff"], "ARG_ERROR", ["dialect"]),
    "very long dialect": (["check", "--dialect", "x" * 100000], "ARG_ERROR", ["dialect"]),
    "from and to missing": (["translate"], "ARG_ERROR", ["from", "to"]),
    "to missing": (["translate", "--from", "http-api"], "ARG_ERROR", ["to"]),
    "unknown from": (["translate", "--from", "morse", "--to", "canonical"], "ARG_ERROR", ["from"]),
    "status of a dialect": (["translate", "--from", "http-api", "--to", "canonical", "--status", "404", "--content-type", "a/b"], "ARG_ERROR",
                            ["status", "content_type"]),
    "status that is no error": (["translate", "--from", "upstream", "--to", "canonical", "--status", "200"], "ARG_ERROR", ["status"]),
    "two files": (["check", "--dialect", "http-api", "a", "b"], "ARG_ERROR", None),
    "flag with a value": (["check", "--dialect", "http-api", "--strict=no"], "ARG_ERROR", ["strict"]),
}


@tests_of(ARGUMENTS)
def a_wrong_command_line_exits_with_2(arguments, code, parameters):
    found = envelope(mishap(*arguments, stdin=GOOD), 2, code)
    equal(found["data"], None, "data")
    if parameters:
        equal([item["param"] for item in found["error"]["errors"]], parameters, "the parameters")


@test
def an_unknown_dialect_is_answered_with_those_that_exist():
    error = envelope(mishap("check", "--dialect", "morse", stdin=GOOD), 2)["error"]
    for dialect in DIALECTS:
        expect(dialect in error["message"], dialect, "is not in", error["message"])


@test
def an_option_takes_its_value_after_an_equals_sign_too():
    expected = mishap("render", "--dialect", "http-api", stdin=NOT_FOUND)
    equal(mishap("render", "--dialect=http-api", stdin=NOT_FOUND), expected)
    equal(mishap("translate", "--from=canonical", "--to=http-api", stdin=NOT_FOUND), expected)


@tests_of({"alone": ("--help",), "short": ("-h",), "of a command": ("check", "--help"),
           "among wrong options": ("check", "--morse", "--help")})
def help_goes_to_stderr_when_stdout_is_no_terminal(*arguments):
    answer = mishap(*arguments)
    equal((answer.status, answer.out), (0, b""), "exit and stdout")
    one = [b"check", b"--dialect", b"--strict", b"79"] + [dialect.encode() for dialect in DIALECTS]
    for word in one if "check" in arguments else [b"render", b"translate", b"check", b"connect", b"completion"]:
        expect(word in answer.err, word, "is not in", answer.err)


@test
def help_goes_to_a_terminal():
    terminal, other = open_terminal()
    try:
        done = subprocess.run([PROGRAM, "--help"], stdin=subprocess.DEVNULL, stdout=other, stderr=subprocess.PIPE,
                              timeout=PATIENCE, check=False)
        equal((done.returncode, done.stderr), (0, b""), "exit and stderr")
        expect(b"render" in os.read(terminal, 65536), "no help")
    finally:
        os.close(terminal)
        os.close(other)


@test
def version_is_one_line():
    answer = mishap("--version")
    equal((answer.status, answer.err), (0, b""), "exit and stderr")
    expect(re.fullmatch(rb"mishap \d+\.\d+\.\d+\n", answer.out), answer.out)


# ---- Where the output goes -----------------------------------------------------------------------

WRITING = {
    "render": (["render", "--dialect", "http-api"], NOT_FOUND),
    "check": (["check", "--dialect", "http-api"], GOOD),
    "version": (["--version"], b""),
}


@tests_of(WRITING)
def a_reader_that_left_is_no_failure(arguments, source):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([PROGRAM, *arguments], input=source, stdout=write, stderr=subprocess.PIPE, timeout=PATIENCE,
                          check=False)
    os.close(write)
    equal((done.returncode, done.stderr), (0, b""), "exit and stderr")


@test
def a_reader_that_leaves_in_the_middle_is_no_failure():
    large = b'{"code":"NOT_FOUND","message":"Gone.","context":{"k":"' + b"x" * (4 << 20) + b'"}}'
    with tempfile.TemporaryFile() as file:
        file.write(large)
        file.seek(0)
        with subprocess.Popen([PROGRAM, "render", "--dialect", "canonical"], stdin=file, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            equal(process.stdout.read(9), b'{"code":"', "the start")
            process.stdout.close()
            equal((process.wait(PATIENCE), process.stderr.read()), (0, b""), "exit and stderr")


@tests_of(WRITING)
def output_that_cannot_be_written_is_told_on_stderr(arguments, source):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, *arguments], input=source, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE,
                              check=False)
    equal(done.returncode, 1, "the exit code")
    expect(re.fullmatch(rb"mishap: .*No space left on device\n", done.stderr), done.stderr)


@test
def a_failure_that_cannot_be_written_keeps_its_exit_code():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "render", "--dialect", "http-api"], input=b"oops", stdout=full,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    equal(done.returncode, 2, "the exit code")
    expect(done.stderr.startswith(b"mishap: "), done.stderr)


# ---- Locales -------------------------------------------------------------------------------------

LOCALE_SOURCE = (b'{"code":"RATE_LIMITED","message":"Wait \xc3\xb6 \xe2\x82\xac.","retry_after_ms":1500,"context":'
                 b'{"ratio":0.5,"large":1e300,"title":"TITLE i \xc4\xb1"},"fields":[{"field":"i","error":'
                 b'"value_out_of_range","min":0.25,"max":1234567.5,"actual":-1.5}]}')


@tests_of({name: name for name in ["C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "no_SUCH.locale"]})
def the_locale_changes_no_byte(locale):
    env = environment_of(locale)
    for dialect in DIALECTS:
        expected = mishap("render", "--dialect", dialect, stdin=LOCALE_SOURCE, env={"LC_ALL": "C"})
        answer = mishap("render", "--dialect", dialect, stdin=LOCALE_SOURCE, env=env)
        equal(answer.status, 0, "the exit code")
        equal(answer, expected, dialect)
    answer = mishap("check", "--dialect", "http-api", stdin=BAD, env=env)
    expected = mishap("check", "--dialect", "http-api", stdin=BAD, env={"LC_ALL": "C"})
    for found in (answer, expected):
        envelope(found, 79)
    varies = rb'"(duration_ms|request_id|timestamp)":("[^"]*"|\d+)'
    equal(*[re.sub(varies, b"", found.out) for found in (answer, expected)])


# ---- All that was seen ---------------------------------------------------------------------------

@test
def every_envelope_that_was_seen_conforms_strictly():
    expect(envelopes or sys.argv[1:], "none was seen")
    seen = envelopes[:]
    answer = mishap("check", "--dialect", "cli-envelope", "--strict", "--lines",
                    stdin=b"".join(text for _, text in seen) or b"\n")
    found = parsed(answer.out)
    if found["data"]["documents"]:
        for finding in found["data"]["findings"]:
            name, text = seen[finding["line"] - 1]
            expect(False, name, finding, text)
        equal((found["data"]["documents"], answer.status), (len(seen), 0), "documents and exit")


if __name__ == "__main__":
    main()
