"""What must not leave a program: the texts that betray its inside, looked for in all that comes out of it."""
import functools
import glob
import json
import os
import re

from blackbox import expect

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARKER = "marker-private"  # whatever a test hides on the private side begins so

PRIVATE = re.compile("|".join(["Traceback", r"native stack", r"\b0x[0-9a-f]{5,}", r"\+0x[0-9a-f]", r"\.c:\d", r"\.so\b",
                               r"SIG(?:SEGV|BUS|FPE|ILL|ABRT|KILL)", r"core dumped", "sqlite", "SELECT ", "INSERT "]))
secrets = {MARKER, TREE}  # texts that nothing may have; tests add theirs
own = False  # True: what a program answers with success may be anything, since its handlers try to leak


@functools.cache
def our_functions():
    """The names of our own functions, as a stack would show them. To read all files takes a tenth of a second, so it is done when they are needed."""
    found = set()
    for folder in ["src", "services", "tool", "tests/mcp"]:
        for path in glob.glob(os.path.join(TREE, folder, "**/*.c"), recursive=True):
            with open(path, encoding="utf-8") as file:
                found.update(re.findall(r"\n[a-z][\w *]*?\b(\w+_\w+)\([^;\n]*(?=\n)", file.read()))
    return found


def check(text, failure="", names=()):
    """All that came, and the part of it that is about a failure: no function of ours is named there, unless something
    public has the same name."""
    found = PRIVATE.search(text)
    expect(not found, "private text", found and found[0], "in", text)
    for secret in secrets:
        expect(secret not in text, "a secret in", text)
    words = {word for word in re.findall(r"\w+", failure) if "_" in word} - set(names)
    expect(not words or not words & our_functions(), "names of functions", words, "in", failure)


# ---- Messages of the Model Context Protocol --------------------------------------------------------------------------

def texts_of(value):
    """Every text and number in a value of JSON, names of members and JSON inside of texts included: without the escapes
    of JSON, behind which something may hide."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from texts_of(json.loads(value))
            except ValueError:
                pass
    elif isinstance(value, (int, float)):
        yield str(value)


def is_own(text):
    """A response, or an event of a stream, whose message is a result that worked, of a program that may say anything then."""
    return own and '"result":' in text and '"isError":true' not in text


def check_message(message, names=()):
    """A message, or a batch of them. All but a result that is none of a failure is searched for functions, too."""
    for item in message if isinstance(message, list) else [message]:
        text = "\n".join(texts_of(item))
        result = item.get("result")
        worked = isinstance(result, dict) and not result.get("isError")
        if not (worked and own):
            check(text, "" if worked else text, names)
