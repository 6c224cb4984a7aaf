#!/usr/bin/env python3
"""Headers whose first comments list the files of their folder list all of them, and none that is gone.

    file_lists_test.py SOURCE-ROOT

A list is three names of C files or more in the first comments of the headers of a folder, each at the beginning of a line:

     *     rate.c, lease.c  how often each caller may call
     *     declare*.c       checks of the declarations

In a folder with a list each file is named in the first comment of a header, or has a header of its own name.
"""
import fnmatch
import os
import re
import sys

FEWEST = 3  # with fewer names it is no list of a folder


def first_comment(text):
    found = re.search(r"/\*.*?\*/", text, re.S)
    return found[0] if found else ""


def begins_lines(comment):
    """The names and patterns at the beginnings of lines, five blanks behind the star."""
    rows = re.findall(r"^ \*     ((?:[\w*]+\.cc?(?:, )?)+)(?:\s|$)", comment, re.M)
    return [name for row in rows for name in row.split(", ")]


def wrong(folder, names, headers):
    """What the lists of a folder lack, and what they have too much. `headers`: their texts by name."""
    comments = {header: first_comment(text) for header, text in headers.items()}
    lists = {header: begins_lines(comment) for header, comment in comments.items() if begins_lines(comment)}
    if sum(map(len, lists.values())) < FEWEST:
        return []
    every = [name for comment in comments.values() for name in re.findall(r"[\w*]+\.cc?\b", comment)]
    return ["%s is not in the list of %s" % (os.path.join(folder, name), " or ".join(sorted(lists)))
            for name in sorted(names)
            if os.path.splitext(name)[0] + ".h" not in headers and not any(fnmatch.fnmatch(name, pattern) for pattern in every)] + \
           ["%s lists %s, which does not exist" % (os.path.join(folder, header), pattern)
            for header, patterns in sorted(lists.items()) for pattern in patterns if not fnmatch.filter(names, pattern)]


def folders(root):
    """Each folder with C files in it: (its path, their names, the texts of its headers)."""
    for top in "src", "services":
        for folder, _, files in os.walk(os.path.join(root, top)):
            names = [name for name in files if name.endswith((".c", ".cc"))]
            headers = {}
            for name in files:
                if name.endswith(".h"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        headers[name] = file.read()
            if names and headers:
                yield os.path.relpath(folder, root), names, headers


def check_the_check():
    """What is found in planted headers, beside what should be found."""
    header = "/*\n * A room.\n *\n *     a.c      one\n *     b.c, c.c two\n *     d*.c     more\n */\n"
    planted = [
        (wrong("r", ["a.c", "b.c", "c.c", "d.c", "done.c"], {"r.h": header}), []),
        (wrong("r", ["a.c", "b.c", "c.c", "d.c", "e.c"], {"r.h": header}), ["r/e.c is not in the list of r.h"]),
        (wrong("r", ["a.c", "b.c", "d.c"], {"r.h": header}), ["r/r.h lists c.c, which does not exist"]),
        (wrong("r", ["a.c", "b.c", "c.c", "d.c", "e.c"], {"r.h": header, "e.h": ""}), []),
        (wrong("r", ["a.c", "z.c"], {"r.h": "/* One file: a.c. */\n"}), []),
    ]
    return ["%s instead of %s" % pair for pair in planted if pair[0] != pair[1]]


def main():
    found = [line for folder, names, headers in folders(sys.argv[1]) for line in wrong(folder, names, headers)]
    lists = sum(1 for _, _, headers in folders(sys.argv[1]) for text in headers.values() if begins_lines(first_comment(text)))
    bad = 0
    cases = [("what_a_list_lacks_is_found", check_the_check()), ("lists_are_seen", [] if lists >= 20 else ["%d lists" % lists]),
             ("every_file_of_a_folder_is_in_its_list", found)]
    print("1..%d" % len(cases))
    for number, (name, problems) in enumerate(cases, 1):
        for line in problems:
            print("# " + line)
        bad += bool(problems)
        print("%s %d %s" % ("not ok" if problems else "ok", number, name))
    return bad


sys.exit(1 if main() else 0)
