"""Manual pages: every function of the core has one, made from the comment in its header; every page is well-formed; none is out of date.

    MISHAP_PROGRAM=… MISHAP_BUILD=… HEADERS='…' python3 tests/package/manual_test.py [PART-OF-A-NAME]

The functions are listed by the compiler (-aux-info), not by scripts/manual, and by the shared library where it was built. Speaks TAP.
"""
import atexit
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, run_program, test  # noqa: E402

BUILD = os.environ["MISHAP_BUILD"]
HEADERS = os.environ["HEADERS"].split()
FOLDER = tempfile.mkdtemp(prefix="manual-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
PAGES = os.path.join(FOLDER, "man3")
SCRIPT = os.path.join(TREE, "scripts", "manual")


def make_pages(folder, *headers):
    return run_program(sys.executable, SCRIPT, "functions", folder, "1.2.3", *headers)


made = make_pages(PAGES, *HEADERS)
if made.status:
    print("1..1\nnot ok 1 - scripts/manual makes the pages\n# %s" % made.err.decode())
    sys.exit(1)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def declared_functions():
    """What the compiler finds declared in the headers."""
    listed = os.path.join(FOLDER, "declared")
    source = "".join("#include <mishap/%s>\n" % os.path.basename(path) for path in HEADERS)
    done = subprocess.run(["gcc", "-std=gnu17", "-aux-info", listed, "-fsyntax-only", "-I" + os.path.join(TREE, "include"),
                           "-I" + os.path.join(BUILD, "include"), "-x", "c", "-"], input=source.encode(), stderr=subprocess.PIPE,
                          timeout=PATIENCE, check=False)
    equal(done.returncode, 0, done.stderr.decode())
    names = {os.path.basename(path) for path in HEADERS}
    found = set()
    for line in read(listed).splitlines():
        place = re.match(r"/\* (\S+):\d+:\w+ \*/ .*?\b(mishap_\w+) \(", line)
        if place and os.path.basename(place[1]) in names:
            found.add(place[2])
    expect(len(found) > 60, "only these functions are declared:", sorted(found))
    return found


@test
def every_function_of_the_core_has_a_page():
    pages = {os.path.basename(path)[:-2] for path in glob.glob(PAGES + "/*.3")}
    equal(sorted(declared_functions() - pages), [], "functions without a page")
    libraries = glob.glob(os.path.join(BUILD, "libmishap.so.0*[0-9]"))
    for library in libraries:
        listed = run_program("nm", "-D", "--defined-only", library).out.decode()
        exported = set(re.findall(r" T (\w+)", listed))
        equal(sorted(exported - pages), [], "functions that the shared library exports without a page")


@test
def a_page_has_the_declaration_and_the_words_of_the_header():
    page = read(os.path.join(PAGES, "mishap_because.3"))
    expect("mishap *mishap_because(mishap *m, mishap *cause);" in page, "no declaration:", page)
    expect("If it has a cause already, the new cause is added at the end of the chain." in page, "no contract:", page)
    expect("#include <mishap/mishap.h>" in page and '"Mishap 1.2.3"' in page, page[:400])
    for path in glob.glob(PAGES + "/*.3"):
        text = read(path)
        if text.startswith(".so "):
            expect(os.path.exists(os.path.join(FOLDER, text[4:].strip())), path, "leads to nothing:", text)
            continue
        name = os.path.basename(path)[:-2]
        description = re.search(r"^\.SH DESCRIPTION\n(.*?)^\.SH", text, re.M | re.S)[1]
        expect(len(description.split()) >= 3, name, "has no description:", description)
        synopsis = re.search(r"^\.SH SYNOPSIS\n(.*?)^\.SH", text, re.M | re.S)[1]
        expect(re.search(r"\b%s\b" % name, synopsis), name, "is not in its synopsis:", synopsis)
        expect("__attribute__" not in synopsis, name, synopsis)


@test
def a_function_without_a_comment_is_refused():
    header = os.path.join(FOLDER, "bare.h")
    with open(header, "w", encoding="utf-8") as file:
        file.write("/* A header. */\n\n/* Told. */\nvoid mishap_told_of(void);\n\nvoid mishap_bare(int number);\n")
    done = make_pages(os.path.join(FOLDER, "bare"), header)
    expect(done.status == 1 and b"mishap_bare has no comment" in done.err, done)


@test
def what_a_comment_says_is_text_for_roff():
    header = os.path.join(FOLDER, "odd.h")
    with open(header, "w", encoding="utf-8") as file:
        file.write("/* A header. */\n\n/*\n * Write \\n and 'quotes'.\n *\n * .TH is no request, nor is 'br.\n *\n *     .sp 5\n */\nvoid mishap_odd(int number);\n")
    equal(make_pages(os.path.join(FOLDER, "odd"), header).status, 0)
    page = read(os.path.join(FOLDER, "odd", "mishap_odd.3"))
    expect("Write \\en and \\(aqquotes\\(aq." in page, page)
    for line in page.splitlines():
        expect(not re.match(r"\.(?!TH \"|nh$|ad l$|SH |nf$|fi$|PP$|RS 4$|RE$|IP )|'", line), "a request of the comment:", line)


# ---- Commands ------------------------------------------------------------------------------------

COMMANDS = os.path.join(FOLDER, "man1")
PROGRAM_PAGE = os.path.join(FOLDER, "mishap.1")


def command_pages():
    """What scripts/manual makes of the page of the program, once: the paths."""
    if not os.path.exists(PROGRAM_PAGE):
        with open(PROGRAM_PAGE, "wb") as file:
            file.write(run_program(os.environ["MISHAP_PROGRAM"], "manual").out)
        done = run_program(sys.executable, SCRIPT, "commands", COMMANDS, PROGRAM_PAGE)
        equal((done.status, done.err), (0, b""), "scripts/manual")
    return sorted(glob.glob(COMMANDS + "/*.1"))


@test
def every_command_of_the_program_has_a_page():
    manifest = json.loads(run_program(os.environ["MISHAP_PROGRAM"], "manifest", "--output", "json").out)["data"]["commands"]
    pages = [os.path.basename(path) for path in command_pages()]
    equal(pages, sorted({"mishap-%s.1" % name.split(".")[0] for name in manifest} - {"mishap-catalog.1"}), "pages")
    common = set.intersection(*(set(command["flags"]) for command in manifest.values()))  # these are in mishap(1) alone
    for name, command in manifest.items():
        word = name.split(".")[0]
        page = read(PROGRAM_PAGE if word == "catalog" else os.path.join(COMMANDS, "mishap-%s.1" % word)).replace("\\-", "-")
        expect(command["description"].rstrip(".") in page.replace("\\(ga", "`"), name, "is not described:", command["description"])
        for flag in set(command["flags"]) - common:
            expect("--" + flag.replace("_", "-") in page, name, "does not have", flag)
        expect(re.search(r"^\\fBmishap %s\b" % name.replace(".", " "), page, re.M) or word == "catalog", name, "has no synopsis", page[:500])


@test
def a_page_of_a_command_has_its_own_words_and_no_others():
    command_pages()
    page = read(os.path.join(COMMANDS, "mishap-wrap.1"))
    equal(page.split("\n")[0].split()[:2], ['.TH', '"mishap-wrap"'], "the title")
    expect("\\fBmishap wrap\\fR [\\fIOPTIONS\\fR]\\fB \\-\\- COMMAND...\\fR\n" in page, "the options stand behind `--`:", page[:600])
    expect("mishap wrap \\-\\- git pull" in page and "gateway" not in page and ".BR mishap (1)" in page, page)
    page = read(os.path.join(COMMANDS, "mishap-keys.1"))
    equal(re.findall(r'^\.SS "keys (\w+)', page, re.M), ["add", "list", "remove", "disable", "import", "block", "unblock"], "the commands of a group")


# ---- Every page, of all sections -------------------------------------------------------------------


def all_pages():
    """Those of section 3, and what the programs print of themselves."""
    catalog, codes = os.path.join(FOLDER, "mishap-catalog.1"), os.path.join(FOLDER, "mishap-codes.7")
    equal(run_program(sys.executable, SCRIPT, "catalog", catalog, "1.2.3", os.path.join(TREE, "catalog", "generate")).status, 0)
    equal(run_program(sys.executable, os.path.join(TREE, "catalog", "generate"), os.path.join(TREE, "catalog", "codes.txt"), "--manual", codes).status, 0)
    return [*command_pages(), PROGRAM_PAGE, catalog, codes] + sorted(
        path for path in glob.glob(PAGES + "/*.3") if not read(path).startswith(".so "))


@test
def mandoc_has_nothing_to_say_of_a_page():
    if not shutil.which("mandoc"):
        raise Skipped("there is no mandoc")
    said = run_program("mandoc", "-Tlint", "-Wwarning", *all_pages()).out.decode().splitlines()
    # A date would make two builds of the same source differ.
    equal([line for line in said if "missing date" not in line], [], "what mandoc says")


@test
def man_shows_every_page_without_a_warning():
    if not shutil.which("man") or not shutil.which("groff"):
        raise Skipped("there is no man, or no groff (packages man-db and groff-base)")
    for path in all_pages():
        done = run_program("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path, env={"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"})
        equal((done.status, done.err), (0, b""), path)


main()
