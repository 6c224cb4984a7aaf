#!/usr/bin/env python3
"""Every public header compiles alone, in each language that programs are written in, and programs in C++ run.

Without a warning by the usual flags. What needs a compiler that is not there is skipped. HEADERS_BY names the family of compilers, gcc or
clang; without it both are used.
"""
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), name) for name in ("cli", "http")]
from blackbox import Skipped, equal, expect, main, run_agent, test, tests_of  # noqa: E402
from server import Server  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
FOLDERS = [os.path.join(HERE, "..", "..", "include"), os.environ["MISHAP_INCLUDE"]]
HEADERS = sorted(name for folder in FOLDERS for name in os.listdir(os.path.join(folder, "mishap")) if name.endswith(".h"))
FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror", *("-I" + folder for folder in FOLDERS)]
STANDARDS = {"c11": "c", "c17": "c", "c2x": "c", "c++17": "c++", "c++20": "c++"}
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
ALONE = ("c11", "c++17")  # what a header needs does not depend on the standard
FAMILIES = ["gcc", "clang"]
ALL = {"%s -std=%s" % (compiler, standard): (compiler, standard)
       for standard, language in STANDARDS.items() for compiler in COMPILERS[language]}
USED = FAMILIES.index(os.environ["HEADERS_BY"]) if "HEADERS_BY" in os.environ else None
BOTH = {name: pair for name, pair in ALL.items() if USED is None or COMPILERS[STANDARDS[pair[1]]][USED] == pair[0]}


def need(compiler):
    if not shutil.which(compiler):
        raise Skipped("there is no " + compiler)


def tests_with(chosen):
    """A test for each of these compilers, which is skipped where its compiler is not there."""
    def add(run):
        @functools.wraps(run)
        def run_with(compiler, standard):
            need(compiler)
            run(compiler, standard)
        return tests_of(chosen)(run_with)
    return add


@test
def a_compiler_that_is_not_there_is_told():
    try:
        need("no-such-compiler")
    except Skipped as reason:
        equal(str(reason), "there is no no-such-compiler", "the reason")
    else:
        raise AssertionError("a missing compiler is not told")
    expect("clang++ -std=c++20" in ALL and len(ALL) == 10, "the tests do not depend on what is installed:", ALL)
    equal(len(BOTH), 10 if USED is None else 5, "those of one family")


EXPECTATIONS = 22  # of examples/directory_test.c
LINK = subprocess.run(["pkg-config", "--libs", "--static", "mishap"], capture_output=True, text=True, check=True,
                      env=dict(os.environ, PKG_CONFIG_PATH=os.environ["MISHAP_PKG_CONFIG"])).stdout.split()


def compiled(*words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, timeout=300, check=False)
    expect(done.returncode == 0, " ".join(words), (done.stdout + done.stderr).decode()[:2000])


@tests_with(BOTH)
def every_header_compiles_with(compiler, standard):
    """Each alone; by a later standard of the same language all of them together, in both orders."""
    for headers in [[header] for header in HEADERS] if standard in ALONE else [HEADERS, HEADERS[::-1]]:
        compiled(compiler, "-std=" + standard, "-x", STANDARDS[standard], *FLAGS, "-fsyntax-only", "-",
                 text="".join('#include "mishap/%s"\n' % header for header in headers).encode())


OF_CXX20 = {name: pair for name, pair in BOTH.items() if pair[1] == "c++20"}


@tests_with(OF_CXX20)
def the_header_for_cxx_compiles_alone_with(compiler, standard):
    compiled(compiler, "-std=" + standard, "-x", "c++", *FLAGS, "-fsyntax-only", "-", text=b'#include "mishap/mishap.hpp"\n')
    older = subprocess.run([compiler, "-std=c++17", "-x", "c++", *FLAGS, "-fsyntax-only", "-"], input=b'#include "mishap/mishap.hpp"\n',
                           capture_output=True, timeout=300, check=False)
    expect(older.returncode and b"is for C++20: compile with -std=c++20" in older.stderr, older.stderr.decode()[:500])


DROPPED = ['mishap_raise(NOT_FOUND, "None.")', 'mishap_validation("None.")', 'mishap_raise_errno(2, "None.")', 'mishap_not_found("None.")',
           'mishap_invoke(NULL, "a", NULL, NULL, NULL)', "mishap_require_end(NULL)"]


@tests_with({name: pair for name, pair in BOTH.items() if pair[1] in ("c17", "c++17")})
def a_result_that_is_dropped_is_a_warning_with(compiler, standard):
    def warnings(lines):
        text = '#include "mishap/invoke.h"\nvoid f(void);\nvoid f(void)\n{\n%s}\n' % "".join("    %s;\n" % line for line in lines)
        done = subprocess.run([compiler, "-std=" + standard, "-x", STANDARDS[standard], *FLAGS, "-c", "-o", os.devnull, "-"],
                              input=text.encode(), capture_output=True, timeout=300, check=False)
        return done.stderr.decode().count("error: ")
    equal((warnings(DROPPED), warnings("mishap_free(%s)" % line for line in DROPPED)), (len(DROPPED), 0), "warnings")


@tests_with({name: pair for name, pair in BOTH.items() if STANDARDS[pair[1]] == "c++"})
def a_program_runs_with(compiler, standard):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        compiled(compiler, "-std=" + standard, *FLAGS, "-o", program, os.path.join(HERE, "program.cc"),
                 *LINK)
        done = subprocess.run([program], capture_output=True, timeout=300, check=False)
        expect(done.returncode == 0 and done.stdout.endswith(b"\n1..14\n") and b"not ok" not in done.stdout, done.stdout.decode(), done.stderr.decode())


def sanitizers_of(compiler):
    """They see what an owner frees twice, or never. Not every compiler that is there has its libraries."""
    flags = ["-g", "-fsanitize=address,undefined"]
    tried = subprocess.run([compiler, *flags, "-x", "c++", "-o", os.devnull, "-"], input=b"int main() {}", capture_output=True, timeout=300, check=False)
    return flags if tried.returncode == 0 else []


@tests_with(OF_CXX20)
def owners_and_results_hold_with(compiler, standard):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "owners")
        compiled(compiler, "-std=" + standard, *FLAGS, *sanitizers_of(compiler), "-o", program, os.path.join(HERE, "owners.cc"), *LINK)
        done = subprocess.run([program], capture_output=True, timeout=300, check=False)
        expect(done.returncode == 0 and b"\n1..32\n" in done.stdout and b"not ok" not in done.stdout, done.stdout.decode(), done.stderr.decode())


@tests_with(OF_CXX20)
def the_program_of_the_readme_in_cxx_is_called_in_c_with(compiler, standard):
    """Its tests are those of the program in C."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "directory_test")
        compiled(compiler, "-std=" + standard, *FLAGS, *sanitizers_of(compiler), "-o", program, "-x", "c++", os.path.join(EXAMPLES, "directory_test.c"),
                 "-x", "none", *LINK)
        done = subprocess.run([program], capture_output=True, timeout=300, check=False)
        expect(done.returncode == 0 and b"\n1..%d\n" % EXPECTATIONS in done.stdout and b"not ok" not in done.stdout, done.stdout.decode(), done.stderr.decode())


def asked_of_agent(program, environment, name, arguments):
    """The result of a tool, over standard input and output."""
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}]
    done = run_agent([program, "mcp"], [json.dumps(line).encode() + b"\n" for line in lines], 2, env=environment)
    return next(said["result"] for said in map(json.loads, done.out.splitlines()) if said.get("id") == 2)


@tests_with(OF_CXX20)
def the_program_of_the_readme_in_cxx_works_with(compiler, standard):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "directory")
        file = os.path.join(folder, "users.txt")
        environment = dict(os.environ, DIRECTORY_FILE=file, DIRECTORY_LOG=os.path.join(folder, "log"), HOME=folder)
        compiled(compiler, "-std=" + standard, *FLAGS, "-o", program, os.path.join(EXAMPLES, "directory.cc"), *LINK)

        def run(*words):
            done = subprocess.run([program, *words], env=environment, capture_output=True, timeout=300, check=False)
            return done.returncode, json.loads(done.stdout or done.stderr)
        ada = {"name": "Ada", "age": 36, "email": "ada@example.com"}
        equal(run("users", "create", "--name", "Ada", "--age", "36", "--email", ada["email"])[1].get("data"), ada, "a command")
        code, envelope = run("users", "create", "--name", "Ada", "--email", ada["email"])
        equal((code != 0, envelope["error"]["code"]), (True, "ALREADY_EXISTS"), "a command that fails")
        with Server("--workers", "1", program=program, DIRECTORY_FILE=file) as found:
            equal(found.ask("GET", "/users/" + ada["email"]).json, ada, "over HTTP")
            equal(found.ask("POST", "/users", ada).status, 409, "a conflict over HTTP")
            refused = found.ask("POST", "/users", {"name": "", "age": 200, "email": "invalid"})
            equal((refused.status, [detail["field"] for detail in refused.json["details"]]), (422, ["name", "age", "email"]), "all findings")
            equal(found.ask("GET", "/users").json, [ada], "the list")
        tool = asked_of_agent(program, environment, "users_get", {"email": "none@example.com"})
        expect(tool["isError"] and "User not found" in tool["content"][0]["text"], "an agent is told", tool)
        equal(asked_of_agent(program, environment, "users_get", {"email": ada["email"]})["structuredContent"], ada, "an agent")


if __name__ == "__main__":
    main()
