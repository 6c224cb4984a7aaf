#!/usr/bin/env python3
"""Comments name their subject: the caller, the client, the loop, the process, the operator. "Nobody", "whoever" and words like them
hide it, so comments of the sources do not use them. Strings may: a message is for its reader, and callers may depend on it.

    words_test.py SOURCE-ROOT
"""
import os
import re
import sys

FOLDERS = ["src", "services", "include", "tool"]
HIDING = re.compile(r"\b(?:whoever|whomever|nobody|somebody|anybody|everybody|whatever)\b", re.IGNORECASE)
LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
COMMENTS = {
    ".c": re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)|" + LITERAL, re.DOTALL),
    ".lisp": re.compile(r'(?P<comment>;[^\n]*)|"(?:\\.|[^"\\])*"|#\\.', re.DOTALL),
    ".py": re.compile(r'(?P<comment>#[^\n]*|"""(?:\\.|[^\\])*?""")|' + LITERAL, re.DOTALL),
}
COMMENTS[".h"] = COMMENTS[".cc"] = COMMENTS[".c"]


def comments(text, kind):
    """The comments of a source, each with the number of its first line."""
    for found in COMMENTS[kind].finditer(text):
        if found["comment"]:
            yield text.count("\n", 0, found.start()) + 1, found["comment"]


def sources(root):
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if os.path.splitext(name)[1] in COMMENTS:
                    yield os.path.join(folder, name)


def wrong_lines(path, text):
    for first, comment in comments(text, os.path.splitext(path)[1]):
        for found in HIDING.finditer(comment):
            yield "%s:%d: say who or what instead of \"%s\"" % (path, first + comment.count("\n", 0, found.start()), found[0])


def main():
    root, bad = sys.argv[1], 0

    def tell(number, name, wrong):
        nonlocal bad
        for line in wrong:
            print("# " + line)
        bad += bool(wrong)
        print("%s %d %s" % ("not ok" if wrong else "ok", number, name), flush=True)

    print("1..2")
    sample = 'int a; /* read by\n * nobody */ char *b = "/* nobody"; // whoever'
    found = list(wrong_lines("sample.c", sample))
    tell(1, "words_are_found_in_comments_and_not_in_strings",
         [] if [line.split(":")[1] for line in found] == ["2", "2"] else ["found: %s" % found])
    wrong, seen = [], 0
    for path in sources(root):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        seen += sum(1 for _ in comments(text, os.path.splitext(path)[1]))
        wrong += wrong_lines(os.path.relpath(path, root), text)
    tell(2, "comments_say_who_or_what", wrong or ([] if seen > 5000 else ["there are only %d comments" % seen]))
    return bad


sys.exit(1 if main() else 0)
