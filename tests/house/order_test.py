"""Each file whose memory several processes, threads or signal handlers use is named in docs/portability.md, with what orders the accesses.

    order_test.py SOURCE-ROOT

A file is found by what it declares or does: an atomic object, `volatile sig_atomic_t`, memory that is mapped for several processes, an
access with relaxed order. The section "Memory order" must name its path; and a path that is named there must be such a file, or one that
uses a mutex, so that the page does not speak of what is gone. Speaks TAP.
"""
import os
import re
import sys

ROOT = sys.argv[1]
FOLDERS = ("src", "services", "tool", "include")
SUFFIXES = (".c", ".h", ".cc")

# A pointer to something atomic that is only read, `const _Atomic`, is no object: the file that declares the object is named.
SIGNS = {
    "a relaxed access": r"memory_order_relaxed",
    "an atomic object": r"(?<!const )\b_Atomic\b|\batomic_(?:bool|flag|u?char|u?short|u?int|u?l?long|size_t|u?intptr_t|u?int_\w+64_t)\b",
    "a variable of signal handlers": r"(?<!const )\bvolatile sig_atomic_t\b",
    "memory of several processes": r"(?<!void \*)\bmishap_shared_map\(|\bMAP_SHARED \||\bMAP_SHARED,",
    "a builtin of the compiler": r"__atomic_|__sync_",
}
ALSO = r"volatile|pthread_mutex|atomic_|sem_t"  # what else a named file may have: it may use what another one declares


def without_comments(text):
    """Comments and texts are left out."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def shared_in(text):
    code = without_comments(text)
    return [what for what, sign in SIGNS.items() if re.search(sign, code)]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def sources():
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(ROOT, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def section(name):
    found = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % name, read("docs/portability.md"), re.M | re.S)
    return found[1] if found else ""


def the_signs_are_found():
    for text, count in {"static _Atomic uint64_t word;": 1, "atomic_bool done;": 1, "atomic_flag busy = ATOMIC_FLAG_INIT;": 1,
                        "static volatile sig_atomic_t ended;": 1, "x = atomic_load_explicit(&a, memory_order_relaxed);": 1,
                        "p = mishap_shared_map(sizeof *p);": 1, "mmap(NULL, 1, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0)": 1,
                        "__atomic_fetch_add(&n, 1, 0);": 1, "atomic_int_least64_t begun_ns;": 1, "atomic_int_fast64_t n;": 1,
                        "/* memory_order_relaxed */": 0, "// an _Atomic word\n": 0, 'puts("_Atomic");': 0, "const _Atomic int64_t *at;": 0,
                        "atomic_load(&a);": 0, "atomic_flag_test_and_set(&busy);": 0, "const volatile sig_atomic_t *stop": 0,
                        "void *mishap_shared_map(size_t size);": 0}.items():
        if len(shared_in(text)) != count:
            yield "%r: %s" % (text, shared_in(text))


def every_file_with_shared_memory_is_in_the_page():
    page = section("Memory order")
    for path in sources():
        found = shared_in(read(path))
        if found and "`%s`" % path not in page:
            yield "%s has %s, and docs/portability.md does not say what orders it" % (path, " and ".join(found))


def every_file_of_the_page_has_shared_memory():
    there = set(sources())
    for path in re.findall(r"`((?:%s)/[\w/.-]+)`" % "|".join(FOLDERS), section("Memory order")):
        if path not in there:
            yield "%s does not exist" % path
        elif not re.search(ALSO, without_comments(read(path))) and not shared_in(read(path)):
            yield "%s has no shared memory any more" % path


TESTS = (the_signs_are_found, every_file_with_shared_memory_is_in_the_page, every_file_of_the_page_has_shared_memory)


def main():
    print("1..%d" % len(TESTS))
    bad = 0
    for number, test in enumerate(TESTS, 1):
        wrong = list(test())
        bad += bool(wrong)
        print("%s %d %s" % ("not ok" if wrong else "ok", number, test.__name__))
        for words in wrong:
            print("# " + words)
    sys.exit(bool(bad))


main()
