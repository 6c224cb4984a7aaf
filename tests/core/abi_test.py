"""The ABI of libmishap.so.0 is that of the last release, or has grown where docs/library.md allows it: abidiff against abi/libmishap.so.0.abi.

    MISHAP_CORE=… MISHAP_BUILD=… python3 tests/core/abi_test.py [PART-OF-A-NAME]

The other cases plant a break of each kind in a copy, and fail if abidiff does not see it. After a release, scripts/abi writes the file anew.
"""
import atexit
import os
import re
import shutil
import subprocess
import tempfile

from abi import FILE, SUPPRESSIONS, Debugged, headers_flags
from blackbox import Skipped, equal, expect, main, test, tests_of

ABI_CHANGE, INCOMPATIBLE = 4, 8  # bits of the exit code of abidiff
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER)
made = []


def debugged():
    """The library of the tree with debug information, made once."""
    if not shutil.which("abidiff"):
        raise Skipped("there is no abidiff (package abigail-tools)")
    if not made:
        made.append(Debugged(os.path.join(FOLDER, "made")))
    return made[0]


def compared(library, headers, first=FILE):
    """What abidiff says of a library. The file is of one architecture, and types are those of all with 64 bits."""
    done = subprocess.run(["abidiff", "--no-architecture", "--no-added-syms", *headers_flags(headers, "2"), "--drop-private-types",
                           "--suppressions", SUPPRESSIONS, first, library], capture_output=True, text=True, timeout=300, check=False)
    expect(done.returncode & 3 == 0, "abidiff fails:", done.stdout, done.stderr)
    return 0 if only_grows(done.stdout) else done.returncode, done.stdout


# Structs that only the library makes, and mishap_field, may grow at the end (docs/library.md).
MAY_GROW = {"mishap_public", "mishap_member", "mishap_frame", "mishap_finding", "mishap_field"}
# What abidiff writes around the members that are new. All other lines are about other changes.
AROUND = re.compile(r"(Functions|Variables) changes summary: 0 Removed, |\d+ (function|variable)s? with some indirect sub-type changes?:$|"
                    r"\[C\] '|(in pointed to type|in unqualified underlying type|in referenced type) '|(parameter \d+ of type|return type|type of variable) |"
                    r"(underlying type )?'?(struct|typedef) \S+'? ?(at \S+ )?changed:$|\d+ data member insertions?:$|"
                    r"type size hasn't changed$|$")


def only_grows(report):
    """True if all that a report tells is members behind the old end of structs that may grow. (The suppressions of abidiff 2.2 for this hide other changes of
    the same struct, too.)"""
    name, end = None, None
    for line in (line.strip() for line in report.splitlines()):
        struct = re.match(r"(?:underlying type )?'struct (\w+)'.*changed:$", line) or re.match(r"in pointed to type '(?:const )?struct (\w+)'", line)
        size = re.fullmatch(r"type size changed from (\d+) to (\d+) \(in bits\)", line)
        member = re.match(r"'.*', at offset (\d+) \(in bits\)", line)
        if struct:
            name = struct[1]
        if size:
            end = int(size[1])
        if (size and name not in MAY_GROW) or (member and (end is None or int(member[1]) < end)) or not (size or member or AROUND.match(line)):
            return False
    return True


@test
def the_abi_is_that_of_the_last_release():
    found, said = compared(debugged().library("now"), debugged().headers)
    equal(found, 0, said)


def planted(name, header=None, source=None, change=None, code=None):
    """The library with a change in a header and in one source, which is compiled with it."""
    tree = debugged()
    headers = os.path.join(FOLDER, name, "headers")
    shutil.copytree(tree.headers, headers)
    if header:
        path = os.path.join(headers, "mishap", header)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        expect(change(text) != text, "nothing was changed in", header)
        with open(path, "w", encoding="utf-8") as file:
            file.write(change(text))
    changed = {each: tree.compile(each, headers, code) for each in tree.sources if re.search(source, each)}
    expect(changed, "no source is", source)
    return compared(tree.library(name, changed), headers)


BREAKS = {
    # A row of the catalog: its members have other places, as all rows have where the table is an array.
    "the members of a code moved": dict(
        header="catalog.h", source=r"catalog_codes\.c",
        change=lambda text: re.sub(r"(    mishap_text name;.*\n)(    mishap_text condition;.*\n)", r"\2\1", text)),
    "a code grew": dict(
        header="catalog.h", source=r"catalog_codes\.c", change=lambda text: text.replace("reserved[7];", "reserved[8];")),
    "a code is gone": dict(
        source=r"catalog_codes\.c", code=lambda text: text.replace("mishap_code_NOT_FOUND", "mishap_code_NOT_HERE"),
        header="codes.h", change=lambda text: text.replace("mishap_code_NOT_FOUND", "mishap_code_NOT_HERE")),
    "a struct that callers hold grew": dict(
        header="text.h", source=r"base_buffer\.c", change=lambda text: text.replace("    bool failed;\n", "    bool failed;\n    size_t more;\n")),
    "a struct grew in its middle": dict(
        header="mishap.h", source=r"mishap_value\.c",
        change=lambda text: text.replace("    mishap_text message;    /*", "    mishap_text more;\n    mishap_text message;    /*")),
    "a function is gone": dict(
        header="catalog.h", source=r"mishap_catalog\.c",
        change=lambda text: text.replace("mishap_http_phrase(", "mishap_http_word("),
        code=lambda text: text.replace("mishap_http_phrase(", "mishap_http_word(")),
    "an argument changed": dict(
        header="catalog.h", source=r"mishap_catalog\.c",
        change=lambda text: text.replace("mishap_http_phrase(int http_status)", "mishap_http_phrase(long http_status)"),
        code=lambda text: text.replace("mishap_http_phrase(int http_status)", "mishap_http_phrase(long http_status)")),
    "an enumeration was numbered anew": dict(
        header="catalog.h", source=r"mishap_catalog\.c",
        change=lambda text: text.replace("    MISHAP_VALIDATION,", "    MISHAP_BRAND_NEW,\n    MISHAP_VALIDATION,")),
}


@tests_of({name: (name,) for name in BREAKS})
def a_break_is_seen_where(name):
    found, said = planted(name, **BREAKS[name])
    expect(found & ABI_CHANGE, "abidiff sees nothing:", found, said)


@test
def a_struct_of_the_library_may_grow_at_its_end():
    found, said = planted("grown", header="mishap.h", source=r"mishap_value\.c",
                          change=lambda text: text.replace("    size_t frame_count;\n} mishap_public;", "    size_t frame_count, more;\n} mishap_public;"))
    equal(found, 0, said)


@test
def a_new_function_is_allowed():
    found, said = planted("new", source=r"mishap_catalog\.c", header="catalog.h",
                          change=lambda text: text.replace("bool mishap_code_name_valid(", "int mishap_code_FUTURE(void);\nbool mishap_code_name_valid("),
                          code=lambda text: text + "int mishap_code_FUTURE(void)\n{\n    return 1;\n}\n")
    equal(found, 0, said)


main()
