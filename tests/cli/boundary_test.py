"""Black-box tests of the command-line boundary: every command, bad input, services that cannot be opened,
secrets, odd text, and the manifest.

    MISHAP_PROGRAM=… SAMPLE_PROGRAM=… DIRECTORY_PROGRAM=… python3 tests/cli/boundary_test.py [PART-OF-A-NAME]

Speaks TAP. boundary.py holds every answer against what holds for all of them, and has the last tests.
"""
import contextlib
import os
import re
import socket
import stat
import tempfile

from blackbox import Answer, environment_of, equal, expect, in_time, main, parsed, run_program, test, tests_of
from boundary import (CATALOG, COMMANDS, FOLDER, LOG, MANIFESTS, PROGRAMS, SECRET, WITHOUT_HELP, after_all, ask, files_below,
                      fresh_file, on_terminal, run, told)

# ---- The command line, for every command of every program ----------------------------------------

NEEDING = {title: row for title, row in WITHOUT_HELP.items() if any(f["required"] for f in row[2]["flags"].values())}


def named(found):
    return [item["param"] for item in found["error"]["errors"]]


@tests_of(WITHOUT_HELP)
def a_bad_flag_is_named(program, words, command):
    found = ask(program, *words, "--bogus-one=1", status=2, code="ARG_ERROR")
    expect("--bogus-one" in named(found), found)
    equal(found["error"]["phase"], "validation")
    equal(found["meta"]["command"], " ".join(words), "the command")


@tests_of(WITHOUT_HELP)
def two_bad_flags_are_both_named(program, words, command):
    found = ask(program, *words, "--bogus-one=1", "--bogus-two", status=2, code="ARG_ERROR")
    expect({"--bogus-one", "--bogus-two"} <= set(named(found)), found)
    for flag in ("--bogus-one", "--bogus-two"):
        expect(flag in found["error"]["message"], found["error"]["message"])


@tests_of(WITHOUT_HELP)
def a_bad_value_of_a_common_flag_is_named(program, words, command):
    own = command["flags"]["timeout-ms"].get("default") is not None
    found = ask(program, *words, "--output", "morse", "--timeout-ms=never", status=2, code="ARG_ERROR")
    expect({"--output", "timeout_ms" if own else "--timeout-ms"} <= set(named(found)), found)


@tests_of(NEEDING)
def every_missing_parameter_is_named(program, words, command):
    found = ask(program, *words, status=2, code="ARG_ERROR")
    needed = [name.replace("-", "_") for name, flag in command["flags"].items() if flag["required"]]
    equal(named(found), needed, "the parameters")
    equal({item["code"] for item in found["error"]["errors"]}, {"FIELD_REQUIRED"})


@tests_of({title: row for title, row in WITHOUT_HELP.items() if row[1][0] not in ("manifest", "manual", "completion", "rest")
           and row[1] not in (["audit", "mcp"], ["audit", "cli"], ["wrap"], ["mcp-gateway"])})  # these take the words behind --
def an_unexpected_argument_is_named(program, words, command):
    found = ask(program, *words, "--", "one", "two", "three", "four", status=2, code="ARG_ERROR")
    expect("four" in named(found), found)


@tests_of({"some": (["--", "a", "b"], ["a", "b"]), "flags": (["--", "--loud", "--help", "-x", "--"], ["--loud", "--help", "-x", "--"]),
           "what would be a file": (["--", "@no-such-file", "@@", "-"], ["@no-such-file", "@@", "-"]), "JSON": (["--", "[1", "[]", '"'], ["[1", "[]", '"']),
           "the empty word": (["--", ""], [""]), "none": (["--"], None), "no end of flags": ([], None)})
def words_behind_two_hyphens_are_taken_unchanged(words, taken):
    found = ask("sample", "rest", "one", "--loud", *words)
    equal(found["data"], {"first": "one", "loud": True, "words": taken})


@test
def the_rest_can_be_given_with_its_flag_but_not_twice():
    equal(ask("sample", "rest", "--words", "a", "--words", "b")["data"]["words"], ["a", "b"])
    found = ask("sample", "rest", "--words", "a", "--", "b", status=2, code="ARG_ERROR")
    equal(named(found), ["words"])
    equal(named(ask("sample", "rest", "--", *"0123456789", status=2, code="ARG_ERROR")), ["words"])
    equal(named(ask("sample", "rest", "--", b"\xff", status=2, code="ARG_ERROR")), ["words"])


@test
def help_shows_what_takes_the_rest():
    expect(b"sample rest [OPTIONS] [FIRST] [-- WORD...]" in run("sample", "rest", "--help").err, "the usage")


@test
def an_operation_may_quote_traces_of_others_where_it_fails():
    answer = run_program(PROGRAMS["sample"], "quote")
    equal(answer.status, 5, "exit")
    expect("Traceback" in parsed(answer.out)["data"]["output"], answer.out)
    expect(b"Traceback" in run_program(PROGRAMS["sample"], "quote", "--output", "text").out, "the text")


@tests_of(COMMANDS)
def help_and_version_do_no_work(program, words, command):
    answer = run(program, *words, "--help")
    equal((answer.status, answer.out), (0, b""), "exit and stdout")
    expect(words[-1].encode() in answer.err, answer.err)
    answer = run(program, *words, "--version")
    equal((answer.status, answer.err), (0, b""), "exit and stderr")
    expect(re.fullmatch(rb"\w+ [\d.]+\n", answer.out), answer.out)


@tests_of({"with a flag": ["keys", "--help"], "with a letter": ["keys", "-h"], "with a word": ["help", "keys"]})
def the_first_word_of_several_commands_has_help_of_its_own(words):
    answer = run("mishap", *words)
    equal((answer.status, answer.out), (0, b""), "exit and stdout")
    equal(re.findall(rb"^  (\w+ \w+)", answer.err, re.M), [b"keys add", b"keys list", b"keys remove", b"keys disable",
          b"keys import", b"keys block", b"keys unblock"], "the commands")
    expect(answer.err.startswith(b"Usage: mishap keys COMMAND"), answer.err)
    expect(b"mishap keys COMMAND --help" in answer.err, answer.err)


@tests_of({"letters swapped": ("mishap", ["rendre"], "mishap render"),
           "a letter too few": ("mishap", ["chek"], "mishap check"),
           "a letter too many": ("mishap", ["connnect"], "mishap connect"),
           "built in": ("mishap", ["manifst"], "mishap manifest"),
           "of two words": ("directory", ["users", "craete"], "directory users create"),
           "the first of two": ("sample", ["secret"], "sample secret use"),
           "in capitals": ("sample", ["CRASH"], "sample crash"),
           "behind help": ("mishap", ["help", "rendre"], "mishap render"),
           "letters left out": ("mishap", ["srv"], "mishap serve"),
           "behind a flag": ("mishap", ["--output=json", "srv"], "mishap serve")})
def an_unknown_command_is_answered_with_the_nearest(program, words, nearest):
    found = ask(program, *words, status=2, code="UNKNOWN_COMMAND")
    equal(found["error"]["suggestion"], "Did you mean `%s`?" % nearest, "the suggestion")


@tests_of({"one word": ("mishap", ["scna"], "There is no command `scna`."), "in a group": ("mishap", ["audit", "htpp", "x"], "There is no command `audit htpp`."),
           "what no command has": ("mishap", ["a\x1b[31mb"], "The command does not exist."), "long": ("mishap", ["a" * 61], "The command does not exist.")})
def an_unknown_command_is_named(program, words, message):
    equal(ask(program, *words, status=2, code="UNKNOWN_COMMAND")["error"]["message"], message)
    answer = run(program, *words, "--output", "text")
    expect(answer.err.startswith(b"error UNKNOWN_COMMAND  " + message.encode()), answer.err)


@tests_of({"far from all": ["xylophone"], "none": [], "only a flag": ["--output", "json"]})
def without_a_near_command_help_is_suggested(words):
    found = ask("mishap", *words, status=2, code="UNKNOWN_COMMAND")
    equal(found["error"]["suggestion"], "Run `mishap --help` to see the commands.")


BEFORE = {"apart": ["--output", "text"], "in one": ["--output=text"], "after another": ["-v", "--output", "text"],
          "with a time": ["--timeout-ms", "60000", "--output", "text"]}


@tests_of(BEFORE)
def flags_of_all_commands_may_stand_before_the_command(flags):
    answer = run("sample", *flags, "types", "-s", "ab")
    equal(answer.status, 0, "exit")
    expect(re.search(rb"^string +ab$", answer.out, re.M), answer.out)
    answer = run("directory", *flags, "users", "list")
    equal((answer.status, answer.out, answer.err), (0, b"", b"The list is empty.\n"), "exit and users")
    answer = run("mishap", *flags, "srv")
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(b"error UNKNOWN_COMMAND" in answer.err and b"mishap serve" in answer.err, answer.err)


@test
def help_before_a_command_is_help_for_it():
    answer = run("sample", "--help", "types")
    expect(answer.status == 0 and b"--colour" in answer.err, answer)


@test
def an_unknown_command_is_told_as_it_was_asked_to_be():
    answer = run("mishap", "srv", "--output", "text")
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(answer.err.startswith(b"error UNKNOWN_COMMAND"), answer.err)


@test
def another_flag_before_the_command_is_named():
    error = ask("mishap", "--data", "x", "serve", status=2, code="UNKNOWN_COMMAND")["error"]
    expect(error["message"].startswith("The option --data was given before the command."), error)
    equal(error["suggestion"], "Write the option after the command: `mishap COMMAND --data`")


@tests_of({"explain": ("mishap", ["explain"], "code"), "connect": ("mishap", ["connect", "--port", "1"], "host"),
           "echo": ("sample", ["echo"], "text"), "secret use": ("sample", ["secret", "use"], "token"),
           "users create": ("directory", ["users", "create", "--email", "a@b.c"], "name")})
def a_file_for_a_value_that_cannot_be_read_is_named(program, words, param):
    closed = fresh_file("closed", b"x")
    os.chmod(closed, 0)
    for path in ["missing", FOLDER] + ([closed] if os.getuid() else []):
        found = ask(program, *words, "--" + param, "@" + path, status=2, code="ARG_ERROR")
        equal([(item["param"], item["code"]) for item in found["error"]["errors"]], [(param, "UNREADABLE_FILE")])


@test
def a_file_that_cannot_be_read_is_told_once_however_often_it_is_tried():
    for _ in range(60):  # a watcher that outlives the answer would give another one now and then
        ask("sample", "echo", "@missing", status=2, code="ARG_ERROR")


TYPES = {  # the words for `sample types`, the parameters that are named with the code of each
    "too short": (["-s", "a"], [("string", "INVALID_LENGTH")]),
    "too long in characters, not bytes": (["-s", "äöüäöü"], [("string", "INVALID_LENGTH")]),
    "no integer": (["-s", "ab", "--integer", "1.5"], [("integer", "INVALID_TYPE")]),
    "integer out of range": (["-s", "ab", "--integer=-11"], [("integer", "VALUE_OUT_OF_RANGE")]),
    "no number": (["-s", "ab", "--number", "NaN"], [("number", "INVALID_TYPE")]),
    "no boolean": (["-s", "ab", "--boolean=yes"], [("boolean", "INVALID_TYPE")]),
    "no choice": (["-s", "ab", "--colour", "blue"], [("colour", "INVALID_CHOICE")]),
    "item out of range": (["-s", "ab", "--list-of", "[1,10]"], [("list_of[1]", "VALUE_OUT_OF_RANGE")]),
    "too many items": (["-s", "ab", "--list-of", "[1,1,1,1]"], [("list_of", "INVALID_LENGTH")]),
    "half an array, then an item": (["-s", "ab", "--list-of", "[1", "--list-of", "2"], [("list_of", "INVALID_TYPE")]),
    "no object": (["-s", "ab", "--point", "[]"], [("point", "INVALID_TYPE")]),
    "names inside that are not known, beside the rest": (
        ["-s", "a", "--point", '{"y":2,"z":1}'],
        [("string", "INVALID_LENGTH"), ("point.x", "FIELD_REQUIRED"), ("point.y", "VALUE_OUT_OF_RANGE"),
         ("point.z", "UNKNOWN_FIELD")]),
    "a name inside that is not known, alone": (["-s", "ab", "--point", '{"x":1,"z":1}'], [("point.z", "UNKNOWN_FIELD")]),
    "members": (["-s", "ab", "--point", '{"y":2}'], [("point.x", "FIELD_REQUIRED"), ("point.y", "VALUE_OUT_OF_RANGE")]),
    "given twice": (["-s", "ab", "-s", "cd"], [("string", "GIVEN_TWICE")]),
    "everything at once": (["--colour", "blue", "--integer", "x", "--what"],
                           [("string", "FIELD_REQUIRED"), ("integer", "INVALID_TYPE"), ("colour", "INVALID_CHOICE"),
                            ("--what", "UNKNOWN_OPTION")]),
}


@tests_of(TYPES)
def every_bad_value_is_named_in_one_answer(words, expected):
    found = ask("sample", "types", *words, status=2, code="ARG_ERROR")
    equal(sorted((item["param"], item["code"]) for item in found["error"]["errors"]), sorted(expected), "the errors")


@tests_of({"an array": ("list_of", "[1,a]"), "an object": ("point", "{x:1}")})
def json_that_is_none_is_called_that(param, value):
    item, = ask("sample", "types", "-s", "ab", "--" + param, value, status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["message"]), ("INVALID_TYPE", "%s must be: valid JSON." % param))


@test
def an_array_in_place_of_an_object_is_called_an_array():
    item, = ask("sample", "types", "-s", "ab", "--point", " [1, 2]", status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["message"]), ("INVALID_TYPE", "point must be an object, not an array."))


@tests_of({"of a parameter": (["types", "-s", "ab", "--colour", "blue"], "blue"),
           "of a builtin": (["completion", "tcsh"], "tcsh"), "of a common flag": (["types", "-s", "ab", "--output", "x"], "x"),
           "of a long one": (["types", "-s", "ab", "--colour", "x" * 1000], "x" * 100)})
def a_wrong_choice_is_shown_beside_the_choices(words, value):
    item, = ask("sample", *words, status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["value"]), ("INVALID_CHOICE", value), "code and value")
    expect(item["message"].endswith(", not %s." % value), item)


@test
def a_pattern_is_told_in_words_where_there_are_some():
    item, = ask("sample", "form", "--place", "8080", status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["message"], item["expected"]),
          ("INVALID_FORMAT", "place must look like HOST:PORT, such as localhost:80, not 8080.", "HOST:PORT, such as localhost:80"))
    help_text = " ".join(run("sample", "form", "--help").err.decode().split())
    expect("Where it is (looks like HOST:PORT, such as localhost:80)" in help_text, help_text)
    about = MANIFESTS["sample"]["commands"]["form"]["flags"]["place"]["description"]
    expect("looks like HOST:PORT" in about and "matches ^[a-z]+:[0-9]+$" in about, about)
    for flag, sentence in {"listen": "listen must look like HOST:PORT, such as ",
                           "public-url": "public_url must look like https://"}.items():
        item, = ask("mishap", "serve", "--" + flag, "8080 ", status=2, code="ARG_ERROR")["error"]["errors"]
        expect(item["message"].startswith(sentence), item)
    error = ask("mishap", "serve", "--cors", "8080 ", status=2, code="ARG_ERROR")["error"]
    expect("scheme://host" in error["message"] and "--cors https://" in error["suggestion"], error)


@tests_of({"one": (["form", "--place", "a:70000"], ["place must be at least 0 and at most 65535, not 70000."], 1),
           "of the arguments": (["types"], ["string is required (string)."], 1),
           "several": (["types", "-s", "a", "--integer", "x"], ["string must have", "integer must be"], 1)})
def every_field_is_named_once_in_text(words, sentences, times):
    err = run("sample", *words, "--output", "text").err.decode()
    for sentence in sentences:
        equal(err.count(sentence), times, sentence + " in " + err)


@test
def a_port_that_there_is_not_is_named_in_text():
    answer = run("mishap", "serve", "--listen", "127.0.0.1:70000", "--output", "text")
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(b"- listen must be at least 0 and at most 65535, not 70000." in answer.err, answer.err)


@test
def values_of_every_type_arrive():
    long = fresh_file("long", "[1, 2]".encode())
    found = ask("sample", "types", "--string", "äöüäö", "--integer=-3", "--number", "0.5", "-b", "--colour=red",
                "--list-of", "@" + long, "--point", '{"x": 1, "y": -1}')
    equal(found["data"], {"string": "äöüäö", "integer": -3, "number": 0.5, "boolean": True, "colour": "red",
                          "list_of": [1, 2], "point": {"x": 1, "y": -1}})
    found = ask("sample", "types", "--list-of", "1", "-s", "-", "--list-of=2", stdin=b"in")
    equal((found["data"]["string"], found["data"]["list_of"], found["data"]["integer"]), ("in", [1, 2], 3))


# ---- Connecting ----------------------------------------------------------------------------------

@contextlib.contextmanager
def a_port(listen=None):
    """A loopback port that no process listens on, or with a queue of that length."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listen is not None:
            server.listen(listen)
        yield server.getsockname()[1]


@test
def a_closed_port_is_answered_as_the_requirement_has_it():
    with a_port() as port:
        found = ask("mishap", "connect", "--host", "127.0.0.1", "--port", str(port), status=12,
                    code="CONNECTION_REFUSED")
    error = found["error"]
    equal(error["message"], "Cannot connect to database at 127.0.0.1:%d." % port, "the sentence")
    equal(error["cause"], "Connection refused (ECONNREFUSED)", "the cause")
    equal(error["context"], {"host": "127.0.0.1", "port": port, "timeout_ms": 5000}, "the context")
    expect(str(port) in error["suggestion"], error["suggestion"])
    equal((error["retryable"], found["data"], found["meta"]["command"]), (True, None, "connect"))


@tests_of({"name": "no-such-host.invalid", "name with a dot at its end": "no-such-host.invalid."})
def a_host_that_is_not_known_has_its_own_code(host):
    error = ask("mishap", "connect", "--host", host, "--port", "5432", "--timeout-ms", "25000", status=12,
                code="HOST_NOT_FOUND")["error"]
    expect("EAI_NONAME" in error["cause"], error["cause"])
    equal(error["context"]["host"], host)


@test
def a_port_that_does_not_answer_in_time_has_its_own_code():
    with a_port(listen=0) as port, contextlib.ExitStack() as stack:
        for _ in range(4):  # fill the queue, so that the next one is left without an answer
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        error = in_time(lambda: ask("mishap", "connect", "--host", "127.0.0.1", "--port", str(port), "--timeout-ms", "300", status=12,
                                    code="CONNECTION_TIMEOUT")["error"], 0.25, 20)
    expect("ETIMEDOUT" in error["cause"], error["cause"])
    equal(error["context"]["timeout_ms"], 300)


@test
def an_open_port_is_no_failure():
    with a_port(listen=5) as port:
        found = ask("mishap", "connect", "--host", "127.0.0.1", "--port", str(port), "--timeout-ms", "25000")
    equal((found["data"]["connected"], found["data"]["port"]), (True, port))


@tests_of({"0": "0", "65536": "65536", "-1": "-1", "text": "http", "fraction": "1.5"})
def a_bad_port_is_refused(port):
    equal(named(ask("mishap", "connect", "--host", "127.0.0.1", "--port", port, status=2, code="ARG_ERROR")), ["port"])


# ---- Services that cannot be opened --------------------------------------------------------------

def unopened(data):
    """A service that does not open: what a command and `mcp`, whose standard output is not for this, say of it."""
    error = ask("mishap", "users", "list", env={"MISHAP_DATA": data}, status=78, code="NOT_CONFIGURED")["error"]
    equal((error["message"], error["retryable"]), ("The service todo is not available.", False))
    answer = run("mishap", "mcp", "--data", data)
    equal(told("mishap", Answer(answer.status, answer.err, b""), 78, "NOT_CONFIGURED")["error"], error, "over MCP")
    return error


@test
def a_data_folder_that_cannot_be_made_is_named_with_the_reason():
    error = unopened("/proc/x")
    equal(error["cause"], "The data folder /proc/x cannot be created. No such file or directory (ENOENT)")
    equal(error["suggestion"], "Set MISHAP_DATA to a folder that the program can write to.")


@test
def a_store_that_is_no_database_is_named():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        with open(os.path.join(folder, "todo.sqlite"), "wb") as file:
            file.write(b"x" * 4096)
        error = unopened(folder)
        equal(error["cause"], "The store %s/todo.sqlite is not an SQLite database." % folder)
        equal(error["suggestion"], "Restore the store from a backup, or use another store.")


@test
def a_store_that_cannot_be_made_is_named_with_the_reason():
    equal(unopened("/proc")["cause"], "The store /proc/todo.sqlite cannot be created. No such file or directory")


@tests_of({"serve": (["serve"], "the folder that --data names, else that MISHAP_DATA names, by default in ~/.local/share/mishap."),
           "mcp": (["mcp"], "the folder that --data names, else that MISHAP_DATA names, by default in ~/.local/share/mishap."),
           "of a service": (["users", "list"], "the folder that MISHAP_DATA names, by default in ~/.local/share/mishap.")})
def help_says_where_data_is_kept(words, sentence):
    shown = " ".join(run("mishap", *words, "--help").err.decode().split())
    expect("Data is stored in " + sentence in shown, shown)
    expect(words != ["serve"] or "/mcp" in shown, "no word of /mcp in", shown)
    log = "Failures are logged to the file that MISHAP_LOG names, by default to ~/.local/state/mishap/mishap.log."
    equal(log in shown, words[0] in ("serve", "mcp"), "a word of the log in " + shown)
    for none in (["explain"], ["symbolic", "check"], ["lisp", "evaluate"]):
        expect(b"MISHAP_DATA" not in run("mishap", *none, "--help").err, "what keeps nothing says so:", none)


@test
def an_access_log_that_cannot_be_opened_is_answered_with_what_to_do():
    with tempfile.TemporaryDirectory(dir=FOLDER) as data:
        error = ask("mishap", "serve", "--listen", "127.0.0.1:0", "--data", data, "--access-log", data + "/none/log", status=74,
                    code="OUTPUT_FAILED")["error"]
    equal(error["suggestion"], "Give --access-log a file in an existing folder that the server can write to.")


@test
def the_name_of_a_key_is_explained_without_a_pattern():
    message = ask("mishap", "keys", "add", "--name", "a b", status=2, code="ARG_ERROR")["error"]["message"]
    expect("must look like ci.nightly-2: up to 63 of" in message and "^" not in message, message)


@test
def a_data_folder_is_made_for_its_owner_before_a_service_opens():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        data = os.path.join(folder, "deep", "er")
        ask("mishap", "users", "list", env={"MISHAP_DATA": data})
        equal(stat.S_IMODE(os.stat(data).st_mode), 0o700, "the mode of the folder")


@test
def bad_input_help_and_version_leave_nothing_on_the_disk():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        where = {"cwd": folder, "env": {"HOME": folder, "XDG_STATE_HOME": folder + "/state",
                                        "SAMPLE_LOG": folder + "/log", "DIRECTORY_FILE": folder + "/users"}}
        bad = [("sample", "touch", "--path", folder + "/new", "--count", "99"),
               ("sample", "touch", "--path", folder + "/new", "--x"),
               ("directory", "users", "create", "--name", "Ada"), ("directory", "users", "craete"),
               ("sample", "types", "-s", "@missing")]
        bad += [(program, *words, "--bogus") for program, words, _ in WITHOUT_HELP.values()]
        for line in bad:
            told(line[0], run(*line, **where))
        for program, words, _ in COMMANDS.values():
            for word in ("--help", "--version"):
                equal(run(program, *words, word, **where).status, 0)
        for program in PROGRAMS:
            for words in (["manifest"], ["manual"], ["completion", "zsh"], ["--help"], ["--version"], ["help"]):
                equal(run(program, *words, **where).status, 0, words)
        equal([path for path in files_below(folder) if os.path.isfile(path) and not path.endswith("log")], [],
              "what was written beside the journal")


# ---- Secrets -------------------------------------------------------------------------------------

@tests_of({"apart": ["--token", SECRET], "behind an equals sign": ["--token=" + SECRET]})
def a_secret_on_the_command_line_is_refused(words):
    answer = run("sample", "secret", "use", *words, "--verbose")
    found = told("sample", answer, 2, "ARG_ERROR", err=None)
    equal([item["code"] for item in found["error"]["errors"]], ["SECRET_IN_ARGUMENTS"])
    expect(found["error"]["message"].endswith("pass it in a file (@FILE) or on standard input (-)."), found["error"]["message"])


@test
def a_secret_is_taken_from_the_environment_a_file_or_standard_input():
    expected = {"length": len(SECRET)}
    equal(ask("sample", "secret", "use", env={"SAMPLE_TOKEN": SECRET})["data"], expected)
    secret = os.path.join(FOLDER, "secret")
    fresh_file("secret", SECRET.encode() + b"\n")
    try:
        equal(ask("sample", "secret", "use", "--token", "@" + secret)["data"], expected)
        equal(ask("sample", "secret", "use", "--token", "-", stdin=SECRET.encode())["data"], expected)
    finally:
        os.unlink(secret)  # what is found later was written by a program


@tests_of({"in a message": ("message", 8, "AUTH_REQUIRED", SECRET), "in a failure": ("fail", 8, "AUTH_REQUIRED", SECRET), "in a crash": ("crash", 1, "INTERNAL_ERROR", SECRET),
           "in nonsense": ("nonsense", 1, "INTERNAL_ERROR", SECRET), "in what is printed": ("print", 1, "INTERNAL_ERROR", SECRET), "too long": ("length", 2, "ARG_ERROR", SECRET * 5),
           "against its pattern": ("length", 2, "ARG_ERROR", "x" + SECRET)})
def a_secret_is_not_shown(how, status, code, secret):
    for words in ([], ["--verbose"]):
        answer = run("sample", "secret", "use", "--how", how, *words, env={"SAMPLE_TOKEN": secret})
        told("sample", answer, status, code, err=None)
        expect(SECRET[:-4].encode() not in answer.out + answer.err, answer)
    _, shown = on_terminal("sample", "secret", "use", "--how", how, "--verbose", env={"SAMPLE_TOKEN": secret})
    expect(SECRET[:-4].encode() not in shown, shown)


@test
def text_beside_a_failure_is_shown_without_its_secrets():
    _, shown = on_terminal("sample", "secret", "use", "--how", "text", env={"SAMPLE_TOKEN": SECRET})
    expect(b"AUTH_REQUIRED" in shown and b"I tried [redacted]." in shown, shown)


@tests_of({"in an answer": ("answer", b"I used " + SECRET.encode() + b" for it."),
           "in a document": ("document", SECRET.encode() + b"\n")})
def a_secret_that_a_handler_answers_with_is_its_own_affair(how, said):
    answer = run_program(PROGRAMS["sample"], "secret", "use", "--how", how, env={"SAMPLE_TOKEN": SECRET})
    equal((answer.status, answer.err), (0, b""), "how it ended")
    expect(said in answer.out, answer)


# ---- What is echoed, terminals, locales ----------------------------------------------------------

ODD = {"invalid UTF-8": b"a\xff\xfe\x80", "an escape sequence": b"a\x1b[31;1m\x1b]0;title\x07",
       "overlong": b"\xc0\xaf\xe0\x80\x80",
       "a surrogate": b"\xed\xa0\x80", "control characters": b"a\r\x08\x7f\x01\n",
       "C1 in UTF-8": b"a\xc2\x9b31m\xc2\x9d",
       "C1 alone": b"a\x9b31m"}


def odd_lines(odd):
    yield "sample", ["echo", odd]
    yield "sample", ["echo", b"--" + odd]
    yield "sample", [odd]
    yield "sample", ["types", "-s", "ab", b"--colour=" + odd, odd]
    yield "sample", ["echo", b"@" + odd]
    yield "mishap", ["explain", odd]
    yield "mishap", ["connect", "--port", "1", b"--host=" + odd + b".invalid"]
    yield "mishap", ["render", "--dialect", "http-api", odd]
    yield "mishap", ["completion", odd]
    yield "directory", ["users", "create", b"--name=" + odd, b"--email=" + odd]


@tests_of(ODD)
def an_odd_argument_is_never_echoed_raw(odd):
    for program, words in odd_lines(odd):
        answer = run(program, *words)
        found = told(program, answer)
        expect(not found["ok"], "it worked:", words)
        if "--verbose" not in words:
            err = run(program, *words, "--verbose").err
            expect(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", err), "control characters on stderr:", err)
            err.decode("utf-8")


@tests_of(ODD)
def an_odd_argument_is_never_shown_raw_on_a_terminal(odd):
    for program, words in odd_lines(odd):
        for how in ([], ["--output", "json"], ["--verbose"], *([] if "--dialect" in words else [["--dialect", "condition-report"]])):
            status, shown = on_terminal(program, *words, *how, env={"NO_COLOR": "1"})
            expect(status != 0, words)
            text = shown.decode("utf-8")  # it must be UTF-8
            expect(not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text), "control characters in", text)


DIALECTS = ["artifact", "canonical", "cli-envelope", "condition-report", "google-rpc", "graphql", "http-api", "json-api", "json-rpc", "problem",
            "tool-result"]


@tests_of({name: name for name in DIALECTS})
def no_dialect_moves_the_cursor_of_a_terminal(dialect):
    odd = "a\x1b[31;1m\x1b]0;title\x07\x9b2J\x7f\u202e\u2028b"
    words = ["connect", "--port", "1", "--host=" + odd + ".invalid", "--dialect", dialect]
    status, shown = on_terminal("mishap", *words, env={"NO_COLOR": "1"})
    expect(status != 0, words)
    text = shown.decode("utf-8")
    expect(not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\u2028]", text), "control characters in", text)
    expect(".invalid" in text, "nothing of it is shown:", text)
    if dialect == "condition-report":  # where nothing acts on them, all bytes are there
        expect(odd.encode() in run("mishap", *words).out, "it is not exact")


@test
def a_failure_on_a_terminal_is_a_few_readable_lines():
    status, shown = on_terminal("sample", "crash", "--how", "abort", env={"NO_COLOR": "1"})
    equal(status, 1)
    lines = rb"error INTERNAL_ERROR  An internal error occurred\.\r\n +incident: [0-9a-f-]{36}\r\n"
    expect(re.fullmatch(lines + rb" +details: " + re.escape(LOG.encode()) + rb"\r\n", shown), shown)
    _, shown = on_terminal("sample", "crash", "--how", "abort", env={"NO_COLOR": "1", "SAMPLE_LOG": ""})
    expect(re.fullmatch(lines, shown), shown)
    _, shown = on_terminal("sample", "echo", "x", env={"NO_COLOR": "1"})
    expect(shown.startswith(b"error NOT_FOUND  There is no x.\r\n    try: "), shown)
    _, shown = on_terminal("sample", "echo", "x", env={"TERM": "xterm"})
    expect(b"\x1b[1;31merror\x1b[0m" in shown, "no colour in", shown)
    for words in (["echo", "x"], ["--help"]):
        _, shown = on_terminal("sample", *words, env={"TERM": "dumb"})
        expect(b"\x1b" not in shown, "colour in", shown)
    status, shown = on_terminal("sample", "echo", "x", "--output", "json")
    equal((status, parsed(shown)["error"]["code"]), (5, "NOT_FOUND"))


LOCALE_LINES = [("sample", "types", "-s", "ab", "--number", "0.5", "--integer", "x"),
                ("sample", "types", "-s", "ab", "--number", "1.25"),
                ("sample", "types", "-s", "ı", "--number", "-1,5"), ("mishap", "explain", "TIMEOUT"),
                ("mishap", "rendrİ"),
                ("mishap", "connect", "--host", "x.invalid", "--port", "1", "--timeout-ms", "25000"),
                ("sample", "raise", "--code", "INVALID_ARGUMENT"),
                ("mishap", "INIT"), ("sample", "TITLE", "--I"), ("sample", "manifest"), ("mishap", "explain", "i")]
VARIES = rb'"(duration_ms|request_id|timestamp|incident)":("[^"]*"|\d+)'


@tests_of({name: name for name in ["C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "no_SUCH.locale"]})
def the_locale_changes_no_byte(locale):
    env = environment_of(locale)
    for line in LOCALE_LINES:
        answers = [run(*line, env=one) for one in (env, {"LC_ALL": "C"})]
        for answer in answers:
            told(line[0], answer)
        equal(*[(answer.status, re.sub(VARIES, b"", answer.out)) for answer in answers], line)


@test
def the_trace_id_of_the_caller_is_passed_on():
    equal(ask("sample", "types", "-s", "ab", env={"TOOL_TRACE_ID": "abc-123"})["meta"]["trace_id"], "abc-123")
    ask("sample", "types", "-s", "ab", env={"TOOL_TRACE_ID": b"\xff\x1b[31m"})
    expect("trace_id" not in ask("sample", "types", "-s", "ab", env={"TOOL_TRACE_ID": ""})["meta"])


# ---- The manifest --------------------------------------------------------------------------------

COMMON = {"output": "enum", "dialect": "enum", "timeout-ms": "integer", "verbose": "boolean", "help": "boolean", "version": "boolean"}
DECLARED = {  # flag: type, required, default, enum_values, short
    "types": {"string": ("string", True, None, None, "s"), "integer": ("integer", False, 3, None, None),
              "number": ("number", False, None, None, None), "boolean": ("boolean", False, None, None, "b"),
              "colour": ("enum", False, None, ["red", "green"], None), "list-of": ("array", False, None, None, None),
              "point": ("object", False, None, None, None)},
    "secret.use": {"token": ("string", True, None, None, None),
                   "how": ("enum", False, "length", ["length", "fail", "crash", "nonsense", "message", "answer",
                                                      "document", "print", "text"], None)},
    "touch": {"path": ("string", True, None, None, None), "count": ("integer", False, None, None, None),
              "wait": ("boolean", False, None, None, None)},
    "undeclared": {},
}


@tests_of({name: (name, flags) for name, flags in DECLARED.items()})
def the_manifest_has_the_flags_as_declared(name, flags):
    found = MANIFESTS["sample"]["commands"][name]
    equal({flag: (row["type"], row["required"], row.get("default"), row.get("enum_values"), row.get("short"))
           for flag, row in found["flags"].items() if flag not in COMMON}, flags)
    equal({flag: row["type"] for flag, row in found["flags"].items() if flag in COMMON}, COMMON)
    for row in found["flags"].values():
        expect(set(row) <= {"type", "required", "description", "default", "enum_values", "short"}, row)


INCIDENTS = ["incidents." + name for name in ("list", "show", "groups", "group", "resolve", "mute", "stats", "tail", "export")]


@test
def the_manifest_lists_every_command_with_its_danger():
    equal(list(MANIFESTS["sample"]["commands"]),
          ["crash", "leave", "memory", "nonsense", "undeclared", "misuse", "raise", "block", "write", "leak", "rest", "quote", "secret.use",
           "echo", "types", "touch", "much", "linger", "form", "mcp", *INCIDENTS, "help", "manifest", "completion", "manual"])
    equal({name for name, row in MANIFESTS["sample"]["commands"].items() if row["danger_level"] != "safe"},
          {"touch", "linger", "mcp", "incidents.resolve", "incidents.mute"})
    equal(MANIFESTS["sample"]["commands"]["types"]["examples"],
          [{"description": "The least", "command": "sample types --string abc"}])
    equal(list(MANIFESTS["mishap"]["commands"]),
          ["render", "translate", "check", "scan", "catalog", "explain", "connect", "doctor", "health", "audit.http", "audit.mcp", "audit.cli", "wrap", "gateway", "mcp-gateway",
           "users.create", "users.get", "users.list", "users.update", "users.delete",
           "todos.create", "todos.get", "todos.list", "todos.update", "todos.delete", "todos.clear", "todos.plan", "premium.report",
           "chaos.fail", "lisp.evaluate", "lisp.validate", "lisp.compile", "lisp.macroexpand", "lisp.describe", "lisp.apropos",
           "lisp.last-error", "lisp.backtrace", "lisp.definitions", "lisp.reset", "lisp.limits", "lisp.time", "lisp.load",
           "lisp.repl", "artifacts.invoke", "artifacts.events", "symbolic.check", "symbolic.find", "symbolic.compare", "symbolic.branches", "symbolic.health",
           "symbolic.security", "symbolic.server", "symbolic.capabilities", "symbolic.plan-check", "symbolic.plan-find", "symbolic.plan-compare",
           "symbolic.plan-branches", "serve", "keys.add", "keys.list", "keys.remove", "keys.disable", "keys.import", "keys.block", "keys.unblock", "mcp", *INCIDENTS,
           "tasks.list", "tasks.show", "tasks.wait", "tasks.answer", "tasks.reply", "tasks.cancel", "help", "manifest", "completion", "manual"])


@tests_of(COMMANDS)
def the_exit_codes_of_a_command_are_sound(program, words, command):
    codes = command["exit_codes"]
    expect({"0", "1", "2", "4", "10", "130", "143"} <= set(codes), list(codes))
    for code, row in codes.items():
        expect(1 <= len(row["description"]) <= 120, row)
        expect(row["side_effects"] in ("none", "partial", "complete"), row)
        expect(not row["retryable"] or row["side_effects"] == "none", row)
        expect(row["side_effects"] != "complete" or code == "0", row)
        expect(int(code) < 79 or row["name"], row)


@test
def every_code_of_the_catalog_is_in_the_map_of_what_declares_it():
    declared = set(MANIFESTS["sample"]["commands"]["raise"]["exit_codes"])
    equal({str(row["exit_code"]) for row in CATALOG.values()} - declared, set())


@tests_of({name: name for name in PROGRAMS})
def the_manifest_is_the_same_in_every_run(program):
    found = [ask(program, "manifest", env=env)["data"] for env in ({}, {"LC_ALL": "C.UTF-8", "HOME": "/"}, {})]
    equal(found, [MANIFESTS[program]] * 3)
    expect(re.fullmatch("[0-9a-f]{16}", found[0]["etag"]), found[0]["etag"])


# ---- The example ---------------------------------------------------------------------------------

@test
def the_directory_creates_lists_and_refuses():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        env = {"DIRECTORY_FILE": os.path.join(folder, "users.txt")}
        ada = {"name": "Ada Lovelace", "age": 36, "email": "ada@example.com"}
        words = ["users", "create", "--name", ada["name"], "--age", "36", "--email", ada["email"]]
        equal(ask("directory", "users", "list", env=env)["data"], [])
        equal(ask("directory", *words, env=env)["data"], ada)
        error = ask("directory", *words, env=env, status=6, code="ALREADY_EXISTS")["error"]
        equal((error["context"], error["retryable"]), ({"email": ada["email"]}, False))
        equal(ask("directory", "users", "list", env=env)["data"], [ada])


@test
def the_directory_names_all_three_findings_at_once():
    error = ask("directory", "users", "create", "--age", "200", "--email", "nowhere", status=2,
                code="ARG_ERROR")["error"]
    equal([(item["param"], item["code"], item["value"]) for item in error["errors"]],
          [("name", "FIELD_REQUIRED", None), ("age", "VALUE_OUT_OF_RANGE", 200), ("email", "PATTERN_MISMATCH", None)])
    expect(not os.path.exists(os.environ["DIRECTORY_FILE"]), "a file was written")


@test
def the_directory_says_so_when_its_file_cannot_be_opened():
    error = ask("directory", "users", "create", "--name", "A", "--email", "a@b.c",
                env={"DIRECTORY_FILE": "/dev/null/users"}, status=12, code="UNAVAILABLE")["error"]
    equal(error["retryable"], True)


after_all(0, 1, 2, 5, 6, 8, 12)

if __name__ == "__main__":
    main()
