#!/usr/bin/env python3
"""The Python package: the exception, its documents, reading, checking, guarding, codes.

    MISHAP_EXTENSION=… MISHAP_PROGRAM=… python3 tests/bindings/python_core_test.py [PART-OF-A-NAME]
"""
import copy
import json
import os
import pickle
import subprocess

from package import SOURCE, equal, expect, inside, main, test, tests_of

inside()
import mishap  # noqa: E402
from mishap import Mishap, ParseError  # noqa: E402


def refused(kind, function, *arguments, **keywords):
    """The text of the exception that this call raises."""
    try:
        function(*arguments, **keywords)
    except kind as exception:
        return str(exception)
    raise AssertionError("it was accepted")


def full():
    return Mishap(mishap.VALIDATION_ERROR, "Two fields are wrong.", context={"user": 7, "tags": ["a", {"b": None}], "ratio": 0.5},
                  fields=[{"field": "name", "error": "field_required"},
                          {"field": "items[2].age", "error": "value_out_of_range", "min": 0, "max": 130, "actual": 200, "message": "Too old."}],
                  suggestion="Send both.", reason="The form was empty.", docs="https://example.com/x", retry_after=1.5,
                  incident="01a1ea59-a807-7098-ae8e-22846b67e27e")


@test
def an_exception_has_what_it_was_given():
    failure = full()
    equal((failure.code, failure.message, str(failure), failure.status, failure.exit_code, failure.category, failure.title),
          ("VALIDATION_ERROR", "Two fields are wrong.", "Two fields are wrong.", 422, 2, "validation", "Validation error"))
    equal((failure.context["user"], failure.fields[1]["max"], failure.suggestion, failure.reason, failure.docs),
          (7, 130, "Send both.", "The form was empty.", "https://example.com/x"))
    equal((failure.retry_after, failure.retryable, failure.incident[:8], failure.notes), (1.5, True, "01a1ea59", {}))
    equal(repr(failure), "Mishap('VALIDATION_ERROR', 'Two fields are wrong.')")
    expect(isinstance(failure, Exception) and issubclass(ParseError, (Mishap, ValueError)))


@test
def what_is_not_given_comes_from_the_catalog():
    failure = Mishap("RATE_LIMITED")
    equal((str(failure), failure.retry_after, failure.retryable, failure.suggestion, failure.context, failure.fields),
          ("There were too many requests.", 1.0, True, None, {}, []))
    equal(Mishap("NOT_FOUND").retryable, False)


@test
def parts_can_be_changed_until_it_is_rendered():
    failure = Mishap("NOT_FOUND")
    failure.context["id"] = 3
    failure.fields.append({"field": "id"})
    failure.message, failure.retryable, failure.category = "Gone.", True, "system"
    document = json.loads(failure.render())
    equal((document["context"], document["errors"][0]["field"], document["errors"][0]["error"], document["detail"], document["retryable"], document["category"]),
          ({"id": 3}, "id", "invalid_value", "Gone.", True, "system"))
    del failure.message
    equal(str(failure), mishap.describe("NOT_FOUND").message)


@test
def the_cause_is_private_and_python_s_own():
    try:
        try:
            raise KeyError("secret-key")
        except KeyError as below:
            raise Mishap("CONFLICT", notes={"host": "db7"}) from below
    except Mishap as failure:
        expect(isinstance(failure.cause, KeyError) and failure.cause is failure.__cause__)
        expect(all("secret" not in failure.render(name) and "db7" not in failure.render(name) for name in mishap.dialects))
        failure.cause = None
        equal(failure.__cause__, None)


@test
def a_masked_code_keeps_its_message():
    failure = Mishap("INTERNAL_ERROR", "The disk of db7 is full.")
    equal(str(failure), "The disk of db7 is full.")
    for name in mishap.dialects:
        expect("db7" not in failure.render(name), name)


@tests_of({name: name for name in ("canonical", "problem", "json-rpc", "json-api", "graphql", "artifact")})
def a_document_reads_back_as_the_same_failure(dialect):
    before, after = full(), mishap.parse(full().render(dialect), dialect)
    for part in ("code", "message", "context", "suggestion", "reason", "docs", "retry_after", "retryable", "incident", "category"):
        equal(getattr(after, part), getattr(before, part), part)
    equal([field["field"] for field in after.fields], ["name", "items[2].age"])
    equal(after.render("canonical"), before.render("canonical"))


@tests_of({name: name for name in ("condition-report", "cli-envelope", "artifact", "http-api", "tool-result", "problem", "json-rpc", "google-rpc",
                                   "json-api", "graphql", "canonical")})
def each_dialect_conforms_and_is_what_the_program_writes(dialect):
    equal([finding for finding in mishap.verify(full().render(dialect), dialect) if finding.severity != "warning"], [])
    expect(dialect in mishap.dialects)
    done = subprocess.run([os.environ["MISHAP_PROGRAM"], "render", "--dialect", dialect], input=full().render("canonical").encode(),
                          stdout=subprocess.PIPE, check=False, env=dict(os.environ, LD_PRELOAD=""))
    equal(done.stdout.decode().rstrip("\n"), full().render(dialect).rstrip("\n"))


FOREIGN = '{"type":"about:blank","title":"X","status":418,"detail":"It is a pot.","code":"POT_TAKEN","category":"resource","retryable":false,"context":{"a":1}}'


@test
def a_code_of_another_program_is_kept():
    failure = mishap.parse(FOREIGN)
    equal((failure.code, failure.status, failure.exit_code, failure.title, failure.category, failure.message, failure.context, failure.args),
          ("POT_TAKEN", 418, 5, "Pot taken", "resource", "It is a pot.", {"a": 1}, ("POT_TAKEN",)))
    document = failure.render()
    equal({name: json.loads(document)[name] for name in ("code", "status", "detail", "context")},
          {"code": "POT_TAKEN", "status": 418, "detail": "It is a pot.", "context": {"a": 1}})
    equal(mishap.translate(FOREIGN, "problem", "canonical"), failure.render("canonical"))
    failure.notes, failure.own = {"n": 1}, 7
    for made in (pickle.loads(pickle.dumps(failure)), copy.copy(failure), copy.deepcopy(failure)):
        equal((type(made), made.code, made.status, made.notes, made.own, made.render()), (Mishap, "POT_TAKEN", 418, {"n": 1}, 7, document))
    failure.__init__("CONFLICT")
    equal((failure.code, failure.status), ("CONFLICT", 409))


@test
def a_code_of_another_program_is_answered_with_an_incident():
    records = []
    mishap.set_sink(records.append)
    try:
        made = mishap.answer(mishap.parse(FOREIGN.replace("418", "503").replace("resource", "system")))
    finally:
        mishap.set_sink(None)
    document = json.loads(made.body)
    equal((made.status, document["code"], document["instance"], records[0]["code"]), (503, "POT_TAKEN", "urn:uuid:" + records[0]["id"], "POT_TAKEN"))


@test
def a_translation_is_parse_and_render():
    document = full().render("problem")
    for target in mishap.dialects:
        equal(mishap.translate(document, "problem", target), mishap.parse(document, "problem").render(target), target)
    equal(mishap.translate(document.encode(), source="problem", target="canonical"), full().render("canonical"))


@test
def what_cannot_be_read_is_refused_with_all_findings():
    for call in (lambda: mishap.parse('{"code":', "canonical"), lambda: mishap.translate('{"code":', "canonical", "problem")):
        try:
            call()
        except ParseError as failure:
            equal((failure.findings[0].rule, failure.findings[0].severity, failure.code), ("not-json", "fatal", "MALFORMED_INPUT"))
        else:
            raise AssertionError("it was read")
    try:
        mishap.parse('{"code":"nope","message":3,"category":"x","retryable":"y"}', "canonical")
    except ParseError as failure:
        expect(len(failure.findings) >= 3, failure.findings)
        equal(failure.findings, mishap.verify('{"code":"nope","message":3,"category":"x","retryable":"y"}', "canonical"))
        expect(all(len(finding) == 4 and finding.sentence.endswith(".") for finding in failure.findings))
    else:
        raise AssertionError("it was read")


@test
def unknown_names_are_refused_with_the_nearest():
    equal(refused(TypeError, Mishap, "NOT_FUND"), "Unknown code 'NOT_FUND'. Did you mean NOT_FOUND?")
    equal(refused(TypeError, Mishap, "QQQQQQQQQQQQQQQQQQ"), "Unknown code 'QQQQQQQQQQQQQQQQQQ'.")
    equal(refused(TypeError, mishap.describe, "not_found")[:24], "Unknown code 'not_found'")
    expect("problem" in refused(ValueError, full().render, "problems"))
    expect("validation" in refused(ValueError, Mishap, "NOT_FOUND", category="odd"))


@tests_of({
    "no code": (TypeError, (), {}), "three arguments": (TypeError, ("NOT_FOUND", "a", "b"), {}), "a number": (TypeError, (404,), {}),
    "an unknown argument": (TypeError, ("NOT_FOUND",), {"contex": {}}), "context": (TypeError, ("NOT_FOUND",), {"context": [1]}),
    "fields": (TypeError, ("NOT_FOUND",), {"fields": [{"name": "x"}]}), "fields as text": (TypeError, ("NOT_FOUND",), {"fields": "name"}),
    "retry_after": (TypeError, ("NOT_FOUND",), {"retry_after": "1"}), "a negative time": (ValueError, ("NOT_FOUND",), {"retry_after": -1}),
    "no time": (ValueError, ("NOT_FOUND",), {"retry_after": float("nan")}), "message": (TypeError, ("NOT_FOUND", 7), {}),
    "retryable": (TypeError, ("NOT_FOUND",), {"retryable": 1})})
def bad_use_is_refused(kind, arguments, keywords):
    expect(refused(kind, Mishap, *arguments, **keywords))


@test
def codes_are_constants_with_rows():
    expect(len(mishap.codes) > 80 and all(getattr(mishap, name) == name for name in mishap.codes))
    row = mishap.describe(mishap.NOT_FOUND)
    equal((row.name, row.status, row.exit_code, row.category, row.retry, row.masked), ("NOT_FOUND", 404, 5, "resource", "fix", False))
    equal(mishap.describe("INTERNAL_ERROR").masked, True)
    equal([mishap.code_for_status(status) for status in (400, 404, 405, 418, 422, 429, 500, 503, 599, 302)],
          ["BAD_REQUEST", "NOT_FOUND", "METHOD_NOT_ALLOWED", "BAD_REQUEST", "VALIDATION_ERROR", "TOO_MANY_REQUESTS", "INTERNAL_ERROR",
           "SERVICE_UNAVAILABLE", "INTERNAL_ERROR", "INTERNAL_ERROR"])


@test
def the_guard_replaces_what_leaks():
    leak = 'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in <module>\nKeyError: 1'
    expect("main.py" not in mishap.guard(leak) and "main.py" not in mishap.guard(leak.encode()))
    text = "There is no user 7."
    expect(mishap.guard(text) is text)
    sent = "postgres://ada:hunter22@db7/users"
    expect("hunter22" not in mishap.guard("I tried " + sent))
    equal(mishap.guard("I tried " + sent, known=[sent]), "I tried " + sent)
    place = "The file /srv/app/config/settings.yml is missing."
    equal(mishap.guard(place), place)
    expect("settings" not in mishap.guard(place, strict=True))


@test
def an_answer_is_guarded_and_recorded():
    records = []
    mishap.set_sink(records.append)
    leak = 'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in <module>\nKeyError: 1'
    made = mishap.answer(Mishap("CONFLICT", leak, context={"fine": "yes", "trace": leak}))
    document = json.loads(made.body)
    expect("main.py" not in made.body.decode() and document["context"]["fine"] == "yes", document)
    expect(document["code"] == "CONFLICT" and document["instance"] == "urn:uuid:" + made.incident)
    equal((records[0]["id"], records[0]["replaced"], records[0]["message"]), (made.incident, True, leak))
    try:
        raise ValueError("the password of db7 is hunter22")
    except ValueError as exception:
        made = mishap.answer(exception)
    equal((made.status, json.loads(made.body)["code"]), (500, "INTERNAL_ERROR"))
    expect("of db7" not in made.body.decode())
    record = records[1]
    equal((record["code"], record["causes"][0]["type"], record["causes"][0]["message"]), ("INTERNAL_ERROR", "ValueError", "the password of db7 is hunter22"))
    expect("python_core_test.py" in record["causes"][0]["traceback"])
    made = mishap.answer(Mishap("NOT_FOUND"))
    equal((made.incident, len(records), made.status, made.headers[0]), (None, 2, 404, ("content-type", "application/problem+json")))
    equal(dict(mishap.answer(Mishap("UNAVAILABLE", notes={"password": "x", "n": 1}, retry_after=1.2)).headers)["retry-after"], "2")
    equal(records[2]["notes"], {"password": "[redacted]", "n": 1})

    def broken(record):
        raise RuntimeError("the sink is full")
    mishap.set_sink(broken)
    equal(mishap.answer(ValueError()).status, 500)
    refused(TypeError, mishap.set_sink, 7)
    mishap.set_sink(None)


@tests_of({"problem": ("problem",), "condition-report": ("condition-report",)})
def an_answer_leaks_nothing_but_what_the_caller_sent(dialect):
    """A path is a leak for a strict adapter only. The document has an id if there is a record, and no other."""
    records = []
    mishap.set_sink(records.append)
    leak = "Error: no row at Pool.query (/srv/app/node_modules/pg-pool/index.js:45:11)"
    path = "see /home/ada/app/secrets.txt"
    for message, strict, sent, stays in [(leak, False, None, False), (leak, False, ["another"], False), (leak, False, [leak], True),
                                         (path, False, None, True), (path, True, None, False), (path, True, [path], True)]:
        before = len(records)
        made = mishap.answer(Mishap("NOT_FOUND", message), dialect, strict=strict, known=(lambda sent=sent: sent) if sent else None)
        document = made.body.decode()
        equal((message in document, made.incident is None, len(records) - before), (stays, stays, 0 if stays else 1), document)
        expect("urn:uuid" not in document or made.incident and made.incident in document, document)
    mishap.set_sink(None)


@test
def copies_and_pickles_are_complete():
    failure = full()
    failure.extra = 1
    for made in (pickle.loads(pickle.dumps(failure)), copy.copy(failure), copy.deepcopy(failure)):
        equal((made.render("canonical"), made.extra, type(made)), (failure.render("canonical"), 1, Mishap))


class Below(Mishap):
    def __init__(self, user):
        super().__init__("NOT_FOUND", f"There is no user {user}.", context={"user": user})
        self.user = user


class Silent(Mishap):
    def __init__(self):
        pass


@test
def classes_can_be_derived():
    failure = pickle.loads(pickle.dumps(Below(7)))
    equal((failure.user, failure.context, failure.code, failure.args), (7, {"user": 7}, "NOT_FOUND", (7,)))
    equal((Silent().code, json.loads(Silent().render())["status"]), ("INTERNAL_ERROR", 500))


@test
def the_stub_lists_every_code():
    with open(os.path.join(SOURCE, "mishap", "__init__.pyi"), encoding="utf-8") as file:
        text = file.read()
    for name in mishap.codes:
        expect(f'{name}: Final = "{name}"' in text, name, "is missing: run bindings/python/stub.py")


main()
