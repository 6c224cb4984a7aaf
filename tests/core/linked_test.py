"""Programs that are linked against the shared core: an old one with a new library, one in C++ with another yyjson, that of docs/library.md.

    MISHAP_CORE=… MISHAP_BUILD=… python3 tests/core/linked_test.py [PART-OF-A-NAME]
"""
import os
import re
import shutil
import subprocess
import tempfile

from core import ARCHIVE, BUILD, GENERATE, HERE, INCLUDES, LIBRARY, RELEASED, RELEASED_ABI, TABLE, TREE, exported, include_flags, link, objects, run, yyjson_flags
from blackbox import PATIENCE, Skipped, equal, expect, main, test, tests_of

FOLDER = tempfile.TemporaryDirectory()
FAMILY = os.environ.get("LINKED_BY")  # gcc or clang; without it both
COMPILERS = {name: name for name in ("gcc", "clang") if FAMILY in (None, name)}
CXX_COMPILERS = [name for family, name in (("gcc", "g++"), ("clang", "clang++")) if FAMILY in (None, family)]


def need(compiler):
    if not shutil.which(compiler):
        raise Skipped("there is no " + compiler)


def path(*parts):
    at = os.path.join(FOLDER.name, *parts)
    os.makedirs(os.path.dirname(at), exist_ok=True)
    return at


def write(text, *parts):
    with open(path(*parts), "w", encoding="utf-8") as file:
        file.write(text)
    return path(*parts)


LINK = ["-L" + os.path.dirname(LIBRARY), "-lmishap"]


def run_with(library, *words):
    return run(*words, env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library)))


# ---- An old program, the library of today, and one that is newer still ---------------------------

# One row more in the middle: all rows behind it have new places.
NEW_ROW = """BRAND_NEW                resource    404   5  -       never  none
    message       A code that no old program knows.

"""


def released_library():
    """What an old program was linked with: a library with the names and sizes of the last release, and nothing behind them."""
    library = path("released", "libmishap.so.0")
    if not os.path.exists(library):
        with open(RELEASED_ABI, encoding="utf-8") as file:
            text = file.read()
        functions = re.findall(r"<elf-symbol name='(\w+)' version='MISHAP_0' [^>]*type='func-type'", text)
        objects_of = re.findall(r"<elf-symbol name='(\w+)' size='(\d+)' version='MISHAP_0' [^>]*type='object-type'", text)
        expect(len(functions) > 90 and len(objects_of) > 80, "the names of the release:", functions, objects_of)
        source = "".join("void %s(void) { __builtin_trap(); }\n" % name for name in functions)
        source += "".join("const char %s[%s] = { 0 };\n" % row for row in objects_of)
        names = write("MISHAP_0 { global: mishap_*; local: *; };\n", "released", "map")
        run("cc", "-shared", "-fPIC", "-o", library, write(source, "released", "names.c"), "-Wl,-soname,libmishap.so.0", "-Wl,--version-script," + names)
        os.symlink("libmishap.so.0", path("released", "libmishap.so"))
    return library


def codes_object(table, name, change=lambda text: text):
    """The object of another table of codes."""
    generator = shutil.copy(GENERATE, path("generator", "generate"))
    header = path(name, "include", "mishap", "codes.h")
    write("", name, "include", "mishap", "codes.h")
    run(generator, write(table, "generator", "codes.txt"), "--header", header, "--source", path(name, "codes.c"), "--include", "mishap/codes.h")
    for part in ("catalog.h", "text.h"):
        with open(os.path.join(TREE, "include", "mishap", part), encoding="utf-8") as file:
            write(change(file.read()) if part == "catalog.h" else file.read(), name, "include", "mishap", part)
    run("cc", "-O2", "-fPIC", "-fvisibility=hidden", "-c", "-o", path(name, "codes.o"), path(name, "codes.c"), *include_flags(path(name, "include")))
    return path(name, "codes.o")


def library_with(codes, name):
    """The library of today with the object of another table."""
    library = path(name, "libmishap.so.0")
    others = [at for at in objects(path(name, "objects")) if "codes.c.o" not in os.path.basename(at)]
    link(library, [*others, codes])
    return library


def today_table():
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    expect(re.search(r"^NOT_FOUND ", text, re.M), "the table has no NOT_FOUND")
    return text


def new_library():
    """The library with one more code before NOT_FOUND."""
    if not os.path.exists(path("new", "libmishap.so.0")):
        library_with(codes_object(re.sub(r"^(?=NOT_FOUND )", NEW_ROW, today_table(), count=1, flags=re.M), "new"), "new")
    return path("new", "libmishap.so.0")


def old_program(compiler, kind, headers=RELEASED):
    """tests/core/old.c with the headers of the last release, linked as of then."""
    run(GENERATE, os.path.join(HERE, "old_codes.txt"), "--header", path("old_codes.h"), "--source", path("old_codes.c"), "--include", "old_codes.h")
    program = path("old-%s%s" % (compiler, kind))
    position = ["-fno-pie"] if kind == "-no-pie" else ["-fPIE"]
    warnings = ["-Wall", "-Wextra", "-Werror"] if headers == RELEASED else ["-w"]
    run(compiler, *warnings, "-O2", *position, kind, "-o", program, os.path.join(HERE, "old.c"), path("old_codes.c"),
        "-I" + FOLDER.name, "-I" + headers, "-L" + os.path.dirname(released_library()), "-lmishap")
    return program


def says(library, program):
    """All that a program says with a library, with what the loader objects to, and how it ended."""
    done = subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library), LC_ALL="C"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    lines = [*done.stdout.decode("utf-8", "replace").splitlines(), "exit %d" % done.returncode]
    return "".join(line.rstrip() + "\n" for line in lines)


def always_said():
    with open(os.path.join(HERE, "old.txt"), encoding="utf-8") as file:
        return file.read()


KINDS = {"%s %s" % (compiler, kind): (compiler, kind) for compiler in COMPILERS for kind in ("-no-pie", "-pie")}


@tests_of(KINDS)
def an_old_program_says_what_it_always_said(compiler, kind):
    need(compiler)
    program = old_program(compiler, kind)
    copies = re.findall(r"_COPY .*?mishap_code_(\w+)", run("readelf", "-rW", program))
    if kind == "-no-pie":
        expect("NOT_FOUND" in copies, "no code is copied into the program:", copies)
    equal(says(LIBRARY, program), always_said(), "with the library of today")
    expect("mishap_code_BRAND_NEW" in exported(new_library()), "the new library has no new code")
    equal(says(new_library(), program), always_said(), "with a library that has one more code")


# What would break an old program, with the part that has to notice: the program is compiled as if the release had been otherwise, which
# is the same difference as a library that is otherwise today.
RELEASES = {
    "a member of what is told has another place": ("mishap.h", "    const mishap_code *code;\n    mishap_category category;", "    mishap_category category;\n    const mishap_code *code;"),
    "what is told grew in its middle": ("mishap.h", "    mishap_text cause;      /*", "    mishap_text more;\n    mishap_text cause;      /*"),
    "a field grew in its middle": ("mishap.h", "    mishap_text error; /*", "    mishap_text more;\n    mishap_text error; /*"),
    "a buffer is smaller": ("text.h", "    size_t capacity;", "    unsigned capacity;"),
    "a value is larger": ("value.h", "} mishap_value;", "    long more;\n} mishap_value;"),
    "the members of a code have other places": ("catalog.h", "    mishap_text condition;", "    mishap_text more;\n    mishap_text condition;"),
    "a category has another number": ("catalog.h", "    MISHAP_VALIDATION,", "    MISHAP_BRAND_NEW,\n    MISHAP_VALIDATION,"),
    "a finding has another member": ("dialect.h", "    const char *rule; /*", "    const char *more;\n    const char *rule; /*"),
}


@tests_of({name: (name, *row) for name, row in RELEASES.items()})
def an_old_program_notices_that(name, header, before, after):
    headers = path(name.replace(" ", "-"), "include")
    shutil.copytree(RELEASED, headers)
    with open(os.path.join(headers, "mishap", header), encoding="utf-8") as file:
        text = file.read()
    expect(before in text, "there is no", before, "in", header)
    write(text.replace(before, after), headers, "mishap", header)
    expect(says(LIBRARY, old_program("cc", "-pie", headers)) != always_said(), "it says the same as ever")


@test
def an_old_program_notices_that_a_code_moved():
    swapped = path("swapped.o")
    names = ("mishap_code_NOT_FOUND", "mishap_code_TIMEOUT")
    run("objcopy", "--redefine-sym", names[0] + "=swap", "--redefine-sym", names[1] + "=" + names[0], codes_object(today_table(), "same"), swapped)
    run("objcopy", "--redefine-sym", "swap=" + names[1], swapped)
    expect(says(library_with(swapped, "moved"), old_program("cc", "-pie")) != always_said(), "it says the same as ever")


@test
def an_old_program_notices_that_a_code_grew():
    grown = codes_object(today_table(), "grown", lambda text: text.replace("reserved[7];", "reserved[9];"))
    said = says(library_with(grown, "grown"), old_program("cc", "-no-pie"))
    expect("has different size in shared object" in said and said != always_said(), said)


# ---- C++, and another yyjson ---------------------------------------------------------------------

CXX = r"""#include <mishap/bind.h>
#include <mishap/json.h>
#include <cstdio>
#include <string>

extern "C" unsigned yyjson_version(void); /* that of this program */

int main()
{
    static const mishap_code *const codes[] = { MISHAP_CODE_NOT_FOUND };
    mishap_buffer buffer = {}, json = {};
    std::string name = "train 7";
    mishap *m = mishap_raise_text(codes[0], mishap_text_of("There is no such train."));
    m = mishap_tell(m, "train", name);
    m = mishap_tell_json(m, mishap_text_of("list"), mishap_text_of("[1, {\"a\": 2.5}]"));
    mishap_text text = mishap_render(mishap_dialect_find("canonical"), m, &buffer);
    mishap *failure = mishap_translate(mishap_dialect_find("canonical"), mishap_dialect_find("problem"), text, &json);
    std::printf("%u %.*s\n", yyjson_version(), int(json.length), json.data);
    mishap_free(m);
    mishap_buffer_release(&buffer);
    mishap_buffer_release(&json);
    return failure ? 1 : 0;
}
"""


@tests_of({name: name for name in CXX_COMPILERS})
def a_program_in_cxx_with_a_yyjson_of_its_own_meets_only_that(compiler):
    need(compiler)
    if yyjson_flags():
        raise Skipped("the core is linked with the yyjson of the system")
    names = [name[len("mishap_"):] for name in re.findall(r"\b[TDRB] (mishap_yyjson_\w+)", run("nm", "-g", "--defined-only", os.path.join(BUILD, "yyjson.o")))]
    expect(len(names) > 20 and "yyjson_version" in names, "the names of yyjson:", names)
    # It has the same names, and calling one of them ends the process.
    stand_in = write("#include <cstdlib>\nextern \"C\" {\nunsigned yyjson_version(void) { return 500; }\n" +
                     "".join("void %s(void) { std::abort(); }\n" % name for name in names if name != "yyjson_version") + "}\n", "yyjson.cc")
    program = path("cxx-" + compiler)
    run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-o", program, write(CXX, "program.cc"), stand_in, *include_flags(), *LINK)
    expect("yyjson_read_opts" in run("nm", "-D", "--defined-only", program), "the program does not export its own yyjson")
    answer = run_with(LIBRARY, program)
    expect(answer.startswith("500 {") and "train 7" in answer and "[1,{\"a\":2.5}]" in answer, answer)
    # The same with the core inside.
    run(compiler, "-std=c++17", "-rdynamic", "-o", program, path("program.cc"), stand_in, *include_flags(), ARCHIVE, "-Wl,--exclude-libs,ALL")
    equal(run(program), answer, "with the archive")
    equal([name for name in re.findall(r" (mishap_\w+)", run("nm", "-D", "--defined-only", program))], [], "what is exported of the archive")


# The program has the source of yyjson compiled in, at another version: a document has four members more in front, so that one half of the
# process would read nonsense from the other half's documents.
VERSION_OF_PROGRAM = [("#define YYJSON_VERSION_MINOR  10", "#define YYJSON_VERSION_MINOR  99"), ("0x000A00", "0x006300"), ('"0.10.0"', '"0.99.0"'),
                      ("struct yyjson_doc {", "struct yyjson_doc {\n    size_t of_another_version[4];")]

CXX_BOTH = r"""#include <mishap/bind.h>
#include <yyjson.h>
#include <cstdio>
#include <cstdlib>
#include <string>

static int asked; /* how often the yyjson of this program has allocated */

static void *counted(void *, size_t size) { asked++; return std::malloc(size); }
static void *counted_again(void *, void *old, size_t, size_t size) { asked++; return std::realloc(old, size); }
static void released(void *, void *block) { std::free(block); }

int main()
{
    const yyjson_alc alc = { counted, counted_again, released, nullptr };
    std::string text = "[1, {\"a\": 2.5}, \"" + std::string(5000, 'x') + "\"]";
    yyjson_doc *own = yyjson_read_opts(&text[0], text.size(), YYJSON_READ_NOFLAG, &alc, nullptr);
    size_t length = 0;
    char *list = own ? yyjson_write_opts(own, 0, &alc, &length, nullptr) : nullptr;
    if (!list)
        return 1;
    int before = asked;
    mishap_buffer rendered = {}, translated = {};
    mishap *m = mishap_raise_text(MISHAP_CODE_NOT_FOUND, mishap_text_of("There is no such train."));
    m = mishap_tell_json(m, mishap_text_of("list"), mishap_text{ list, length });
    mishap_text document = mishap_render(mishap_dialect_find("canonical"), m, &rendered);
    mishap *failure = mishap_translate(mishap_dialect_find("canonical"), mishap_dialect_find("problem"), document, &translated);
    if (failure || asked != before) /* the core has used the yyjson of the program */
        return 2;
    yyjson_doc *again = yyjson_read_opts(const_cast<char *>(translated.data), translated.length, YYJSON_READ_NOFLAG, &alc, nullptr);
    yyjson_val *told = yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(again), "context"), "list");
    std::printf("%x %zu %g %zu\n", yyjson_version(), sizeof(yyjson_doc), yyjson_get_real(yyjson_obj_get(yyjson_arr_get(told, 1), "a")),
                yyjson_get_len(yyjson_arr_get(told, 2)));
    yyjson_doc_free(again);
    yyjson_doc_free(own);
    std::free(list);
    mishap_free(m);
    mishap_buffer_release(&rendered);
    mishap_buffer_release(&translated);
    return 0;
}
"""


def yyjson_of_another_version():
    """A folder with its header and its archive."""
    folder = os.path.dirname(path("another", "yyjson.h"))
    if os.path.exists(os.path.join(folder, "libyyjson.a")):
        return folder
    kept = os.path.join(TREE, "build", "deps")
    for name, at in (("yyjson.h", "include"), ("yyjson.c", "src")):
        with open(os.path.join(kept, at, name), encoding="utf-8") as file:
            text = file.read()
        for before, after in VERSION_OF_PROGRAM if name == "yyjson.h" else ():
            expect(text.count(before) == 1, before, "stands so often in", name, ":", text.count(before))
            text = text.replace(before, after)
        write(text, "another", name)
    run("cc", "-O1", "-c", "-o", os.path.join(folder, "yyjson.o"), os.path.join(folder, "yyjson.c"), "-I" + folder)
    run("ar", "rcs", os.path.join(folder, "libyyjson.a"), os.path.join(folder, "yyjson.o"))
    return folder


def own_yyjson_is_at_another_place_than_that_of_the_core(program):
    places = dict(re.findall(r"^(\w+) [Tt] ((?:mishap_)?yyjson_read_opts)$", run("nm", program), re.M))
    equal(set(places.values()), {"yyjson_read_opts", "mishap_yyjson_read_opts"}, "the functions that read, each at its place")


# With the program's own yyjson, once behind the core and once before it.
INSIDE = [ARCHIVE, "-Wl,--exclude-libs,ALL"]
CORES = {
    "the shared core": ([[*LINK, "YYJSON"], ["YYJSON", *LINK]], True),
    "the archive": ([[*INSIDE, "YYJSON"], ["YYJSON", *INSIDE]], False),
    "all objects of both archives": ([["-Wl,--whole-archive", ARCHIVE, "YYJSON", "-Wl,--no-whole-archive"]], False),
}


@tests_of({"%s, %s" % (name, core): (name, *row) for name in CXX_COMPILERS for core, row in CORES.items()})
def a_program_in_cxx_has_another_version_of_yyjson_beside_that_of_the_core(compiler, orders, shared):
    need(compiler)
    if yyjson_flags():
        raise Skipped("the core is linked with the yyjson of the system")
    folder = yyjson_of_another_version()
    archive, program = os.path.join(folder, "libyyjson.a"), path("both-" + compiler)
    words = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-o", program, write(CXX_BOTH, "both.cc"), "-I" + folder, *include_flags()]
    for order in orders:
        run(*words, *(archive if word == "YYJSON" else word for word in order))
        equal(run_with(LIBRARY, program), "6300 %d 2.5 5000\n" % (4 * 8 + 64), "what it says")
        if not shared:
            own_yyjson_is_at_another_place_than_that_of_the_core(program)


@test
def no_name_of_yyjson_leaves_the_core():
    if yyjson_flags():
        raise Skipped("the core is linked with the yyjson of the system")
    dynamic = run("nm", "-D", LIBRARY)
    equal(re.findall(r"\S*yyjson\S*", dynamic), [], "names of yyjson that the shared core exports or needs")
    names = set(re.findall(r"^[0-9a-f ]{16} [A-Z] (\S*yyjson_\S*)$", run("nm", "-g", ARCHIVE), re.M))
    expect(len(names) > 20, "the archive has no yyjson:", names)
    equal(sorted(name for name in names if not name.startswith("mishap_")), [], "names of the archive that a yyjson of a program has, too")


# ---- The archive, contained in a module of another program ---------------------------------------

MODULE = """#include <mishap/bind.h>
__attribute__((visibility("default"))) int answer(void);
int answer(void)
{
    mishap_buffer buffer = { 0 };
    mishap *m = mishap_raise_text(mishap_code_find(mishap_text_of("NOT_FOUND")), mishap_text_of("None."));
    m = mishap_stack_add(m, mishap_text_of("f"), mishap_text_of("a.py"), 3);
    mishap_account(m, &buffer);
    mishap_free(m);
    int length = (int)buffer.length;
    mishap_buffer_release(&buffer);
    return length;
}
"""


@tests_of(COMPILERS)
def a_module_contains_the_archive_and_exports_its_own_names_alone(compiler):
    need(compiler)
    module = path("module-%s.so" % compiler)
    run(compiler, "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,--no-undefined", "-o", module, write(MODULE, "module.c"), *include_flags(), ARCHIVE,
        "-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", *yyjson_flags())
    equal(re.findall(r" T (\w+)", run("nm", "-D", "--defined-only", module)), ["answer"], "what it exports")
    equal(run("python3", "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).answer() > 20)", module).strip(), "True")


# ---- docs/library.md -----------------------------------------------------------------------------

@tests_of(COMPILERS)
def the_example_of_the_page_runs(compiler):
    need(compiler)
    with open(os.path.join(TREE, "docs", "library.md"), encoding="utf-8") as file:
        name, text = re.search(r"^`(\w+\.c)`:\n\n```c\n(.*?)^```$", file.read(), re.M | re.S).groups()
    write(text, name)
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"))
    flags = run("pkg-config", "--cflags", "--libs", "mishap-core", env=environment).split()
    run(compiler, "-Wall", "-Wextra", "-Werror", "-o", path("late"), path(name), *flags, *("-I" + folder for folder in INCLUDES))
    answer = run_with(LIBRARY, path("late"))
    expect('"status":404' in answer and "There is no train 7." in answer, answer)


main()
