"""Settings of services: flags, variables and a file, at every command that opens a service.

    MISHAP_PROGRAM=… WORKS_PROGRAM=… python3 tests/http/settings_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/works.c is the program that is set up.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of

WORKS = os.path.abspath(os.environ["WORKS_PROGRAM"])
SECRET = "marker-private-token"
DATA = os.path.join(server.FOLDER, "works")
LOG = os.path.join(server.FOLDER, "works.log")
os.environ.update(WORKS_LOG=LOG)
files = 0


def write(content):
    """A new file with this in it: text, bytes, or what becomes JSON."""
    global files
    files += 1
    path = os.path.join(server.FOLDER, "config-%d.json" % files)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def command(*words, status=0, env=None):
    found = run_program(WORKS, *words, "--output", "json", env={"WORKS_DATA": DATA, **(env or {})})
    equal(found.status, status, "exit code of %r: %r" % (words, found.out))
    return parsed(found.out)


def refused(*words, env=None):
    """All findings of a command that is refused: {name: (code, sentence)}."""
    error = command(*words, status=2, env=env)["error"]
    equal(error["code"], "ARG_ERROR", "code")
    return {item["param"]: (item["code"], item["message"]) for item in error["errors"]}, error


# ---- What counts ---------------------------------------------------------------------------------

FILE = {"press": {"store": "file:press", "copies": 3}, "vault": {"store": "file:vault", "door": {"number": 7}},
        "rate": 1000000, "listen": "127.0.0.1:0"}


@tests_of({"the default": ([], {}, None, (None, 2)),
           "a file": ([], {}, FILE, ("file:press", 3)),
           "a variable before a file": ([], {"WORKS_PRESS_STORE": "variable:"}, FILE, ("variable:", 3)),
           "an empty variable is none": ([], {"WORKS_PRESS_STORE": ""}, FILE, ("file:press", 3)),
           "a flag before all": (["--press-store", "flag:", "--press-copies=9"], {"WORKS_PRESS_STORE": "variable:"}, FILE,
                                 ("flag:", 9))})
def a_command_is_opened_with(flags, variables, file, expected):
    for by_variable in (False, True) if file else (False,):
        path = write(file) if file else None
        extra = [] if by_variable or not path else ["--config", path]
        env = dict(variables, **({"WORKS_CONFIG": path} if by_variable else {}))
        found = command("press", "show", *flags, *extra, env=env)["data"]
        equal((found.get("store"), found["copies"], found["opened_here"]), (*expected, True), "opened with")


@test
def the_name_of_the_service_may_be_left_out():
    for flags, expected in (("--copies 5", (5, None)), ("--copies=5", (5, None)), ("--loud", (2, True)), ("--no-loud", (2, False)),
                            ("--no-press-loud", (2, False)), ("--loud --copies 7", (7, True))):
        found = command("press", "show", *flags.split(" "))["data"]
        equal((found["copies"], found.get("loud")), expected, flags)


@test
def a_flag_without_the_name_of_the_service_is_of_one_service_of_the_command():
    for words, flag in (("press show --no-copies", "--no-copies"), ("press show --door {}", "--door"), ("press show --no-", "--no-"),
                        ("serve --token 12345678", "--token")):
        equal(refused(*words.split(" "))[0][flag][0], "UNKNOWN_OPTION", words)
    equal(list(refused("press", "show", "--copies", "3", "--press-copies", "3")[0].items())[0][1][0], "GIVEN_TWICE", "both names")


@test
def a_server_and_its_workers_have_settings_from_everywhere():
    with server.Server("--config", write(FILE), "--vault-store", "flag:vault", "--workers", "2", program=WORKS,
                       WORKS_PRESS_PAPER="letter", WORKS_PRESS_TOKEN="a-long-token") as found:
        press, vault = found.ask("GET", "/press").json, found.ask("GET", "/vault").json
        equal((press["store"], press["copies"], press["paper"], press["token_length"], press["folder"]),
              ("file:press", 3, "letter", 12, "data"), "the press")
        equal(vault, {"store": "flag:vault", "door": 7}, "the vault")


@test
def one_address_does_not_reach_another_service():
    with server.Server("--press-store", "postgresql://press", "--workers", "1", program=WORKS) as found:
        equal(found.ask("GET", "/press").json["store"], "postgresql://press", "its own")
        equal(found.ask("GET", "/vault").json.get("store"), None, "the other")


@test
def one_store_stands_for_all_that_are_given_none():
    with server.Server("--store", "all:", "--vault-store", "own:", "--workers", "1", program=WORKS) as found:
        equal((found.ask("GET", "/press").json["store"], found.ask("GET", "/vault").json["store"]), ("all:", "own:"), "stores")


@test
def agents_are_served_with_settings():
    with talk.Server("--config", write(FILE), "--press-copies", "5", program=WORKS, revision="2025-11-25") as found:
        answer = found.call("press_show")["structuredContent"]
        equal((answer["store"], answer["copies"]), ("file:press", 5), "the press")
        names = [tool["inputSchema"].get("properties") for tool in found.ask("tools/list")["result"]["tools"]]
        expect("press_store" not in json.dumps(names) and "config" not in json.dumps(names), "settings are no parameters:", names)


@test
def options_of_a_server_come_from_the_file_too():
    with server.Server("--config", write({"rate": 0, "listen": "127.0.0.1:1", "body_limit": 10}), program=WORKS) as found:
        equal(found.ask("GET", "/press").status, 200, "a flag comes before the file")
    findings, _ = refused("serve", "--config", write({"listen": "nowhere", "rate": -1, "workers": "many"}), "--data", DATA)
    equal(set(findings), {"listen", "rate", "workers"}, "findings")


@test
def the_data_folder_of_the_file_counts_for_commands_too():
    folder = os.path.join(server.FOLDER, "elsewhere")
    path = write({"data": folder})
    equal(command("press", "show", "--config", path, env={"WORKS_DATA": ""})["data"]["folder"], "elsewhere", "from the file")
    equal(command("press", "show", "--config", path)["data"]["folder"], "works", "a variable comes first")
    for data in [5, "", folder + "\0tail"]:
        findings, _ = refused("press", "show", "--config", write({"data": data}), env={"WORKS_DATA": ""})
        equal(findings["data"][0], "INVALID_VALUE", "no folder")


# ---- What is wrong -------------------------------------------------------------------------------

@test
def all_findings_are_told_at_once_under_the_names_they_came_by():
    path = write({"press": {"copis": 1, "paper": "a5"}, "vault": {"door": {"numbr": 1}}, "valt": {}, "lisen": "x"})
    findings, error = refused("serve", "--data", DATA, "--config", path, "--press-store", "", "--workers", "x",
                              "--vault-stor", "x", "--press-token", "in-the-open", env={"WORKS_PRESS_COPIES": "10"})
    equal({name: code for name, (code, _) in findings.items()},
          {"--vault-stor": "UNKNOWN_OPTION", "--press-token": "SECRET_IN_ARGUMENTS", "press.copis": "UNKNOWN_FIELD",
           "vault.door.numbr": "UNKNOWN_FIELD", "valt": "UNKNOWN_FIELD", "lisen": "UNKNOWN_FIELD",
           "--press-store": "INVALID_LENGTH", "WORKS_PRESS_COPIES": "VALUE_OUT_OF_RANGE", "press.paper": "INVALID_CHOICE",
           "vault.door.number": "FIELD_REQUIRED", "workers": "INVALID_TYPE"}, "findings")
    equal(error["context"]["config"], path, "the file")
    for name, words in [("press.copis", "did you mean copies?"), ("lisen", "did you mean listen?"),
                        ("--vault-stor", "--vault-store"), ("press.paper", "press.paper must be one of a4 or letter, not a5.")]:
        expect(words in findings[name][1], name, findings[name])


@test
def one_finding_is_told_as_a_sentence():
    _, error = refused("press", "show", env={"WORKS_PRESS_COPIES": "10"})
    equal(error["message"], "A setting is not valid: WORKS_PRESS_COPIES must be at least 1 and at most 9, not 10.", "message")
    _, error = refused("mcp", "--press-paper", "a5")
    equal(error["message"], "A setting is not valid: --press-paper must be one of a4 or letter, not a5.", "message")


LOCKED = os.path.join(server.FOLDER, "locked.json")
os.close(os.open(LOCKED, os.O_CREAT | os.O_WRONLY, 0))
PIPE = os.path.join(server.FOLDER, "pipe")
os.mkfifo(PIPE)


@tests_of({
    "no JSON": (b"press: {}", "cannot be used. At line 1, column 1: This is not JSON: unexpected character"),
    "nothing": (b"", "cannot be used. At line 1, column 1: This is not JSON: the text is empty."),
    "a list": (b"[]", "cannot be used. At line 1, column 1: This must be a JSON object, but it is an array."),
    "deep": (b'{"press":' + b"[" * 100000, "cannot be used. At line 1, column"),
    "deep and closed": (b'{"press":' + b"[" * 1000 + b"]" * 1000 + b"}", "Values are nested more than 128 levels deep."),
    "a NUL": (b'{"press":{"store":"a\0b"}}', "cannot be used. At line 1, column 21: This is not JSON"),
    "a NUL in a key": (b'{"a\\u0000b":1}', "cannot be used. At line 1, column 2: A key contains a NUL character."),
    "no UTF-8": (b'{"press":{"store":"\xff"}}', "cannot be used. At line 1, column"),
    "half a pair": (b'{"press":{"store":"\\ud800"}}', "A string contains half of a surrogate pair."),
    "a member twice": (b'{"press":{\n"store":"a","store":"b"}}', "At line 2, column 13: The object has the key `store` twice."),
    "huge": (b" " * (1 << 20) + b"{}", "cannot be read. It is larger than 1 MB."),
    "no file": ("/nowhere/config.json", "cannot be read. No such file or directory (ENOENT)."),
    "a folder": (server.FOLDER, "cannot be read. Is a directory (EISDIR)."),
    "a pipe that nobody writes to": (PIPE, "This is not JSON: the text is empty."),
    "without an end": ("/dev/zero", "cannot be read. It is larger than 1 MB."),
    **({"unreadable": (LOCKED, "cannot be read. Permission denied (EACCES).")} if os.getuid() else {}),
})
def a_file_is_refused(content, words):
    path = write(content) if isinstance(content, bytes) else content
    for way in (["--config", path], []):
        env = {} if way else {"WORKS_CONFIG": path}
        findings, _ = refused("press", "show", *way, env={"WORKS_PRESS_COPIES": "x", **env})
        name = "--config" if way else "WORKS_CONFIG"
        expect(findings[name][1].startswith("The file %s of %s cannot be " % (path, name)), findings)
        expect(words in findings[name][1], "not said:", words, findings)
        equal(set(findings), {name, "WORKS_PRESS_COPIES"}, "the other findings are told, too")


@test
def services_are_objects_and_values_have_types():
    findings, _ = refused("serve", "--data", DATA, "--config", write({"press": 5, "vault": {"store": 7, "door": []}}))
    equal({name: code for name, (code, _) in findings.items()},
          {"press": "INVALID_TYPE", "vault.store": "INVALID_TYPE", "vault.door": "INVALID_TYPE"}, "findings")
    findings, _ = refused("vault", "show", "--config", write({"valt": {}}))
    equal(findings["valt"][1], "valt is not a known name; did you mean vault?", "near name")


@tests_of({"a name that nothing has": ('{"number":1,"numbr":2}', ".numbr", "UNKNOWN_FIELD"),
           "a name that nothing has beside what is missing": ('{"numbr":2}', ".numbr", "UNKNOWN_FIELD"),
           "a key twice": ('{"number":1,"number":2}', "", "MALFORMED_VALUE"),
           "half a pair": ('{"number":1,"x":"\\ud800"}', "", "MALFORMED_VALUE"),
           "too deep": ('{"number":1,"x":' + "[" * 50000 + "]" * 50000 + "}", "", "MALFORMED_VALUE")})
def an_object_in_a_variable_or_a_flag_is_refused_like_one_in_a_file(value, name, code):
    findings, _ = refused("vault", "show", env={"WORKS_VAULT_DOOR": value})
    equal(findings["WORKS_VAULT_DOOR" + name][0], code, "the variable")
    if name:
        findings, _ = refused("vault", "show", "--vault-door", value)
        equal(findings["--vault-door" + name][0], code, "the flag")


@test
def a_command_has_the_flags_of_its_own_service_alone():
    findings, _ = refused("press", "show", "--vault-store", "x")
    equal(findings["--vault-store"][0], "UNKNOWN_OPTION", "the flag of another")


# ---- What is hidden ------------------------------------------------------------------------------

def written():
    return b"".join(server.Server.read(path) for path in (LOG, LOG + ".1"))


def secret_file():
    path = os.path.join(server.FOLDER, "token")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SECRET + "\n")
    return path


@tests_of({"a variable": ([], {"WORKS_PRESS_TOKEN": SECRET}), "a file": (["--config", write({"press": {"token": SECRET}})], {}),
           "a flag that names a file": (["--press-token", "@" + secret_file()], {})})
def a_secret_is_in_no_output_from(flags, variables):
    env = {"WORKS_DATA": DATA, **variables}
    equal(command("press", "show", *flags, env=env)["data"]["token_length"], len(SECRET), "the secret is there")
    for words, status in [(["press", "blab"], 12), (["press", "show", "--press-store", "broken:"], 78),
                          (["press", "show", "--press-copies", "x"], 2), (["serve", "--listen", "x", "--data", DATA], 2),
                          (["serve", "--press-store", "broken:", "--listen", "127.0.0.1:0", "--data", DATA], 78),
                          (["mcp", "--press-store", "broken:"], 78)]:
        for more in ([], ["--verbose"], ["--output", "text"]):
            found = run_program(WORKS, *words, *flags, *more, env=env)
            equal(found.status, status, "exit code of %r: %r %r" % (words, found.out, found.err))
            expect(SECRET.encode() not in found.out + found.err, "the secret is told:", words, found)
    expect(SECRET.encode() not in written(), "the secret is in the log")
    expect(b"[redacted]" in written(), "there is nothing in the log")


@test
def a_server_hides_a_secret_in_every_answer_and_log():
    with server.Server("--workers", "1", "--verbose", program=WORKS, WORKS_PRESS_TOKEN=SECRET) as found:
        answer = found.ask("GET", "/blab")
        equal(answer.status, 503, "status")
        expect(SECRET not in repr(answer) and "[redacted]" in repr(answer), answer)
        found.stop()
        for path in (found.log, found.stderr):
            expect(SECRET.encode() not in found.read(path), "the secret is in", path)
        expect(b"[redacted]" in found.read(found.log), "there is nothing in the log")


@tests_of({"too short": "short7!", "no text": 12345678})
def a_secret_that_is_wrong_is_not_shown(value):
    found = run_program(WORKS, "press", "show", "--config", write({"press": {"token": value}}), "--verbose")
    equal(found.status, 2, "exit code")
    expect(b"press.token" in found.out and str(value).encode() not in found.out + found.err, found)


# ---- The list of processes ----------------------------------------------------------------------

PASSWORD = "open-sesame-4711"


def arguments_of(pid):
    """Of a process and those that it has started, as every user can read them."""
    found = [server.Server.read("/proc/%d/cmdline" % pid)]
    for child, parent in server.processes():
        if parent == pid:
            found += arguments_of(child)
    return found


@tests_of({"a word of its own": (["--press-store", "postgresql://me:%s@db/x" % PASSWORD],),
           "behind an equals sign": (["--press-store=postgresql://me:%s@db/x" % PASSWORD],),
           "an address that is not escaped": (["--press-store", "postgresql://me:a@b/%s@db/x" % PASSWORD],),
           "a parameter": (["--press-store", "postgresql://db/x?password=%s" % PASSWORD],),
           "the store of all": (["--store", "postgres://me:%s@db/x" % PASSWORD],)})
def a_password_is_erased_from_the_arguments(flags):
    address = flags[-1].removeprefix("--press-store=")
    with server.Server("--workers", "2", *flags, program=WORKS) as found:
        equal(found.ask("GET", "/press").json["store"], address, "the store")
        listed = arguments_of(found.process.pid)
        expect(len(listed) >= 5, "only these processes were found:", listed)
        for words in listed:
            expect(PASSWORD.encode() not in words, "it can be read:", words)
        expect(b"://***" in listed[0] and b"--workers\x002" in listed[0], "other arguments are gone:", listed[0])


@test
def a_command_that_runs_shows_no_password_either():
    with talk.Server("--press-store", "postgresql://me:%s@db/x" % PASSWORD, program=WORKS, revision="2025-11-25") as found:
        equal(found.call("press_show")["structuredContent"]["store"], "postgresql://me:%s@db/x" % PASSWORD, "the store")
        for words in arguments_of(found.process.pid):
            expect(PASSWORD.encode() not in words, "it can be read:", words)


@test
def an_address_without_a_password_is_left_in_the_arguments():
    with server.Server("--workers", "1", "--press-store", "postgresql://db/x", "--vault-store", "sqlite:a@b", program=WORKS) as found:
        listed = arguments_of(found.process.pid)[0]
        expect(b"postgresql://db/x\0--vault-store\0sqlite:a@b" in listed, "it is gone:", listed)


@test
def an_address_comes_from_a_file():
    path = write(("postgresql://me:%s@db/x\n" % PASSWORD).encode())
    with server.Server("--workers", "1", "--press-store", "@" + path, program=WORKS) as found:
        equal(found.ask("GET", "/press").json["store"], "postgresql://me:%s@db/x" % PASSWORD, "the store, without the line feed")
        for words in arguments_of(found.process.pid):
            expect(PASSWORD.encode() not in words, "it can be read:", words)


# ---- What is described ---------------------------------------------------------------------------

@test
def help_manual_manifest_and_completions_have_the_settings():
    for words in (["serve", "--help"], ["mcp", "--help"]):
        text = " ".join(run_program(WORKS, *words).err.decode().split())
        for part in ["--config FILE A JSON file", "(or from $WORKS_CONFIG)", "--store URL", "--press-copies INTEGER Copies of each (1 to 9; "
                     "default: 2; or from $WORKS_PRESS_COPIES)", "--vault-store TEXT", "--press-token @FILE For the printer (8 to 100 "
                     "characters; secret: only from $WORKS_PRESS_TOKEN, @FILE or - (standard input))"]:
            expect(part in text, "not in the help:", part, text)
    text = run_program(WORKS, "press", "show", "--help").err.decode()
    expect("--press-copies" in text and "--config" in text and "--vault" not in text, text)
    manifest = parsed(run_program(WORKS, "manifest").out)["data"]["commands"]
    expect("press-copies" in json.dumps(manifest["serve"]) and "press-copies" not in json.dumps(manifest["vault.show"]), manifest)
    for command in (["serve"], ["mcp"], ["press", "show"]):
        expect(b"--press-copies\t" in run_program(WORKS, "__complete", *command, "--").out, "completion of", command)
    expect(b"press\\-copies" in run_program(WORKS, "manual").out, "the manual")


@test
def an_api_has_no_parameters_for_settings():
    with server.Server("--workers", "1", program=WORKS) as found:
        expect(b"press_store" not in found.ask("GET", "/openapi.json").body, "a setting in the API")


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
