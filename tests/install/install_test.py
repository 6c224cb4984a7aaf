"""What `make install` installs is enough for a program of one's own: docs/program.md line by line, the README's program,
a catalog with a code of its own, a stack with names. Each with gcc and with clang, by the flags of pkg-config alone; INSTALL_BY names one of them.

    MISHAP_PROGRAM=… MISHAP_BUILD=… python3 tests/install/install_test.py [PART-OF-A-NAME]

Speaks TAP. MISHAP_BUILD is the build folder to install from; everything is installed into a temporary folder.
"""
import contextlib
import ctypes.util
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "store"))
import postgres  # noqa: E402
import server  # noqa: E402
import journal  # noqa: E402, which server finds
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import FOLDER, TREE, Server  # noqa: E402

BUILD = os.environ["MISHAP_BUILD"]
PLACE = os.path.join(FOLDER, "installed")
COMPILERS = {name: name for name in ("gcc", "clang") if os.environ.get("INSTALL_BY", name) == name}

# ---- Installing ----------------------------------------------------------------------------------

done = subprocess.run(["meson", "install", "--no-rebuild", "-C", BUILD, "--destdir", PLACE], stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, check=False)
PC = (glob.glob(PLACE + "/**/mishap.pc", recursive=True) or [None])[0]
if done.returncode or not PC:
    sys.exit("it could not be installed: %s" % done.stdout.decode())
BIN = os.path.dirname(glob.glob(PLACE + "/**/bin/mishap", recursive=True)[0])

# Nothing of the source tree is in the way: neither build/deps nor the build folder.
ENVIRONMENT = {"PATH": BIN + ":" + os.environ["PATH"], "PKG_CONFIG_PATH": os.path.dirname(PC), "CFLAGS": "", "LDFLAGS": ""}


def shell(line, folder, compiler="cc"):
    """Run a line as a reader would: what it printed."""
    tools = os.path.join(folder, ".tools")
    os.makedirs(tools, exist_ok=True)
    if compiler != "cc" and not os.path.exists(os.path.join(tools, "cc")):
        os.symlink(shutil.which(compiler), os.path.join(tools, "cc"))
    ran = run_program("bash", "-c", line, cwd=folder, env=dict(
        ENVIRONMENT, PATH=tools + ":" + ENVIRONMENT["PATH"], CC=compiler, SHELF_DATA="./data",
        **{name + "_LOG": os.path.join(folder, "log") for name in ("SHELF", "DIRECTORY", "NOTES", "NOTEBOOK")}))
    expect(ran.status == 0, line, "exits with", ran.status, "and says", ran.out, ran.err)
    return ran.out.decode()


def fresh_folder(name, compiler):
    if not shutil.which(compiler):
        raise Skipped("there is no %s" % compiler)
    folder = os.path.join(FOLDER, "%s-%s" % (name, compiler))
    os.mkdir(folder)
    return folder


def expect_names(entry, *functions):
    """The stack in an entry of the log names these functions."""
    for function in functions:
        expect(re.search(r"#\d+ %s\+0x" % function, entry), "the stack does not name", function, entry)


FLAGS = "$(pkg-config --cflags --libs mishap)"

# ---- docs/program.md -----------------------------------------------------------------------------

with open(os.path.join(TREE, "docs", "program.md"), encoding="utf-8") as page:
    PAGE = page.read()


def write_files(folder):
    """The files of the page: a name in a line, then its block."""
    found = re.findall(r"^`([\w.]+)`:\n\n```\w*\n(.*?)^```$", PAGE, re.M | re.S)
    equal([name for name, _ in found], ["codes.txt", "shelf.c", "Makefile", "notebook.py", "notebook.c", "notes.c"], "the files of the page")
    for name, text in found:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def examples(text=PAGE):
    """(line, what it prints or "") of all blocks."""
    found = []
    for line in "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)).splitlines():
        if line.startswith("#"):
            found[-1][1] += line[1:].strip()
        else:
            found.append([line, ""])
    return found


def run_examples(lines, folder, compiler, url):
    for line, expected in lines:
        output = shell(line.replace("localhost:8080", url), folder, compiler).replace("\n", "").strip()
        if expected:
            expect(re.fullmatch(re.escape(expected).replace("…", ".*"), output), line, "prints", output, "and not", expected)


@tests_of(COMPILERS)
def the_page_about_a_program_of_ones_own_is_true(compiler):
    folder = fresh_folder("page", compiler)
    write_files(folder)
    lines = [line for line in examples() if not line[0].startswith("make install")]
    if run_program(os.path.join(BIN, "mishap"), "doctor").status != 0:  # the sandbox is refused here, and its service with it
        lines = [line for line in lines if not re.search(r"^\./notebook|/python$", line[0])]
    served = []
    url = ""
    with contextlib.ExitStack() as stack:
        for line, expected in lines:
            serves = re.fullmatch(r"\./(\w+) serve &", line)
            if serves:
                served.append(serves[1])
                url = stack.enter_context(Server(
                    "--workers", "1", data=os.path.join(folder, "data"), program=os.path.join(folder, serves[1]),
                    **{serves[1].upper() + "_LOG": os.path.join(folder, "log")})).url
            else:
                run_examples([(line, expected)], folder, compiler, url)
    expect(len(lines) >= 11 and served[:2] == ["shelf", "notebook"][:len(served)] and served, "the examples:", lines)
    with open(os.path.join(folder, "log"), encoding="utf-8") as log:
        entry = journal.shown(log.read())
    expect_names(entry, "lend_book", "mishap_main", "main")


# ---- docs/store.md -------------------------------------------------------------------------------

def write_programs(folder):
    """The programs of the page; the page."""
    with open(os.path.join(TREE, "docs", "store.md"), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"^`([\w.]+)`:\n\n```c\n(.*?)^```$", text, re.M | re.S)
    equal([name for name, _ in found], ["books.c", "counter.c"], "the files of the page")
    for name, program in found:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(program)
    return text


def run_store_page(folder, compiler, line_of):
    lines = examples(write_programs(folder))
    expect(len(lines) >= 10, "the examples:", lines)
    run_examples([(line_of(line.replace("./counter ", "COUNTER_DATA=data COUNTER_LOG=log ./counter ")), expected)
                  for line, expected in lines], folder, compiler, "")


@tests_of(COMPILERS)
def the_page_about_stores_is_true(compiler):
    folder = fresh_folder("store", compiler)
    run_store_page(folder, compiler, lambda line: line.replace("./books ", "BOOKS_DATA=data BOOKS_LOG=log ./books "))


@test
def the_page_about_stores_is_true_on_postgresql():
    if not postgres.folder_of_programs():
        raise Skipped("there is no PostgreSQL")
    folder = fresh_folder("store-postgresql", "gcc")
    with postgres.Cluster() as cluster:
        address = cluster.address()
        run_store_page(folder, "gcc", lambda line: line.replace("./books ", "BOOKS_LOG=log BOOKS_BOOKS_STORE='%s' ./books " % address))
        equal(cluster.sql("store1", "SELECT count(*) FROM books.books"), "2", "the books")


# ---- Other programs ------------------------------------------------------------------------------

@tests_of(COMPILERS)
def the_program_of_the_readme_is_built_by_one_line(compiler):
    folder = fresh_folder("directory", compiler)
    shutil.copy(os.path.join(TREE, "examples", "directory.c"), folder)
    shell("cc -Wall -Wextra -Werror -O2 -o directory directory.c " + FLAGS, folder, compiler)
    shell("./directory users create --name Ada --email ada@example.com", folder)
    answer = parsed(shell("./directory users list", folder).encode())
    equal([user["name"] for user in answer["data"]], ["Ada"], "the users")


@tests_of(COMPILERS)
def the_example_of_a_service_is_built_without_warnings_and_its_tests_pass(compiler):
    folder = fresh_folder("loans", compiler)
    for name in ["loans.c", "loans_test.c", "loans_codes.txt"]:
        shutil.copy(os.path.join(TREE, "examples", name), folder)
    shell("mishap-catalog loans_codes.txt --header loans_codes.h --source loans_codes.c --include loans_codes.h", folder)
    shell("cc -Wall -Wextra -Werror -O2 -o loans_test loans_test.c loans_codes.c $(pkg-config --cflags --libs mishap-store)", folder, compiler)
    shell("cc -Wall -Wextra -Werror -O2 -fsyntax-only loans.c $(pkg-config --cflags mishap-store)", folder, compiler)
    expect("not ok" not in shell("./loans_test", folder), "its own tests")
    with open(os.path.join(folder, "loans.c"), encoding="utf-8") as file:
        expect(len(file.readlines()) <= 365, "the service has more than 365 lines")  # with scopes, a question and a task


CRASHING = """
#include <mishap/main.h>
int *volatile nowhere; /* not known to the compiler, which would else arrange for the crash by itself */
__attribute__((noinline)) void step_into_the_void(int *where) { *where = 1; }
mishap *fall(mishap_call *call) { step_into_the_void(nowhere); return mishap_answer(call, NULL); }
static const mishap_operation operations[] = { { "fall", "Fall", NULL, fall }, { 0 } };
int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &(mishap_app){ .name = "cliff", .version = "1", .operations = operations });
}
"""


@tests_of(COMPILERS)
def the_stack_of_a_crash_names_the_functions_of_the_program(compiler):
    folder = fresh_folder("cliff", compiler)
    with open(os.path.join(folder, "cliff.c"), "w", encoding="utf-8") as file:
        file.write(CRASHING)
    shell("cc -O2 -o cliff cliff.c " + FLAGS, folder, compiler)
    shell("CLIFF_LOG=log ./cliff fall || test $? = 1", folder)
    with open(os.path.join(folder, "log"), encoding="utf-8") as log:
        entry = journal.shown(log.read())
    expect_names(entry, "step_into_the_void", "mishap_main", "main")


# Nothing but main() is exported, and all is in one line for each step: their numbers are known.
STATIC = """#include <mishap/main.h>
static __attribute__((noinline)) mishap *deep_step(int how) { mishap *m = mishap_raise(UNAVAILABLE, "Step %d.", how);
    return mishap_note(m, "how", how); }
static inline __attribute__((always_inline)) mishap *inlined_step(void) { mishap *m = deep_step(3);
    return mishap_note(m, "inlined", 1); }
static __attribute__((noinline)) mishap *run_unseen(mishap_call *call) { mishap *m = inlined_step();
    (void)call; return mishap_note(m, "run", 1); }
static const mishap_operation operations[] = { { .name = "fall", .summary = "Fall", .run = run_unseen,
    .route = "GET /fall", .raises = (const mishap_code *const[]){ MISHAP_CODE_UNAVAILABLE, NULL } }, { 0 } };
int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &(mishap_app){ .name = "unseen", .version = "1", .operations = operations });
}
"""
UNSEEN = re.compile(r"native stack:\n +#0 deep_step\+0x\w+ \(\S*unseen\) at \S*unseen\.c:2\n"
                    r" +#1 inlined_step \(inlined\) at \S*unseen\.c:4\n +#2 run_unseen\+0x\w+ \(\S*unseen\) at \S*unseen\.c:6\n")
INTERNAL = re.compile(r"_step|_unseen|\.c:\d|\+0x")


@tests_of(COMPILERS)
def the_stack_names_static_and_inlined_functions_with_file_and_line(compiler):
    folder = fresh_folder("unseen", compiler)
    with open(os.path.join(folder, "unseen.c"), "w", encoding="utf-8") as file:
        file.write(STATIC)
    shell("cc -O2 -g -o unseen unseen.c " + FLAGS, folder, compiler)
    if ctypes.util.find_library("dw") is None:
        raise Skipped("there is no libdw")
    program, log = os.path.join(folder, "unseen"), os.path.join(folder, "log")
    ran = run_program(program, "fall", "--verbose", env={"UNSEEN_LOG": log})
    expect(not INTERNAL.search(ran.out.decode()), "the caller gets", ran.out)
    expect(UNSEEN.search(ran.err.decode()), "with --verbose:", ran.err)
    with open(log, encoding="utf-8") as file:
        entry = journal.shown(file.read())
    expect(UNSEEN.search(entry), "in the log:", entry)
    with Server("--verbose", "--workers", "1", program=program) as found:
        answer = found.ask("GET", "/fall")
        equal(answer.status, 503)
        expect(not INTERNAL.search(answer.body.decode()), "the caller gets", answer.body)
        entry = found.wait_for_log("fall")
        expect(UNSEEN.search(entry), "in the log of the server:", entry)
        server.wait_for(lambda: UNSEEN.search(found.read(found.stderr).decode()))


@test
def the_stack_of_a_stripped_program_has_addresses():
    folder = fresh_folder("stripped", "gcc")
    with open(os.path.join(folder, "unseen.c"), "w", encoding="utf-8") as file:
        file.write(STATIC)
    shell("cc -O2 -g -o unseen unseen.c " + FLAGS, folder, "gcc")
    symbols = shell("nm unseen", folder)
    start = int(re.search(r"^(\w+) t deep_step\b", symbols, re.M)[1], 16)
    shell("strip unseen", folder)
    ran = run_program(os.path.join(folder, "unseen"), "fall", "--verbose", env={"UNSEEN_LOG": ""})
    found = re.search(r"native stack:\n +#0 \+0x(\w+) \(\S*unseen\)\n", ran.err.decode())
    expect(found and 0 < int(found[1], 16) - start < 200, "deep_step is at %x:" % start, ran.err)


# One command has a pattern that cannot be compiled.
HALF_BROKEN = """
#include <mishap/main.h>
static mishap *run(mishap_call *call) { return mishap_answer(call, NULL); }
static const mishap_param params[] = { { "x", MISHAP_STRING, .pattern = "(" }, { 0 } };
static const mishap_operation operations[] = { { "sound", "Sound", NULL, run },
    { .name = "broken", .summary = "Broken", .run = run, .params = params }, { 0 } };
int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &(mishap_app){ .name = "half", .version = "1", .operations = operations });
}
"""


@test
def a_broken_pattern_stops_its_own_command_and_all_that_stay_or_describe_the_program():
    folder = fresh_folder("half", "gcc")
    with open(os.path.join(folder, "half.c"), "w", encoding="utf-8") as file:
        file.write(HALF_BROKEN)
    shell("cc -O2 -o half half.c " + FLAGS, folder, "gcc")
    half = os.path.join(folder, "half")
    equal(run_program(half, "sound").status, 0, "the sound command")
    equal(run_program(half, "--version").status, 0, "the version")
    for words in (["nonsense"], []):
        equal(run_program(half, *words).status, 2, "no command that exists")
    for words in (["broken"], ["broken", "--x", "a"], ["sound", "--help"], ["help"], ["mcp"], ["manual"]):
        ran = run_program(half, *words, stdin=b"")
        expect(ran.status not in (0, 1, 2) and b"`x` has a pattern that cannot be compiled" in ran.err, words, ran.status, ran.err)


# ---- What is installed ---------------------------------------------------------------------------

@test
def nothing_that_is_installed_points_into_the_source_tree():
    with open(PC, encoding="utf-8") as file:
        text = file.read()
    expect(TREE not in text and BUILD not in text, "mishap.pc:", text)
    flags = run_program("pkg-config", "--cflags", "--libs", "mishap", env=ENVIRONMENT).out.decode().split()
    expect("-fno-omit-frame-pointer" in flags and "-rdynamic" in flags, "the flags are", flags)
    for flag in flags:
        expect(not flag.startswith(("-I", "-L")) or os.path.isdir(flag[2:]), "there is no", flag)


@test
def the_program_needs_nothing_but_the_c_library_to_start():
    elf = run_program("readelf", "-dlW", os.path.join(BIN, "mishap")).out.decode()
    needed = [name for name in re.findall(r"Shared library: \[(.*?)\]", elf) if not name.startswith("ld-")]
    needed = [name for name in needed if not name.startswith("libyyjson.")]  # Debian 13 has no static one
    equal(needed, ["libc.so.6"], "libraries that are loaded at each start")
    thread = re.search(r"^ +TLS +(?:0x\w+ ){4}(0x\w+)", elf, re.M)
    expect(int(thread[1], 16) < 8192, "so many bytes of thread-local variables are cleared at each start:", thread[1])
    expect("Elf file type is EXEC" in elf, "it is relocated at each start:", elf[:300])


@test
def the_library_exports_nothing_but_names_that_begin_with_mishap():
    for name, least in {"libmishap-program.a": 500, "libmishap.a": 150}.items():
        library = glob.glob(PLACE + "/**/" + name, recursive=True)[0]
        symbols = run_program("nm", "-g", "--defined-only", library).out.decode()
        names = {line.split()[2] for line in symbols.splitlines() if len(line.split()) == 3}
        expect(len(names) > least, "only these:", names)
        equal(sorted(name for name in names if not name.startswith("mishap")), [], "names of others")


# Where each is below the prefix, and a text that is in it.
INSTALLED = {
    "share/man/man1/mishap.1": ".TH", "share/man/man7/mishap-codes.7": ".TH", "share/mishap/codes.txt": "INTERNAL_ERROR",
    "share/mishap/mishap-codes.schema.json": "INTERNAL_ERROR", "share/mishap/mishap-codes.ts": "INTERNAL_ERROR",
    "share/bash-completion/completions/mishap": "mishap", "share/zsh/site-functions/_mishap": "#compdef",
    "share/fish/vendor_completions.d/mishap.fish": "complete", "share/doc/mishap/README.md": "# Mishap",
    "share/doc/mishap/LICENSE": "MIT"}


@test
def what_belongs_to_the_program_is_installed():
    for path, text in INSTALLED.items():
        with open(os.path.join(os.path.dirname(BIN), path), encoding="utf-8") as file:
            expect(text in file.read(), path, "does not have", text)


@test
def the_symbolic_engine_is_found_where_it_is_installed():
    if not os.path.exists(os.path.join(BUILD, "services/symbolic/mishap-symbolic")):
        raise Skipped("Mishap was built without the symbolic engine")
    found = glob.glob(PLACE + "/**/mishap/mishap-symbolic", recursive=True)
    expect(len(found) == 1 and os.access(found[0], os.X_OK), "the engine:", found)
    ran = run_program(os.path.join(BIN, "mishap"), "symbolic", "find", "def f(n: int): return 1 // n", "f", "ArithmeticError", "--output", "json")
    equal(parsed(ran.out)["data"]["triggering_inputs"][0]["args"], {"n": 0}, "what it found")


@test
def every_page_of_the_docs_is_installed():
    pages = [name for name in os.listdir(os.path.join(TREE, "docs")) if not name.startswith(".")]
    installed = os.listdir(os.path.join(os.path.dirname(BIN), "share/doc/mishap"))
    equal(sorted(set(pages) - set(installed)), [], "pages that are missing")


CMAKE = """cmake_minimum_required(VERSION 3.20)
project(directory C)
find_package(Mishap 0.1 REQUIRED)
add_executable(directory directory.c)
target_link_libraries(directory PRIVATE Mishap::mishap)
add_executable(books books.c)
target_link_libraries(books PRIVATE Mishap::store)
file(WRITE ${CMAKE_BINARY_DIR}/catalog "${Mishap_CATALOG}")
"""


@test
def a_cmake_project_finds_the_package():
    folder = fresh_folder("cmake", "gcc")
    if not shutil.which("cmake"):
        raise Skipped("there is no cmake")
    shutil.copy(os.path.join(TREE, "examples", "directory.c"), folder)
    write_programs(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(CMAKE)
    lines = "cmake -S . -B build -DCMAKE_PREFIX_PATH=%s && cmake --build build" % os.path.dirname(BIN)
    environment = {"PKG_CONFIG_PATH": "", "CFLAGS": "", "LDFLAGS": "", "CC": "gcc"}
    ran = run_program("bash", "-c", lines, cwd=folder, env=environment)
    expect(ran.status == 0, "cmake says", ran.out, ran.err)
    shell("build/directory users create --name Ada --email ada@example.com", folder)
    with open(os.path.join(folder, "build", "catalog"), encoding="utf-8") as file:
        equal(os.path.realpath(file.read()), os.path.realpath(os.path.join(BIN, "mishap-catalog")))
    newer = CMAKE.replace("0.1 REQUIRED", "0.2 REQUIRED")
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(newer)
    ran = run_program("bash", "-c", lines.replace("-B build", "-B newer"), cwd=folder, env=environment)
    expect(ran.status != 0 and b"MishapConfig.cmake, version: 0.1.0" in ran.err, ran.err)


@test
def the_generator_is_where_pkg_config_says():
    catalog = run_program("pkg-config", "--variable=catalog", "mishap", env=ENVIRONMENT).out.decode().strip()
    expect(os.access(catalog, os.X_OK), "no program:", catalog)
    equal(os.path.realpath(catalog), os.path.realpath(os.path.join(BIN, "mishap-catalog")))


@test
def every_public_header_can_be_included_alone():
    headers = glob.glob(os.path.join(PLACE, "**/include/mishap/*.h"), recursive=True)
    expect(len(headers) > 10, "only these are installed:", headers)
    for header in headers:
        name = "mishap/" + os.path.basename(header)
        shell("echo '#include <%s>' | gcc -std=c17 -Wall -Wextra -Werror -fsyntax-only -x c - %s" % (name, FLAGS), FOLDER)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
