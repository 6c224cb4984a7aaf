#!/usr/bin/env python3
"""Mistakes with typed arguments that must not compile, with each compiler that is installed: a name that is no member, a member of
another type, a handler for another struct, an unknown type, a parameter that has no such rule. The message names the mistake.

    typed_refused_test.py INCLUDE-FOLDER…
"""
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
#include <mishap/typed.h>
#define BOOKING(member) member(MISHAP_STRING, guest, .required = true) member(MISHAP_INTEGER, nights) member(MISHAP_DECIMAL, price)
MISHAP_STRUCT(booking, BOOKING);
#define ROOM(member) member(MISHAP_STRING, guest)
MISHAP_STRUCT(room, ROOM);
%(extra)s
static mishap *book(mishap_call *call, const struct %(tag)s *in)
{
    %(code)s
    return mishap_answer_member(call, "guest", in->guest);
}
const mishap_operation operations[] = { { "book", "Book", MISHAP_TYPED(booking, book) }, { .name = "list", MISHAP_TYPED(room, list) }, { 0 } };
"""
LIST = "static mishap *list(mishap_call *call, const struct room *in) { return mishap_answer_member(call, \"guest\", in->guest); }"

# What is wrong, what it is made of, and a word of the message of the compiler.
CASES = [
    ("nothing is wrong", {}, None),
    ("a name that is no member", {"code": "(void)in->gest;"}, "gest"),
    ("a presence of a name that is no member", {"code": "(void)in->is.gest;"}, "gest"),
    ("a string as an integer", {"code": "int64_t n = in->guest; (void)n;"}, "int64_t"),
    ("an integer as a string", {"code": "const char *s = in->nights; (void)s;"}, "const char"),
    ("a decimal as an integer", {"code": "int64_t n = in->price; (void)n;"}, "mishap_decimal"),
    ("a string as a double", {"code": "double d = in->guest; (void)d;"}, "double"),
    ("a member that is changed", {"code": "in->nights = 7;"}, "read-only|const"),
    ("a handler for another struct", {"tag": "room"}, "struct room|_Generic"),
    ("an unknown type", {"extra": LIST + "\n#define X(member) member(MISHAP_STRNG, a)\nMISHAP_STRUCT(x, X);"}, "MISHAP_STRNG"),
    ("a rule that a parameter does not have", {"extra": LIST + "\n#define X(member) member(MISHAP_STRING, a, .requird = true)\nMISHAP_STRUCT(x, X);"},
     "requird"),
    ("a function that is not declared", {"code": "mishap_strng(call, \"guest\");"}, "mishap_strng"),
]


def main():
    flags = ["-I" + folder for folder in sys.argv[1:]]
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    number, failed = 0, 0
    print("1..%d" % (len(CASES) * len(compilers)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.c")
        for compiler in compilers:
            for what, parts, word in CASES:
                number += 1
                with open(path, "w") as file:
                    file.write(PROGRAM % dict({"tag": "booking", "code": "", "extra": LIST}, **parts))
                done = subprocess.run([compiler, "-std=gnu17", "-fsyntax-only", *flags, path], capture_output=True, text=True)
                said = done.stderr
                right = done.returncode == 0 and not said if word is None else (
                    done.returncode != 0 and any(one in said for one in word.split("|")) and "error" in said)
                failed += not right
                print("%sok %d - %s: %s" % ("" if right else "not ", number, compiler, what))
                if not right:
                    print("\n".join("# " + line for line in said.splitlines()[:20]))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
