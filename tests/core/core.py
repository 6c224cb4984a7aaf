"""What the tests of the shared core have in common: the names in its headers, and a library that is linked anew from changed sources."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, "tests", "cli"))
from blackbox import expect  # noqa: E402

BUILD = os.environ["MISHAP_BUILD"]
LIBRARY = os.environ["MISHAP_CORE"]  # libmishap.so.0.1.0
ARCHIVE = os.path.join(BUILD, "libmishap.a")
MAP = os.path.join(TREE, "src", "mishap", "libmishap.map")
GENERATE = os.path.join(TREE, "catalog", "generate")
TABLE = os.path.join(TREE, "catalog", "codes.txt")
RELEASED = os.path.join(TREE, "abi", "include")  # the headers of the last release
RELEASED_ABI = os.path.join(TREE, "abi", "libmishap.so.0.abi")
HEADERS = ["bind.h", "catalog.h", "codes.h", "dialect.h", "json.h", "memory.h", "mishap.h", "text.h", "value.h", "version.h"]
INCLUDES = [os.path.join(TREE, "include"), os.path.join(BUILD, "include")]


def run(*words, **more):
    """Run a command that must succeed: what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, **more)
    expect(done.returncode == 0, " ".join(words)[:500], "exits with", done.returncode, (done.stdout + done.stderr)[:2000])
    return done.stdout


def header_text(name):
    for folder in INCLUDES:
        path = os.path.join(folder, "mishap", name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise FileNotFoundError(name)


def names_in(text):
    """The functions and variables that a header declares, without those that it defines."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    text = re.sub(r"static inline[^{;]*\{.*?\n\}", "", text, flags=re.S)
    text = re.sub(r"^static inline [^\n]*\}$", "", text, flags=re.M)
    text = re.sub(r"^template.*?(?:;|\n\})$", "", text, flags=re.M | re.S)
    text = re.sub(r"typedef (?:struct|enum)[^{;]*\{.*?\n\}[^;]*;", "", text, flags=re.S)
    text = re.sub(r"typedef [^;]*;", "", text)
    return set(re.findall(r"\b(mishap_\w+)\s*\((?!\()", text)) | set(re.findall(r"\bextern [^;{}()]*?(mishap_\w+);", text))


def declared():
    return set().union(*(names_in(header_text(name)) for name in HEADERS))


def exported(library):
    """Each exported name with its version."""
    found = {}
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        name, _, version = line.split()[-1].partition("@@")
        if name != "MISHAP_0":
            found[name] = version
    return found


def objects(folder):
    """The objects of the archive, in a folder."""
    os.makedirs(folder, exist_ok=True)
    members = run("ar", "t", ARCHIVE).split()
    expect(len(members) == len(set(members)), "objects of the same name:", members)
    paths = []
    for member in members:
        path = os.path.join(os.path.relpath(BUILD, folder), member)  # a thin archive names its files
        at = os.path.join(folder, os.path.basename(member))
        for source in (os.path.join(folder, path), os.path.join(BUILD, "libmishap.a.p", os.path.basename(member)), os.path.join(BUILD, member)):
            if os.path.exists(source):
                os.symlink(os.path.realpath(source), at)
                break
        else:
            with open(at, "wb") as file:
                file.write(subprocess.run(["ar", "p", ARCHIVE, member], capture_output=True, check=True).stdout)
        paths.append(at)
    return paths


def yyjson_flags():
    """Debian 13 has a yyjson of its own; elsewhere it is inside of the archive."""
    return ["-lyyjson"] if "[libyyjson." in run("readelf", "-d", LIBRARY) else []


def link(library, paths, *flags, compiler="cc"):
    """Link a libmishap.so.0 of these objects, with all of them in it."""
    os.makedirs(os.path.dirname(library), exist_ok=True)
    run(compiler, "-shared", "-o", library, *paths, "-Wl,-soname,libmishap.so.0", "-Wl,--version-script," + MAP, "-Wl,-Bsymbolic-functions",
        *yyjson_flags(), *flags)
    for name in ("libmishap.so.0", "libmishap.so"):
        at = os.path.join(os.path.dirname(library), name)
        if at != library and not os.path.lexists(at):
            os.symlink(os.path.basename(library), at)


def include_flags(*before):
    return ["-I" + folder for folder in [*before, *INCLUDES]]
