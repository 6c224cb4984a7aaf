"""Each type and each format of a parameter on each boundary: as a command, over HTTP in a body and in a query, and for agents. A good value is read,
and a bad one is refused with the name of its parameter and one sentence, the same everywhere.
Hostile values are read or refused, and never more.

    MISHAP_PROGRAM=… TYPES_PROGRAM=… python3 tests/http/types_test.py [PART-OF-A-NAME]

Speaks TAP. The same types as plain C calls are in tests/operation/param_types_test.c and format_test.c.
"""
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of

TYPES = os.path.abspath(os.environ["TYPES_PROGRAM"])
SAME = object()  # it is read as it was sent

# name: (a good value, what a handler reads, a bad value, the sentence about it)
VALUES = {
    "text": ("Z\u00fcge", SAME, "too long", "text must have at least 1 and at most 5 characters, not 8."),
    "code": ("VIE", SAME, "vienna", "code must be an airport, such as VIE, not vienna."),
    "count": (150, SAME, 151, "count must be at least 0 and at most 150, not 151."),
    "share": (0.25, SAME, -0.5, "share must be at least 0 and at most 1, not -0.5."),
    "gift": (True, SAME, "maybe", "gift must be true or false, not a string."),
    "cabin": ("premium", 2, "first", "cabin must be one of economy or premium, not first."),
    "price": ("12.5", "12.50", "12.505", "price must be a decimal with at most 16 digits before and 2 after its point, not 12.505."),
    "tax": (1.5, SAME, 1.005, "tax must be a decimal with at most 16 digits before and 2 after its point."),
    "deposit": ("7 USD", "7.00 USD", "7 CHF", "deposit must be an amount in EUR or USD, not 7 CHF."),
    "starts": ("2026-02-28T18:30:00+01:00", SAME, "2026-02-28", "starts must be a date and time such as 2026-02-28T18:30:00Z, not 2026-02-28."),
    "born": ("2024-02-29", SAME, "2026-02-29", "born must be a date such as 2026-02-28, not 2026-02-29."),
    "lasts": ("P1DT12H", SAME, "90m", "lasts must be a duration such as P1DT12H, not 90m."),
    "owner": ("01234567-89AB-7def-8123-456789abcdef", "01234567-89ab-7def-8123-456789abcdef", "7",
              "owner must be a UUID such as 01234567-89ab-7def-8123-456789abcdef, not 7."),
    "photo": ("aGkA", SAME, "hello", "photo must be a text of base64 such as aGVsbG8=, not hello."),
    "tags": (["b", "a"], SAME, ["a", "a"], "tags[1] is the same as item 0; each may occur once."),
    "gifts": ([True, False], SAME, [True, "x"], "gifts[1] must be true or false, not a string."),
    "address": ({"since": "2026-02-28"}, SAME, {"since": "2026-02-31"}, "address.since must be a date such as 2026-02-28, not 2026-02-31."),
    "fees": ({"vie": "12.50"}, SAME, {"vie": "1e3"}, "fees.vie must be a decimal such as 12.50, not 1e3."),
    "day": ("2026-02-28", SAME, "2026-02-31", "day must be a date such as 2026-02-28, not 2026-02-31."),
    "alarm": ("18:30:00Z", SAME, "18:30", "alarm must be a time with its zone, such as 18:30:00Z, not 18:30."),
    "moment": ("2026-02-28T18:30:00Z", SAME, "2026-02-28 18:30", "moment must be a date and time such as 2026-02-28T18:30:00Z, not 2026-02-28 18:30."),
    "pause": ("PT36H", SAME, "P", "pause must be a duration such as P1DT12H, not P."),
    "mail": ("o'neil+1@example.com", SAME, "ada@", "mail must be an e-mail address such as ada@example.com, not ada@."),
    "host": ("www.example.com", SAME, "-x.example", "host must be a host name such as www.example.com, not -x.example."),
    "ipv4": ("192.0.2.1", SAME, "192.0.2.256", "ipv4 must be an IPv4 address such as 192.0.2.1, not 192.0.2.256."),
    "ipv6": ("2001:db8::1", SAME, "2001:db8", "ipv6 must be an IPv6 address such as 2001:db8::1, not 2001:db8."),
    "link": ("https://example.com/a?b=c&d=%20#e", SAME, "/a b", "link must be a URI such as https://example.com/a, not /a b."),
    "mark": ("01234567-89ab-7def-8123-456789abcdef", SAME, "0123", "mark must be a UUID such as 01234567-89ab-7def-8123-456789abcdef, not 0123."),
}
# Values of another type of JSON, which a query and a command line cannot tell from text. Quotes are advised where the value would then be right.
OTHERS = {
    "text": (1, "text must be a string, not a number: put it in quotes."),
    "count": ("7", "count must be an integer, not a string: write it without quotes."),
    "share": ("0.5", "share must be a number, not a string: write it without quotes."),
    "gift": (1, "gift must be true or false, not an integer."),
    "cabin": (2, "cabin must be a string, not an integer."),
    "price": (12.5, "price must be a string, not a number: put it in quotes."),
    "tax": ("1.5", "tax must be a number, not a string: write it without quotes."),
    "deposit": (7, "deposit must be a string, not an integer."),
    "starts": (1772299800, "starts must be a string, not an integer."),
    "born": (20240229, "born must be a string, not an integer."),
    "lasts": (True, "lasts must be a string, not a boolean."),
    "owner": (7, "owner must be a string, not an integer."),
    "photo": ([104, 105], "photo must be a string, not an array."),
    "tags": ({"a": 1}, "tags must be an array, not an object."),
    "address": ([], "address must be an object, not an array."),
    "fees": ([], "fees must be an object, not an array."),
    "mail": (7, "mail must be a string, not a number: put it in quotes."),
}


def the_server():
    return server.server("types", "--workers", "1", program=TYPES)


def spelled(value):
    """A value as text."""
    return value if isinstance(value, str) else json.dumps(value)


def in_a_body(name, value, **more):
    return the_server().ask("POST", "/take", json.dumps({name: value}).encode(), **more)


def in_a_query(name, value, **more):
    """An array is its name once for each item."""
    pairs = [(name, spelled(one)) for one in (value if isinstance(value, list) else [value])]
    return the_server().ask("GET", "/find?" + urllib.parse.urlencode(pairs), **more)


def by_a_command(name, value):
    return run_program(TYPES, "take", "--" + name + "=" + spelled(value), "--output", "json", env={"TYPES_DATA": the_server().data, "TYPES_LOG": ""})


def by_an_agent(name, value):
    return exchange.Session(the_server()).post(exchange.call("take", {name: value})).json["result"]


def field_of(sentence):
    return sentence.split(" ", 1)[0]


@tests_of({name: (name, *row) for name, row in VALUES.items()})
def a_good_value_is_read_on_each_boundary(name, good, read, *_):
    expected = {"read": {name: good if read is SAME else read}}
    for ask in (in_a_body, in_a_query):
        answer = ask(name, good)
        equal((answer.status, parsed(answer.body)), (200, expected), ask.__name__)
    answer = by_a_command(name, good)
    equal((answer.status, parsed(answer.out)["data"]), (0, expected), answer.err)
    equal(by_an_agent(name, good)["structuredContent"], expected, "by an agent")


def refused_over_http(ask, name, value, sentence):
    """The short form names the field; the problem document has the sentence, too."""
    short, long = ask(name, value), ask(name, value, fields={"Accept": "application/problem+json"})
    equal((short.status, [row["field"] for row in parsed(short.body)["details"]]), (422, [field_of(sentence)]), ask.__name__)
    equal((long.status, [(row["field"], row["message"]) for row in parsed(long.body)["errors"]]), (422, [(field_of(sentence), sentence)]), ask.__name__)


def refused_for_an_agent(name, value, sentence):
    told = by_an_agent(name, value)
    equal(told["isError"], True, told)
    fields = json.loads(told["content"][0]["text"])["fields"]
    equal([(row["field"], row["message"]) for row in fields], [(field_of(sentence), sentence)], "by an agent")


@tests_of({name: (name, *row) for name, row in VALUES.items()})
def a_bad_value_is_refused_with_its_name_on_each_boundary(name, _good, _read, bad, sentence):
    for ask in (in_a_body, in_a_query):
        refused_over_http(ask, name, bad, sentence)
    answer = by_a_command(name, bad)
    error = parsed(answer.out)["error"]
    equal((answer.status, [(row["param"], row["message"]) for row in error["errors"]]), (2, [(field_of(sentence), sentence)]), "by a command")
    refused_for_an_agent(name, bad, sentence)


@tests_of({name: (name, *row) for name, row in OTHERS.items()})
def a_value_of_another_type_of_JSON_is_refused_in_words(name, value, sentence):
    refused_over_http(in_a_body, name, value, sentence)
    refused_for_an_agent(name, value, sentence)


# Values, as JSON, that no program expects. Some are valid for some types.
HOSTILE = ['""', '" "', '"\\u0000"', '"1\\u00002"', '"\\ud83e\\udd4a"', '"\\u202e1"', '"\\u0661"', '"%n%s"', "\"'; DROP TABLE x; --\"", '"' + "9" * 100000 + '"', '"' + "a" * 100000 + '"',
           '"-0"', '"1e999"', '"NaN"', '"2026-02-28T18:30:00+99:99"', '"P99999999999999999999Y"', '"99999999999999999999 EUR"', '"====="', '"@/etc/passwd"', "-0", "-0.0", "1e999", "1e-999",
           "9223372036854775808", "-9223372036854775809", "1" + "0" * 400, "0." + "1" * 1000, "true", "null", "[]", "{}", "[null]", '[[["a"]]]', '{"since":null}', '{"\\u0000":"1"}',
           '{"":""}', "[" * 60 + "]" * 60, '["a",' * 2000 + '"b"' + "]" * 2000, '{"a":"' + "1" * 5000 + '"}']


def is_told_or_read(name, status, failed, body):
    """A value is read, or refused as a fault of its parameter, or of the JSON; the program is never at fault."""
    text = body.decode()
    expect(status in (200, 400, 422) and failed == (status != 200), status, text[:300])
    if status == 422:
        for row in parsed(body)["details"]:
            expect(row["field"].startswith(name), "another field is refused:", row)


@tests_of({name: name for name in VALUES})
def no_value_however_hostile_is_more_than_refused(name):
    for value in HOSTILE:
        found = the_server().ask("POST", "/take", ('{"%s":%s}' % (name, value)).encode())
        is_told_or_read(name, found.status, found.status != 200, found.body)
        text = json.loads(value)[:1000] if value.startswith('"') else value[:1000]
        found = the_server().ask("GET", "/find?" + urllib.parse.urlencode({name: text}, errors="replace"))
        is_told_or_read(name, found.status, found.status != 200, found.body)


@tests_of({name: name for name in ("price", "deposit", "starts", "lasts", "photo", "tags", "address", "fees")})
def a_command_and_an_agent_refuse_the_same(name):
    session = exchange.Session(the_server())
    for value in HOSTILE[:9] + HOSTILE[11:]:
        with_null = "\\u0000" in value
        over_http = the_server().ask("POST", "/take", ('{"%s":%s}' % (name, value)).encode()).status
        message = json.dumps(exchange.call("take", {name: 0})).replace('"%s": 0' % name, '"%s": %s' % (name, value))
        told = session.post(message.encode())
        expect(told.status in (200, 400), told.status, value[:100])
        if told.status == 200 and "result" in told.json:
            equal(told.json["result"].get("isError", False), over_http != 200, "an agent: " + value[:100])
        if not with_null and not value.startswith('"@'):
            answer = run_program(TYPES, "take", "--" + name + "=" + spelled(json.loads(value)) if value.startswith('"') else "--" + name + "=" + value,
                                 "--output", "json", env={"TYPES_DATA": the_server().data, "TYPES_LOG": ""})
            expect(answer.status in (0, 2), answer.status, answer.out[:300])


@test
def each_type_has_a_row():
    shown = parsed(the_server().ask("GET", "/openapi.json").body)["paths"]["/take"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    equal(set(shown["properties"]), set(VALUES), "parameters")


@test
def all_findings_come_at_once_in_the_order_of_the_declaration():
    body = {name: row[2] for name, row in VALUES.items()}
    found = parsed(the_server().ask("POST", "/take", json.dumps(body).encode(), fields={"Accept": "application/problem+json"}).body)
    equal([row["message"] for row in found["errors"]], [row[3] for row in VALUES.values()], "over HTTP")


def offered(*words):
    """What `__complete` offers behind the words: kind, prefix and the offers without what they mean."""
    answer = run_program(TYPES, "__complete", *words)
    equal((answer.status, answer.err), (0, b""), words)
    kind, prefix, *rows = answer.out.decode().split("\n")[:-1]
    return kind, prefix, [row.split("\t")[0] for row in rows]


@tests_of({
    "an enum": (["--cabin", ""], ("words", "", ["economy", "premium"])),
    "an enum behind an equals sign": (["--cabin=pre"], ("words", "--cabin=", ["economy", "premium"])),
    "items that are an enum": (["--tags", ""], ("words", "", ["a", "b"])),
    "a boolean behind an equals sign": (["--gift="], ("words", "--gift=", ["true", "false"])),
    "items that are booleans": (["--gifts", ""], ("words", "", ["true", "false"])),
    "bytes, which a file may have": (["--photo", "@"], ("files", "@", [])),
    "a decimal": (["--price", ""], ("words", "", [])),
    "a date": (["--born="], ("words", "--born=", [])),
})
def values_are_completed_by_their_type(words, expected):
    equal(offered("take", *words), expected, words)


@test
def a_boolean_is_completed_as_a_flag_that_takes_no_word():
    _, _, flags = offered("take", "--")
    expect("--gift" in flags and "--cabin" in flags, flags)
    equal(offered("take", "--gift", "--cabin", "")[2], ["economy", "premium"], "behind a boolean")


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
