"""libmishap.so.0 exports the names that its headers declare, and no others; it needs the C library alone.

    MISHAP_CORE=… MISHAP_BUILD=… python3 tests/core/exported_test.py [PART-OF-A-NAME]
"""
import os
import re

from core import HEADERS, LIBRARY, RELEASED, RELEASED_ABI, TREE, declared, exported, header_text, names_in, run
from blackbox import equal, expect, main, test


@test
def what_the_headers_declare_is_exported_and_nothing_else():
    names, wanted = set(exported(LIBRARY)), declared()
    expect(len(wanted) > 150 and "mishap_code_NOT_FOUND" in wanted and "mishap_raise_at" in wanted, "only these are declared:", sorted(wanted))
    equal(sorted(names - wanted), [], "exported, but in no header")
    equal(sorted(wanted - names), [], "in a header, but not exported")


@test
def all_names_have_the_same_version():
    equal(set(exported(LIBRARY).values()), {"MISHAP_0"}, "the versions")


@test
def the_page_names_the_only_version_that_exists():
    versions = {line.split()[-1] for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines() if " A " in line}
    equal(versions, {"MISHAP_0"}, "the versions that the library defines")
    with open(os.path.join(TREE, "docs", "library.md"), encoding="utf-8") as file:
        page = file.read()
    expect("There is only one version of the ABI so far: the library `libmishap.so.0`, in which every name has the symbol version `MISHAP_0`." in page, page[:3000])
    rows = [line for line in page.splitlines() if re.search(r"MISHAP_[1-9]|libmishap\.so\.[1-9]", line)]
    expect(rows and all("Neither exists yet" in row for row in rows), "a version that does not exist:", rows)


@test
def a_new_function_of_a_header_is_seen():
    for text in ("void mishap_new(int a);\n", "extern const int mishap_new;\n", "mishap *mishap_new(\n    mishap *m, const char *a);\n",
                 "__attribute__((format(printf, 1, 2))) void mishap_new(const char *a, ...);\n"):
        found = set().union(*(names_in(header_text(name).replace("#pragma GCC visibility pop", text)) for name in HEADERS))
        equal(found - declared(), {"mishap_new"}, text)


@test
def it_needs_the_c_library_alone():
    elf = run("readelf", "-dW", LIBRARY)
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\]", elf)
    others = [name for name in needed if not re.match(r"libc\.so\.|ld-linux|libyyjson\.", name)]  # Debian 13 has a yyjson of its own
    equal(others, [], "other libraries")
    expect("Library soname: [libmishap.so.0]" in elf, elf)
    expect("TEXTREL" not in elf, "its code is changed when it is loaded")


@test
def the_names_of_the_map_are_those_of_the_headers():
    from core import MAP
    with open(MAP, encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    listed = set(re.findall(r"^\s+(mishap_\w+);", text, re.M))
    equal(listed ^ {name for name in declared() if not re.match(r"mishap_code_[A-Z]", name)}, set(), "differences")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@test
def the_headers_and_the_names_of_the_last_release_belong_together():
    in_headers = set().union(*(names_in(read(os.path.join(RELEASED, "mishap", name))) for name in sorted(os.listdir(os.path.join(RELEASED, "mishap")))))
    equal(in_headers ^ set(re.findall(r"<elf-symbol name='(\w+)'", read(RELEASED_ABI))), set(), "differences")


main()
