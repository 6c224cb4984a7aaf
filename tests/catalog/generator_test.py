#!/usr/bin/env python3
"""catalog/generate: a broken table stops it with file and line, and a good one gives files that can be used.

Speaks TAP. The environment says where the tests are (MISHAP_TESTS) and what the C compiler is called (CC).
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TESTS = os.environ.get("MISHAP_TESTS", os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
ROOT = os.path.dirname(os.path.abspath(TESTS))
GENERATE = os.path.join(ROOT, "catalog", "generate")
BUILT_IN = os.path.join(ROOT, "catalog", "codes.txt")
CC = shlex.split(os.environ.get("CC", "cc"))
OUTPUTS = {"header": "codes.h", "source": "codes.c", "schema": "codes.json", "typescript": "codes.ts",
           "manual": "codes.7"}

TABLE = """\
catalog own
GOOD_ONE   validation  422  79  -  fix    none
    message     It is not good.
    suggestion  Make it good.
"""
LAST_ROW = """\
LAST_ROW   system      503  80  -  yes    none
    message     It failed.
    suggestion  Try again.
"""

# A name for the test, the table, the line of the flaw, and words of the message about it.
BROKEN = [
    ("a code that is retried and has side effects", TABLE + LAST_ROW.replace("none", "partial"), 5, "side effects"),
    ("an unknown category", TABLE.replace("validation", "sadness"), 2, "unknown category `sadness`"),
    ("an unknown retry", TABLE.replace("fix ", "maybe "), 2, "unknown retry `maybe`"),
    ("unknown effects", TABLE.replace("none", "complete"), 2, "unknown effects `complete`"),
    ("a name in lower case", TABLE.replace("GOOD_ONE", "good_one"), 2, "`good_one` is not an UPPER_SNAKE name"),
    ("a name that starts with a digit", TABLE.replace("GOOD_ONE", "2GOOD"), 2, "`2GOOD` is not an UPPER_SNAKE name"),
    ("a name of one letter", TABLE.replace("GOOD_ONE", "G"), 2, "`G` is not an UPPER_SNAKE name"),
    ("a name with a hyphen", TABLE.replace("GOOD_ONE", "GOOD-ONE"), 2, "`GOOD-ONE` is not an UPPER_SNAKE name"),
    ("a code to be fixed without a suggestion",
     TABLE.replace("    suggestion  Make it good.\n", ""), 2, "suggestion"),
    ("a code to be retried without a suggestion",
     TABLE + LAST_ROW.replace("    suggestion  Try again.\n", ""), 5, "suggestion"),
    ("a row without a message", TABLE.replace("    message     It is not good.\n", ""), 2, "the `message` is missing"),
    ("a message that is no sentence",
     TABLE.replace("It is not good.", "it is not good."), 2, "message is not a sentence"),
    ("a message without an end", TABLE.replace("It is not good.", "It is not good"), 2, "message is not a sentence"),
    ("a suggestion that is no sentence",
     TABLE.replace("Make it good.", "make it"), 2, "suggestion is not a sentence"),
    ("a name that stands twice",
     TABLE + LAST_ROW.replace("LAST_ROW", "GOOD_ONE"), 5, "`GOOD_ONE` is also the name of"),
    ("an http-name that stands twice",
     TABLE + LAST_ROW + "    http-name   good_one\n", 5, "`good_one` is also the http_name"),
    ("a condition that stands twice",
     TABLE + LAST_ROW + "    condition   GOOD-ONE\n", 5, "`GOOD-ONE` is also the condition"),
    ("a tool type that stands for two codes",
     TABLE + "    tool        ValueError\n" + LAST_ROW + "    tool        ValueError\n",
     6, "`ValueError` is also the tool"),
    ("a column too few", TABLE.replace("  -  ", "  "), 2, "6 columns instead of 7"),
    ("a column too many", TABLE.replace("  -  ", "  -  -  "), 2, "8 columns instead of 7"),
    ("an http status below 400", TABLE.replace("422", "399"), 2, "`399` is not a valid HTTP status"),
    ("an http status above 599", TABLE.replace("422", "600"), 2, "`600` is not a valid HTTP status"),
    ("an http status that is no number", TABLE.replace("422", "teapot"), 2, "`teapot` is not a valid HTTP status"),
    ("exit code 0", TABLE.replace(" 79 ", " 0 "), 2, "`0` is not a valid exit code"),
    ("a reserved exit code, 14", TABLE.replace(" 79 ", " 14 "), 2, "`14` is not a valid exit code"),
    ("a reserved exit code, 63", TABLE.replace(" 79 ", " 63 "), 2, "`63` is not a valid exit code"),
    ("an exit code that a shell uses", TABLE.replace(" 79 ", " 126 "), 2, "`126` is not a valid exit code"),
    ("an exit code that is no number", TABLE.replace(" 79 ", " x "), 2, "`x` is not a valid exit code"),
    ("a reserved JSON-RPC code, -32000", TABLE.replace(" - ", " -32000 "), 2, "`-32000` is not a valid JSON-RPC code"),
    ("a reserved JSON-RPC code, -32768", TABLE.replace(" - ", " -32768 "), 2, "`-32768` is not a valid JSON-RPC code"),
    ("a JSON-RPC code that must not be sent", TABLE.replace(" - ", " -32002 "), 2, "`-32002` is not a valid JSON-RPC code"),
    ("a JSON-RPC code that is no number", TABLE.replace(" - ", " ? "), 2, "`?` is not a valid JSON-RPC code"),
    ("an unknown line of a row", TABLE + "    color       red\n", 5, "`color` is not a line of a row"),
    ("a line without a value", TABLE + "    http-message\n", 5, "`http-message` is empty"),
    ("a line that stands twice", TABLE + "    message     Again.\n", 5, "two `message` lines"),
    ("a detail before any row", "catalog own\n    message  Lost.\n" + TABLE[12:], 2, "`message` does not belong to a row"),
    ("no catalog line", TABLE[12:], 3, "no `catalog NAME` line"),
    ("a catalog whose name is no C identifier",
     TABLE.replace("catalog own", "catalog my-own"), 1, "not a lower-case C identifier"),
    ("a tool type that does not exist", TABLE + "    tool        KeyError\n", 2, "`KeyError` is not one of the types"),
    ("retry-after on a code that is not retried", TABLE + "    retry-after 5\n", 2, "only allowed for a code that is retryable"),
    ("retry-after of 0", TABLE + LAST_ROW + "    retry-after 0\n", 5, "`0` is not a valid number of milliseconds"),
    ("retry-after that is no number",
     TABLE + LAST_ROW + "    retry-after soon\n", 5, "`soon` is not a valid number of milliseconds"),
    ("an http-name with capitals", TABLE + "    http-name   Good\n", 2, "`Good` is not a lower_snake name"),
    ("a name that the built-in table has", TABLE.replace("GOOD_ONE", "NOT_FOUND"), 2,
     "NOT_FOUND: the built-in table has a code of this name; raise that code, or choose another name"),
    ("the name of the built-in table", TABLE.replace("catalog own", "catalog mishap"), 1,
     "`mishap` is the name of the built-in table"),
    ("a docs address without {CODE}", "docs https://example.com/\n" + TABLE, 1, "no {CODE}"),
]

GOOD = """\
# What can go wrong.
catalog own
docs https://example.com/errors/{CODE}

CART_EMPTY    validation  422  79   -       fix    none
    message       The cart is "empty": 100%, \\o/ and 'quoted' – grüße.
    suggestion    Put something into the cart.
OVEN_OFFLINE  system      503  12   -       yes    none
    message       The oven does not answer.
    suggestion    Turn it on.
    retry-after   5000
PARCEL_LOST   execution   500  125  1042    never  partial
    message       The parcel is lost.
    condition     LOST-PARCEL
    http-name     lost_parcel
    tool          RuntimeError
KITCHEN_FIRE  system      500  1    -32603  never  partial
    message       The bakery is closed.
    masked
"""
CODES = ["CART_EMPTY", "OVEN_OFFLINE", "PARCEL_LOST", "KITCHEN_FIRE"]


class Run:
    """One run of the generator over a table, in a folder of its own."""

    def __init__(self, folder, table, encoding="utf-8", generate=GENERATE):
        self.folder, self.table = folder, os.path.join(folder, "table.txt")
        with open(self.table, "wb") as file:
            file.write(table.encode(encoding))
        command = [sys.executable, generate, self.table, "--include", "codes.h"]
        for option, name in OUTPUTS.items():
            command += [f"--{option}", self.path(name)]
        done = subprocess.run(command, capture_output=True, text=True)
        self.status, self.said, self.printed = done.returncode, done.stderr, done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, option):
        with open(self.path(OUTPUTS[option]), encoding="utf-8") as file:
            return file.read()

    def lines(self):
        """The (line, sentence) pairs that were said about the table."""
        pattern = re.compile(re.escape(self.table) + r":(\d+): (.+)")
        matches = [pattern.fullmatch(line) for line in self.said.splitlines()]
        assert all(matches), f"not file, line and sentence: {self.said}"
        return [(int(match[1]), match[2]) for match in matches]

    def assert_refused(self):
        assert self.status != 0, "it exited with 0"
        assert "Traceback" not in self.said, self.said
        assert os.listdir(self.folder) == ["table.txt"], f"it wrote {sorted(os.listdir(self.folder))}"


def in_folder(test, *arguments):
    folder = tempfile.mkdtemp(prefix="mishap-catalog-")
    try:
        test(folder, *arguments)
    finally:
        shutil.rmtree(folder)


def check_broken(folder, table, line, words):
    run = Run(folder, table)
    run.assert_refused()
    assert {number for number, _ in run.lines()} == {line}, f"not line {line}, or not that alone: {run.said}"
    assert any(words in sentence for _, sentence in run.lines()), f"`{words}` is not in: {run.said}"


# -- what is tested ------------------------------------------------------------------------------------------

def all_flaws_are_reported_at_once_in_order(folder):
    run = Run(folder, "docs https://example.com/\ncatalog own\n"
                      "bad_name   sadness     200  0   -1  maybe  all\n"
                      "    color       red\n"
                      "GOOD_ONE   system      503  80  -   yes    partial\n"
                      "TOO_SHORT\n")
    run.assert_refused()
    lines = [line for line, _ in run.lines()]
    assert lines == sorted(lines), run.said
    assert sorted(set(lines)) == [1, 3, 4, 5, 6], run.said
    for words in ("{CODE}", "UPPER_SNAKE", "unknown category", "`200`", "`0`", "unknown retry", "unknown effects",
                  "`color`", "side effects", "a code with `fix` or `yes` needs", "the `message` is missing", "1 columns instead of 7"):
        assert words in run.said, f"`{words}` is not in: {run.said}"


def a_table_that_cannot_be_read_is_refused(folder):
    missing = os.path.join(folder, "missing.txt")
    done = subprocess.run([sys.executable, GENERATE, missing, "--header", os.path.join(folder, "codes.h")],
                          capture_output=True, text=True)
    assert done.returncode != 0 and missing in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert os.listdir(folder) == []
    run = Run(folder, TABLE.replace("It is", "\xe9s ist"), encoding="latin-1")
    run.assert_refused()
    assert run.table in run.said, run.said


def a_good_table_gives_all_files_and_says_nothing(folder):
    run = Run(folder, GOOD)
    assert (run.status, run.said, run.printed) == (0, "", ""), run.said
    assert sorted(os.listdir(folder)) == sorted([*OUTPUTS.values(), "table.txt"])


def only_what_is_asked_for_is_written(folder):
    table = os.path.join(folder, "table.txt")
    with open(table, "w", encoding="utf-8") as file:
        file.write(GOOD)
    subprocess.run([sys.executable, GENERATE, table, "--schema", os.path.join(folder, "s.json")], check=True)
    assert sorted(os.listdir(folder)) == ["s.json", "table.txt"]


def the_c_table_includes_the_header_by_its_file_name_unless_told_otherwise(folder):
    table, source = os.path.join(folder, "table.txt"), os.path.join(folder, "t.c")
    with open(table, "w", encoding="utf-8") as file:
        file.write(GOOD)
    for options, expected in [(["--header", os.path.join(folder, "my_codes.h")], "my_codes.h"),
                              (["--header", os.path.join(folder, "a.h"), "--include", "b/a.h"], "b/a.h"),
                              ([], "own/codes.h")]:
        subprocess.run([sys.executable, GENERATE, table, "--source", source, *options], check=True)
        with open(source, encoding="utf-8") as file:
            found = re.findall('#include "(.*)"', file.read())
        assert found[0] == expected, f"{options} includes {found}"


def the_help_has_every_word_that_a_row_can_have(folder):
    done = subprocess.run([sys.executable, GENERATE, "--help"], capture_output=True, text=True, check=True)
    for word in ("validation permission resource execution system never fix yes none partial message suggestion "
                 "condition http-name http-message tool retry-after masked").split():
        assert re.search(rf"\b{word}\b", done.stdout), f"{word} is not in the help"


def the_same_table_gives_the_same_files(folder):
    first = Run(folder, GOOD)
    before = {option: first.text(option) for option in OUTPUTS}
    second = Run(folder, GOOD)
    assert before == {option: second.text(option) for option in OUTPUTS}


def a_c_compiler_accepts_header_and_table(folder):
    run = Run(folder, GOOD)
    with open(run.path("use.c"), "w", encoding="utf-8") as file:
        file.write('#include "codes.h"\n#include "codes.h"\n')
        for number, code in enumerate(CODES):
            file.write(f"extern const mishap_code *use{number};\n"
                       f"const mishap_code *use{number} = MISHAP_CODE_{code};\n")
        file.write("extern mishap_catalog *table;\nmishap_catalog *table = &own_code_table;\n")
    for name in ("use.c", "codes.c"):
        done = subprocess.run([*CC, "-fsyntax-only", "-std=c17", "-Wall", "-Wextra", "-Werror",
                               "-I", os.path.join(ROOT, "include"), "-I", folder, run.path(name)],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def the_c_table_has_every_text_and_number(folder):
    source = Run(folder, GOOD).text("source")
    for piece in ('"The cart is \\"empty\\": 100%, \\\\o/ and \'quoted\' – grüße."',
                  '"LOST-PARCEL"', '"lost_parcel"',
                  '"https://example.com/errors/CART_EMPTY"', ".retry_after_ms = 5000, .masked = false",
                  ".http_status = 500, .exit_code = 125, .rpc_code = 1042", ".category = MISHAP_EXECUTION",
                  ".retry = MISHAP_RETRY_FIX", ".effects = MISHAP_EFFECTS_PARTIAL", ".masked = true"):
        assert piece in source, f"{piece} is not in the table"


def the_schema_is_valid_json_with_every_code(folder):
    schema = json.loads(Run(folder, GOOD).text("schema"))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["type"] == "object" and schema["additionalProperties"] is False
    assert schema["required"] == ["code", "message", "category", "retryable"]
    properties = schema["properties"]
    assert properties["code"]["enum"] == CODES
    assert properties["category"]["enum"] == ["validation", "permission", "resource", "execution", "system"]
    assert properties["retry_after_ms"] == {"type": "integer", "minimum": 0}
    assert properties["retryable"] == {"type": "boolean"}
    assert set(properties) == {"code", "message", "category", "retryable", "retry_after_ms", "cause", "suggestion",
                               "docs_url", "context", "fields", "type", "stdout", "backtrace", "incident"}
    field = properties["fields"]["items"]
    assert field["required"] == ["field", "error"]
    assert set(field["properties"]) == {"field", "error", "expected", "actual", "min", "max"}
    assert re.search(field["properties"]["error"]["pattern"], "field_required")
    assert not re.search(field["properties"]["error"]["pattern"], "FieldRequired")


def the_typescript_module_has_every_code(folder):
    module = Run(folder, GOOD).text("typescript")
    union = re.search(r"export type Code =\n(.*?);", module, re.S)[1]
    assert re.findall(r'"(\w+)"', union) == CODES
    union = re.search(r"export type HttpName =\n(.*?);", module, re.S)[1]
    assert re.findall(r'"(\w+)"', union) == ["cart_empty", "oven_offline", "lost_parcel", "kitchen_fire"]
    rows = dict(re.findall(r"^  (\w+): (\{.*\}),$", module, re.M))
    assert list(rows) == CODES
    assert json.loads(rows["OVEN_OFFLINE"]) == {
        "category": "system", "httpStatus": 503, "httpName": "oven_offline", "exitCode": 12, "rpcCode": 503,
        "retry": "yes", "message": "The oven does not answer.", "suggestion": "Turn it on."}
    assert "suggestion" not in json.loads(rows["PARCEL_LOST"])
    for name in ("field_required", "invalid_type", "invalid_length", "value_out_of_range", "pattern_mismatch"):
        assert f'"{name}"' in module


def the_manual_page_has_every_code_and_no_line_that_troff_takes_for_a_request(folder):
    page = Run(folder, GOOD).text("manual")
    assert page.startswith(".TH OWN\\-CODES 7 ")
    for line in page.splitlines():
        assert not line.startswith("'"), f"a request by accident: {line}"
        if line.startswith("."):
            assert re.match(r"\.(TH|SH|TP|B|BR|br)\b", line), f"a request by accident: {line}"
        assert re.search(r"\\[^e\-(]", line) is None, f"an escape by accident: {line}"
    for code in CODES:
        assert f".B {code}\n" in page, code
    assert "100%, \\eo/ and \\(aqquoted\\(aq" in page, page
    if shutil.which("groff") and subprocess.run(["groff", "-man"], input=b"", capture_output=True).returncode == 0:
        done = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-c"], input=page, capture_output=True,
                              text=True, encoding="utf-8")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert "'quoted'" in done.stdout and "\\o/" in done.stdout, done.stdout


def the_built_in_table_is_good(folder):
    output = os.path.join(folder, "codes.h")
    done = subprocess.run([sys.executable, GENERATE, BUILT_IN, "--header", output], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert os.listdir(folder) == ["codes.h"]


def the_installed_program_knows_the_names_of_the_built_in_table(folder):
    """It lies alone in its folder, far from the built-in table."""
    program, inner = os.path.join(folder, "mishap-catalog"), os.path.join(folder, "inner")
    subprocess.run([sys.executable, GENERATE, BUILT_IN, "--program", program], check=True)
    for table, said in ((TABLE, None), (TABLE.replace("GOOD_ONE", "TIMEOUT"), "TIMEOUT: the built-in table has")):
        os.mkdir(inner)
        run = Run(inner, table, generate=program)
        if said:
            run.assert_refused()
            assert [line for line, _ in run.lines()] == [2] and said in run.said, run.said
        else:
            assert (run.status, run.said) == (0, ""), run.said
        shutil.rmtree(inner)


TESTS_OF_THEIR_OWN = [
    all_flaws_are_reported_at_once_in_order,
    a_table_that_cannot_be_read_is_refused,
    a_good_table_gives_all_files_and_says_nothing,
    only_what_is_asked_for_is_written,
    the_c_table_includes_the_header_by_its_file_name_unless_told_otherwise,
    the_help_has_every_word_that_a_row_can_have,
    the_same_table_gives_the_same_files,
    a_c_compiler_accepts_header_and_table,
    the_c_table_has_every_text_and_number,
    the_schema_is_valid_json_with_every_code,
    the_typescript_module_has_every_code,
    the_manual_page_has_every_code_and_no_line_that_troff_takes_for_a_request,
    the_built_in_table_is_good,
    the_installed_program_knows_the_names_of_the_built_in_table,
]


def main():
    tests = [(f"{what} stops the generator", check_broken, arguments) for what, *arguments in BROKEN]
    tests += [(test.__name__, test, []) for test in TESTS_OF_THEIR_OWN]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test, arguments) in enumerate(tests, 1):
        try:
            in_folder(test, *arguments)
            print(f"ok {number} - {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join(f"# {line}" for line in f"{type(error).__name__}: {error}".splitlines()), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
