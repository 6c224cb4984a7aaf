"""debian/rules: every target runs its commands, also beside a file or a folder of the same name, such as the folder `build` of the tree.

    python3 tests/package/rules_test.py [PART-OF-A-NAME]

make only says what it would do, so neither debhelper nor dpkg-dev is needed. Speaks TAP.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, test, tests_of  # noqa: E402

with open(os.path.join(TREE, "debian", "rules"), encoding="utf-8") as file:
    RULES = file.read()
# Those that the policy of Debian asks for (4.9), and what a package is installed with.
SEQUENCES = "build build-arch build-indep binary binary-arch binary-indep clean install install-arch install-indep".split()


def phony():
    return set(re.sub(r"\\\n", " ", " ".join(re.findall(r"^\.PHONY:((?:[^\n]*\\\n)*[^\n]*)$", RULES, re.M))).split())


def targets():
    """What stands before a colon at the begin of a line; a variable is set with `=`."""
    return {name for names in re.findall(r"^([a-z%][\w% -]*):(?!=)", RULES, re.M) for name in names.split()}


@test
def every_target_is_phony():
    found = targets()
    expect(set(SEQUENCES) < found and any(name.startswith("override_dh_") for name in found), "the targets:", sorted(found))
    equal(sorted(found ^ phony()), [], "targets that are not phony, or phony names without a target")


@tests_of({name: name for name in SEQUENCES})
def a_folder_of_the_same_name_keeps_no_target_from_running(target):
    if not shutil.which("make"):
        raise Skipped("there is no make")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, target))
        with open(os.path.join(folder, "rules"), "w", encoding="utf-8") as copy:
            copy.write(re.sub(r"^include .*\n", "", RULES, flags=re.M))
        outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")} # of `make test`
        done = subprocess.run(["make", "-n", "-f", "rules", target], cwd=folder, env=outside, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE, check=False)
        equal((done.returncode, done.stdout.strip()), (0, "dh %s --buildsystem=meson" % target))


def linked_statically():
    """The libraries that meson.build links statically, by the names of pkg-config, without what set-up may compile itself."""
    with open(os.path.join(TREE, "meson.build"), encoding="utf-8") as rules:
        found = set(re.findall(r"dependency\('([\w-]+)'(?:, version: '[^']*')?, static: true\)", rules.read()))
    return (found | {"libuv"}) - {"libllhttp"}


@tests_of({"debian/" + name: name for name in ("copyright", "README.source")})
def the_libraries_that_are_linked_statically_are_named(name):
    with open(os.path.join(TREE, "debian", name), encoding="utf-8") as page:
        text = page.read().lower()
    names = {re.sub(r"^libpcre2-8$", "pcre2", re.sub(r"^sqlite3$", "sqlite", library)) for library in linked_statically()}
    expect(len(names) >= 5, "the libraries:", sorted(names))
    equal(sorted(library for library in names if library not in text), [], "libraries that are not named")


@test
def no_image_of_lisp_is_built_for_a_package_that_makes_its_own():
    with open(os.path.join(TREE, "meson_options.txt"), encoding="utf-8") as options:
        expect("option('lisp_image'" in options.read(), "meson has no such option")
    expect(re.search(r"^\tdh_auto_configure -- .*-Dlisp_image=false", RULES, re.M), "the package builds an image")


main()
