#!/usr/bin/env python3
"""Every public header compiles alone, in each language that programs are written in, and a program in C++ runs.

Without a warning by the usual flags. A compiler that is not there is left out.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from blackbox import equal, expect, main, tests_of  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = [os.path.join(HERE, "..", "..", "include"), os.environ["MISHAP_INCLUDE"]]
HEADERS = sorted(name for folder in FOLDERS for name in os.listdir(os.path.join(folder, "mishap")) if name.endswith(".h"))
FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror", *("-I" + folder for folder in FOLDERS)]
STANDARDS = {"c11": "c", "c17": "c", "c2x": "c", "c++17": "c++", "c++20": "c++"}
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
BOTH = {"%s -std=%s" % (compiler, standard): (compiler, standard)
        for standard, language in STANDARDS.items() for compiler in COMPILERS[language] if shutil.which(compiler)}


LINK = subprocess.run(["pkg-config", "--libs", "--static", "mishap"], capture_output=True, text=True, check=True,
                      env=dict(os.environ, PKG_CONFIG_PATH=os.environ["MISHAP_PKG_CONFIG"])).stdout.split()


def compiled(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, timeout=300, check=False)
    expect(done.returncode == 0, " ".join(words), (done.stdout + done.stderr).decode()[:2000])


@tests_of(BOTH)
def every_header_compiles_alone_with(compiler, standard):
    for header in HEADERS:
        compiled(compiler, "-std=" + standard, "-x", STANDARDS[standard], *FLAGS, "-fsyntax-only", "-",
                 text=b'#include "mishap/%s"\n' % header.encode())


DROPPED = ['mishap_raise(NOT_FOUND, "None.")', 'mishap_validation("None.")', 'mishap_raise_errno(2, "None.")', 'mishap_not_found("None.")',
           'mishap_invoke(NULL, "a", NULL, NULL, NULL)', "mishap_require_end(NULL)"]


@tests_of({name: pair for name, pair in BOTH.items() if pair[1] in ("c17", "c++17")})
def a_result_that_is_dropped_is_a_warning_with(compiler, standard):
    def warnings(lines):
        text = '#include "mishap/invoke.h"\nvoid f(void);\nvoid f(void)\n{\n%s}\n' % "".join("    %s;\n" % line for line in lines)
        done = subprocess.run([compiler, "-std=" + standard, "-x", STANDARDS[standard], *FLAGS, "-c", "-o", os.devnull, "-"],
                              input=text.encode(), capture_output=True, timeout=300, check=False)
        return done.stderr.decode().count("error: ")
    equal((warnings(DROPPED), warnings("mishap_free(%s)" % line for line in DROPPED)), (len(DROPPED), 0), "warnings")


@tests_of({name: pair for name, pair in BOTH.items() if STANDARDS[pair[1]] == "c++"})
def a_program_runs_with(compiler, standard):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        compiled(compiler, "-std=" + standard, *FLAGS, "-o", program, os.path.join(HERE, "program.cc"),
                 *LINK)
        done = subprocess.run([program], capture_output=True, timeout=60, check=False)
        expect(done.returncode == 0 and done.stdout.endswith(b"\n1..14\n") and b"not ok" not in done.stdout, done.stdout.decode(), done.stderr.decode())


if __name__ == "__main__":
    main()
