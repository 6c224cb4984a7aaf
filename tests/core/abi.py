"""The ABI of the core as abidw describes it, of a libmishap.so.0 with debug information, made of the tree; and the headers of the core.

    MISHAP_BUILD=… MISHAP_CORE=… python3 tests/core/abi.py      (scripts/abi does it)

Only objects that define an exported name are compiled with -g: the types of the interface are there.
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import tempfile

from core import ARCHIVE, BUILD, HEADERS, INCLUDES, LIBRARY, RELEASED, RELEASED_ABI as FILE, TREE, exported, link, objects, run

SUPPRESSIONS = os.path.join(TREE, "abi", "suppressions")


def sources():
    """The object and the command for each source that defines an exported name."""
    names, wanted = set(exported(LIBRARY)), set()
    for line in run("nm", "-A", "-g", "--defined-only", ARCHIVE).splitlines():
        place, name = line.rsplit(" ", 1)
        if name in names:
            wanted.add(os.path.basename(re.split(r":[0-9a-f]", place)[0].split(":")[-1]))
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        name = os.path.basename(entry.get("output", ""))
        if entry.get("output", "").startswith("libmishap.a.p/") and name in wanted:
            found[name] = (os.path.join(entry["directory"], entry["file"]), shlex.split(entry["command"]))
    missing = sorted(wanted - set(found))
    assert not missing, missing
    return found


def compile_debug(source, command, output, before=()):
    """Compile one source with debug information; `before` are folders of headers that come first."""
    words, skip = [], False
    for word in command:
        if skip or word in ("-MD", "-c") or re.fullmatch(r"-O\w|ccache", word):
            skip = False
        elif word in ("-o", "-MF", "-MQ"):
            skip = True
        elif word.endswith(".c") and not word.startswith("-"):
            continue
        else:
            words.append(word)
    run(words[0], *("-I" + folder for folder in before), *words[1:], "-g", "-O0", "-w", *("-fdebug-prefix-map=%s=include" % folder for folder in before),
        "-fdebug-prefix-map=%s=." % TREE, "-c", "-o", output, source, cwd=BUILD)


class Debugged:
    """The library with debug information, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.headers = os.path.join(folder, "headers")
        self.objects = {}
        for name in HEADERS:
            source = next(path for path in (os.path.join(at, "mishap", name) for at in INCLUDES) if os.path.exists(path))
            os.makedirs(os.path.join(self.headers, "mishap"), exist_ok=True)
            shutil.copy(source, os.path.join(self.headers, "mishap", name))
        self.sources = sources()
        os.makedirs(os.path.join(folder, "debug"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: self.compile(name), self.sources))
        self.rest = [path for path in objects(os.path.join(folder, "objects")) if os.path.basename(path) not in self.sources]

    def compile(self, name, headers=None, change=None):
        source, command = self.sources[name]
        output = os.path.join(self.folder, "debug", name)
        if change:
            with open(source, encoding="utf-8") as file:
                text = file.read()
            assert change(text) != text, "nothing was changed in " + source
            source = os.path.join(self.folder, "changed.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(change(text))
        if headers or change:
            output = os.path.join(self.folder, "changed-" + name)
        compile_debug(source, command, output, [headers or self.headers])
        if not (headers or change):
            self.objects[name] = output
        return output

    def library(self, name, changed=None):
        at = os.path.join(self.folder, name, "libmishap.so.0")
        link(at, [*{**self.objects, **(changed or {})}.values(), *self.rest])
        return at


def headers_flags(headers, suffix=""):
    return ["--headers-dir" + suffix, os.path.join(headers, "mishap")]


def describe(debugged, output):
    run("abidw", *headers_flags(debugged.headers), "--drop-private-types", "--suppressions", SUPPRESSIONS, "--no-comp-dir-path", "--no-corpus-path",
        "--type-id-style", "hash", "--out-file", output, debugged.library("described"))
    with open(output, encoding="utf-8") as file:  # the same wherever it is made
        text = re.sub(r"filepath='[^']*/headers/mishap/", "filepath='include/mishap/", file.read())
    with open(output, "w", encoding="utf-8") as file:
        file.write(re.sub(r"filepath='\.\./src/", "filepath='src/", text))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as at:
        made = Debugged(at)
        describe(made, FILE)
        shutil.rmtree(RELEASED, ignore_errors=True)
        shutil.copytree(made.headers, RELEASED)
