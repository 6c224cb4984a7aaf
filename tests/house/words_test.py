#!/usr/bin/env python3
"""Sentences name their subject: the caller, the client, the loop, the process, the operator. "Nobody", "whoever" and words like them
hide it, so comments and messages of the sources and the pages of docs/ do not use them.

    words_test.py SOURCE-ROOT

A message is a literal with a space in it. In a page, what is in a code span or a fence is no sentence: `nobody` is a user there.
"""
import glob
import os
import re
import sys

FOLDERS = ["src", "services", "include", "tool", "examples", "bindings", "console"]
LEFT_OUT = {"node_modules", "build"}
PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md", "examples/*.md", "tests/*.md", "tests/*/*.md"]
HIDING = re.compile(r"\b(?:whoever|whomever|nobody|somebody|anybody|everybody|whatever|what is there\b(?! to)|as it comes)\b", re.IGNORECASE)
LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
PARTS = {
    ".c": re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<literal>" + LITERAL + ")", re.DOTALL),
    ".lisp": re.compile(r'(?P<comment>;[^\n]*)|(?P<literal>"(?:\\.|[^"\\])*")|#\\.', re.DOTALL),
    ".py": re.compile(r'(?P<comment>#[^\n]*|"""(?:\\.|[^\\])*?""")|(?P<literal>' + LITERAL + ")", re.DOTALL),
}
PARTS[".h"] = PARTS[".cc"] = PARTS[".hpp"] = PARTS[".js"] = PARTS[".cjs"] = PARTS[".mjs"] = PARTS[".c"]
NO_SENTENCE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def parts(text, kind):
    """The comments and the messages of a source, each with the number of its first line."""
    for found in PARTS[kind].finditer(text):
        if found["comment"] or (found["literal"] and " " in found["literal"]):
            yield text.count("\n", 0, found.start()) + 1, found[0]


def sentences(text):
    """A page without its code, in the same lines."""
    return NO_SENTENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def hidden(path, first, text):
    for found in HIDING.finditer(text):
        yield "%s:%d: say who or what instead of \"%s\"" % (path, first + text.count("\n", 0, found.start()), found[0])


def wrong_lines(path, text):
    kind = os.path.splitext(path)[1]
    if kind == ".md":
        yield from hidden(path, 1, sentences(text))
        return
    for first, part in parts(text, kind):
        yield from hidden(path, first, part)


def sources(root):
    for top in FOLDERS:
        for folder, inside, names in os.walk(os.path.join(root, top)):
            inside[:] = [name for name in inside if name not in LEFT_OUT]
            for name in sorted(names):
                if os.path.splitext(name)[1] in PARTS:
                    yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    root, bad = sys.argv[1], 0

    def tell(number, name, wrong):
        nonlocal bad
        for line in wrong:
            print("# " + line)
        bad += bool(wrong)
        print("%s %d %s" % ("not ok" if wrong else "ok", number, name), flush=True)

    print("1..3")
    sample = 'int a; /* read by\n * nobody */ char *b = "/*nobody*/"; // whoever\nputs("Nobody can.");'
    page = "Somebody is\n`nobody`.\n\n```sh\nsu nobody\n```\nAs it comes.\n"
    found = [[line.split(":")[1] for line in wrong_lines(name, text)] for name, text in (("sample.c", sample), ("page.md", page))]
    tell(1, "words_are_found_in_sentences_only", [] if found == [["2", "2", "3"], ["1", "7"]] else ["found: %s" % found])
    wrong, seen = [], 0
    for path in sources(root):
        text = read(path)
        seen += sum(1 for _ in parts(text, os.path.splitext(path)[1]))
        wrong += wrong_lines(os.path.relpath(path, root), text)
    tell(2, "comments_and_messages_say_who_or_what", wrong or ([] if seen > 10000 else ["there are only %d comments and messages" % seen]))
    pages = [path for pattern in PAGES for path in sorted(glob.glob(os.path.join(root, pattern)))]
    wrong = [line for path in pages for line in wrong_lines(os.path.relpath(path, root), read(path))]
    tell(3, "pages_say_who_or_what", wrong or ([] if len(pages) > 40 else ["there are only %d pages" % len(pages)]))
    return bad


sys.exit(1 if main() else 0)
