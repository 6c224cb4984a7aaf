#!/usr/bin/env python3
"""The fields of a declaration: the table of docs/program.md, held against <mishap/operation.h>.

    fields_test.py SOURCE-ROOT VERSION

Each struct has headings, one for each boundary. The table must have the same fields in the same order, each with the boundary of its heading,
a default and the version that brought it.
"""
import os
import re
import sys

ROOT, VERSION = sys.argv[1:3]
STRUCTS = ["mishap_operation", "mishap_service"]
BOUNDARIES = ["every boundary", "the command line", "HTTP", "MCP", "a server"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def fields_of(header, struct):
    """(field, heading) of each member, in order."""
    body = re.search(r"typedef struct %s \{\n(.*?)\n\} %s;" % (struct, struct), header, re.S).group(1)
    headings = re.split(r"/\* -- (.*?) -+ \*/", body)
    found = [(None, headings[0])] + list(zip(headings[1::2], headings[2::2]))
    for heading, text in found:
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for declaration in filter(str.strip, code.split(";")):
            name = re.search(r"\(\*(\w+)\)\(", declaration) or re.search(r"(\w+)\s*$", declaration)
            yield name.group(1), heading


def rows_of(page, struct):
    table = re.search(r"^\| `%s` \| boundary \| default \| since \|\n\|[-|]+\n((?:\|.*\n)+)" % struct, page, re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.group(1).splitlines()] if table else []


def flaws_of(header, page, struct):
    fields, rows = list(fields_of(header, struct)), rows_of(page, struct)
    yield from ("%s.%s stands below no heading" % (struct, name) for name, heading in fields if heading is None)
    yield from ("%s has the heading %s, which is no boundary" % (struct, heading) for _, heading in fields if heading not in BOUNDARIES + [None])
    order = [BOUNDARIES.index(heading) for _, heading in fields if heading in BOUNDARIES]
    if order != sorted(order):
        yield "the headings of %s are not in order: %s" % (struct, ", ".join(BOUNDARIES))
    for row in rows:
        if len(row) != 4 or not all(row):
            yield "%s: a row of the table is not complete: %s" % (struct, row)
        elif not re.fullmatch(r"\d+\.\d+", row[3]) or tuple(map(int, row[3].split("."))) > tuple(map(int, VERSION.split(".")[:2])):
            yield "%s: %s is not a version up to %s" % (row[0], row[3], VERSION)
    told = [tuple(row[:2]) for row in rows]
    wanted = [("`.%s`" % name, heading) for name, heading in fields]
    yield from ("docs/program.md lacks %s of %s, below `%s`" % (name, struct, heading) for name, heading in wanted if (name, heading) not in told)
    yield from ("docs/program.md has %s of %s, below `%s`, and the header does not" % (name, struct, heading)
                for name, heading in told if (name, heading) not in wanted)
    if not set(told) ^ set(wanted) and told != wanted:
        yield "the table of %s is not in the order of the header" % struct


def broken_copies(header, page):
    """What must be found: a field that is new, gone, moved below another heading, or told wrongly."""
    yield "a new field", header.replace("bool quick;", "bool quick;\n    bool brand_new;"), page
    yield "a field that is gone", header.replace("    bool quick;\n", ""), page
    yield "a field below another heading", header.replace("    int status;", "").replace("    bool quick;", "    bool quick;\n    int status;"), page
    yield "a row of another boundary", header, page.replace("| `.quick` | a server |", "| `.quick` | MCP |")
    yield "a row without a default", header, re.sub(r"(\| `.quick` \| a server \|) \w+ \|", r"\1 |", page)
    yield "a version to come", header, re.sub(r"(\| `.quick` \|.*\|) [\d.]+ \|", r"\1 99.0 |", page)
    yield "a heading that is no boundary", header.replace("/* -- MCP --", "/* -- fax --"), page


def main():
    header, page = read("include", "mishap", "operation.h"), read("docs", "program.md")
    results = [("the table has the fields of %s" % struct, list(flaws_of(header, page, struct))) for struct in STRUCTS]
    for title, other_header, other_page in broken_copies(header, page):
        changed = (other_header, other_page) != (header, page)
        found = changed and any(list(flaws_of(other_header, other_page, struct)) for struct in STRUCTS)
        results.append(("%s is found" % title, [] if found else ["it is not"]))
    results.append(("all fields are seen", [] if len(list(fields_of(header, "mishap_operation"))) >= 25 else ["there are too few"]))
    print("1..%d" % len(results))
    for number, (title, flaws) in enumerate(results, 1):
        print("%s %d - %s" % ("not ok" if flaws else "ok", number, title))
        for flaw in flaws:
            print("# " + flaw)
    return any(flaws for _, flaws in results)


sys.exit(main())
