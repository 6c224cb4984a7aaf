#!/usr/bin/env python3
"""Which folder uses which, in src/, in services/ and in the engine of services/symbolic: tables, held against the sources and the symbols.

    NM=nm arrows_test.py SOURCE-ROOT LIBRARY… --services LIBRARY [--engine FOLDER-OF-OBJECTS]

A folder uses another if one of its files includes a header of it, or if one of its objects needs a symbol of it. A table is in the
order of the floors: a folder may use only folders that stand before it, so there is no circle. An arrow that is not used is no part of it.
The tests of a room of src/ are in the folder of tests/ that has its name. Each folder of the engine has a header of its own name, whose
first comment says what the folder is for.

The last cases plant a mistake of each kind in a copy, and fail if it is not found.
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Each folder, and the folders that it may use.
TABLE = """
base
guard              base
mishap             base guard
dialect            base guard mishap
client             base mishap
oauth              base mishap
incident           base guard mishap
index              base mishap incident
sandbox            base mishap
operation          base guard mishap
schema             base guard mishap operation
store              base mishap operation
archive            base mishap incident index store
cluster            base mishap store
worker/wire        base mishap dialect operation
worker/spawn       base mishap operation sandbox worker/wire
worker/command     base mishap operation worker/wire worker/spawn
worker/plan        mishap operation worker/wire worker/spawn worker/command
worker/child       base mishap operation worker/wire worker/plan
worker/keeper      base mishap incident worker/wire worker/spawn worker/plan worker/child
worker/loop        base mishap operation incident sandbox worker/wire worker/spawn worker/plan
worker/serving     base mishap operation incident sandbox worker/wire worker/spawn worker/plan worker/keeper worker/loop
task/place         base mishap
task               base guard mishap operation incident worker/wire worker/keeper worker/loop worker/serving task/place
task/client        base mishap task task/place
task/store         base mishap store task
task/commands      base mishap incident operation worker/keeper worker/serving task
server             base mishap incident
audit              base guard mishap
audit/process      base mishap sandbox
audit/report       base audit
audit/http         base mishap dialect client audit
audit/mcp          base mishap client schema audit audit/process
audit/cli          base guard mishap dialect audit audit/process
wrap               base mishap
upstream           base mishap dialect
nginx              base dialect incident upstream
gateway            base mishap dialect sandbox server
call               base mishap operation incident
cli/words          base guard mishap dialect operation
cli/screen         base operation cli/words
cli/manual         base operation cli/words
cli/run            base guard mishap dialect incident operation worker/wire cli/words cli/screen cli/manual
http/keys          base mishap operation cluster server
http/tokens        base mishap client oauth incident operation server http/keys
http/cluster       base mishap incident operation cluster worker/serving server http/keys
http/wire          base mishap dialect incident operation worker/serving server
http/documents     base mishap dialect operation worker/serving server http/wire
http/calls         base guard mishap dialect incident operation worker/wire worker/loop worker/serving task task/client server http/wire
http/serve         base mishap oauth incident index operation worker/keeper worker/loop worker/serving task task/client server http/keys http/cluster http/tokens http/wire http/documents http/calls
mcp/wire           base guard mishap dialect operation
mcp/offers         base mishap dialect operation mcp/wire
mcp/calls          base guard mishap dialect incident operation worker/wire worker/loop task task/client mcp/wire mcp/offers
mcp/changes        base mishap operation task/client mcp/wire mcp/offers mcp/calls
mcp/dispatch       base mishap incident operation mcp/wire mcp/offers mcp/calls mcp/changes
mcp/sessions       base mishap operation mcp/wire mcp/offers mcp/changes
mcp/transport      base mishap incident operation worker/keeper worker/loop worker/serving mcp/wire mcp/offers mcp/calls mcp/changes mcp/dispatch
mcp/transport/http base mishap incident operation worker/loop worker/serving server mcp/wire mcp/offers mcp/calls mcp/changes mcp/dispatch mcp/sessions
mcp/gateway        base guard mishap dialect client incident operation schema upstream mcp/wire mcp/calls
mcp/gateway/process base mishap client audit/process wrap mcp/wire mcp/transport mcp/gateway
mcp/gateway/http   base mishap server mcp/wire mcp/transport mcp/gateway
pages              base mishap dialect server
operator           base mishap incident operation index
otlp               base mishap client incident worker/serving server
program            base mishap dialect call index operation task task/commands cli/words cli/run http/keys http/serve mcp/transport mcp/transport/http pages operator otlp
"""

# The same for services/, without the engine, which is a program of its own. "." has what services share: beside, stock, waiting.
SERVICES = """
.
python/host
python      .
todo
lisp        .
artifacts   python
symbolic    . python
"""

# … for services/symbolic/engine. "." has the worker and the command.
ENGINE = """
base
library
tree        base
solver
machine     base library tree solver
theories    base tree solver machine
builtins    base tree solver machine theories
classes     base tree machine theories builtins
interpreter base tree machine theories builtins classes
inputs      base tree solver machine theories classes interpreter
replay      base solver
explore     base tree solver machine theories interpreter inputs replay
tools       base tree solver machine theories interpreter inputs replay explore
.           base tree solver replay explore tools
"""

# mishap_main() is where each program of these tests begins: src/program has no other ones.
TESTED_ELSEWHERE = {"program": "cli"}

SOURCES = (".c", ".h", ".cc")


def table(text):
    return {words[0]: words[1:] for words in (line.split() for line in text.splitlines()) if words}


def walked(root):
    """The folders of a house: another one inside of it has a table of its own."""
    for folder, inside, files in os.walk(root):
        inside[:] = [name for name in inside if name != "engine"]
        yield folder, files


def folders(root):
    return {os.path.relpath(folder, root) for folder, files in walked(root) if any(name.endswith(SOURCES) for name in files)}


def includes(root):
    found = collections.defaultdict(list)
    for folder, files in walked(root):
        for name in (name for name in files if name.endswith(SOURCES)):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                for header in re.findall(r'^\s*#\s*include "([^"]+)"', file.read(), re.M):
                    beside = os.path.relpath(os.path.join(folder, header), root)
                    target = header if os.path.exists(os.path.join(root, header)) else beside
                    if os.path.exists(os.path.join(root, target)) and "/engine/" not in target:
                        found[os.path.relpath(folder, root), os.path.dirname(target) or "."].append("%s includes %s" % (path, header))
    return found


def folder_of_library(member, known):
    """Meson names the object of src/worker/loop/link.c src_worker_loop_link.c.o."""
    fits = [folder for folder in known if member.startswith("src_" + folder.replace("/", "_") + "_")]
    return max(fits, key=len, default=None)


def folder_of_service(member, known):
    """… that of services/todo/plan.c todo_plan.c.o."""
    return next((folder for folder in known if member.startswith(folder.replace("/", "_") + "_")), ".")


def folder_of_engine(member, known):
    """… that of engine/tree/tree.c engine_tree_tree.c.o, and that of the library's text, which is generated, …library_sources.c.o."""
    if member.endswith("library_sources.c.o"):
        return "library"
    if not member.startswith("engine_"):
        return None
    fits = [folder for folder in known if member.startswith("engine_" + folder.replace("/", "_") + "_")]
    return max(fits, key=len, default=".")


def listed(files):
    """The lines of nm: the object with its path, the kind and the name of a symbol."""
    lines = []
    for file in files:
        lines += subprocess.run([os.environ.get("NM", "nm"), "-A", file], capture_output=True, text=True, check=True).stdout.splitlines()
    return lines


def symbols(lines, folder_of, known):
    defined, needed = {}, []
    for line in lines:
        place, kind, name = re.match(r"(.*?):[0-9a-fA-F]*\s+(\w) (\S+)", line).groups()
        folder = folder_of(re.split(r"[:/]", place)[-1], known)
        if folder and kind == "U":
            needed.append((folder, name, place))
        elif folder and kind in "TDBRC":
            defined[name] = folder
    found = collections.defaultdict(list)
    for folder, name, place in needed:
        if name in defined:
            found[folder, defined[name]].append("%s needs %s" % (place, name))
    return found, len(defined)


def without_header(root, order):
    """The folders that have no header of their own name, or one that does not begin with a comment of a sentence."""
    wrong = []
    for folder in (folder for folder in order if folder != "."):
        path = os.path.join(root, folder, os.path.basename(folder) + ".h")
        if not os.path.exists(path):
            wrong.append("%s does not exist" % path)
            continue
        with open(path, encoding="utf-8") as file:
            comment = re.match(r"/\*(.*?)\*/", file.read(), re.S)
        if not comment or len(comment.group(1).split()) < 8:
            wrong.append("%s does not begin with a comment that says what the folder is for" % path)
    return wrong


def faults(root, allowed, lines, folder_of, least=500):
    """What is wrong, by the name of the case. `least`: fewer symbols are too few to be true."""
    order = list(allowed)
    by_source, (by_symbol, count) = includes(root), symbols(lines, folder_of, order)

    def outside(found):
        return ["%s uses %s: %s" % (*pair, uses[0]) for pair, uses in sorted(found.items()) if pair[0] != pair[1] and pair[1] not in allowed.get(pair[0], ())]

    return {
        "the_table_has_every_folder": sorted(folders(root) ^ set(order)),
        "arrows_of_the_table_point_to_folders_that_stand_before":
            ["%s may use %s" % (folder, other) for folder in order for other in allowed[folder]
             if other not in order or order.index(other) >= order.index(folder)],
        "each_include_is_an_arrow_of_the_table": outside(by_source) or ([] if by_source else ["there are no includes"]),
        "each_needed_symbol_is_an_arrow_of_the_table": outside(by_symbol) or ([] if count >= least else ["nm lists only %d symbols" % count]),
        "each_arrow_of_the_table_is_used":
            ["%s does not use %s" % (folder, other) for folder in order for other in allowed[folder]
             if (folder, other) not in by_source and (folder, other) not in by_symbol],
    }


def circle(lines, prefix):
    """The files, by their objects, that are in a circle or need one that is. None: there are no such objects."""
    defined, needed = {}, collections.defaultdict(set)
    for line in lines:
        place, kind, name = re.match(r"(.*?):[0-9a-fA-F]*\s+(\w) (\S+)", line).groups()
        member = re.split(r"[:/]", place)[-1]
        if member.startswith(prefix):
            needed[member].add(name if kind == "U" else "")
            if kind in "TDBRC":
                defined[name] = member
    left = {member: {defined[name] for name in names if name in defined} - {member} for member, names in needed.items()}
    while True:
        free = [member for member, others in left.items() if not others & left.keys()]
        if not free:
            return sorted(left) if needed else None
        for member in free:
            del left[member]


def untested(tests, order):
    return ["there is no test in tests/%s" % TESTED_ELSEWHERE.get(room, room) for room in sorted({folder.split("/")[0] for folder in order})
            if not glob.glob(os.path.join(tests, TESTED_ELSEWHERE.get(room, room), "*_test.*"))]


def planted(root, allowed, lines):
    """Mistakes in a copy of the engine: for each the case that must find it, and what it finds."""
    def found(case, change):
        with tempfile.TemporaryDirectory() as copy:
            copy = os.path.join(copy, "engine")
            shutil.copytree(root, copy)
            rows, more = dict(allowed), list(lines)
            change(copy, rows, more)
            wrong = faults(copy, rows, more, folder_of_engine)
            wrong["header"] = without_header(copy, rows)
            return wrong[case]

    def include_up(copy, _rows, _lines):
        with open(os.path.join(copy, "machine", "value.c"), "a", encoding="utf-8") as file:
            file.write('#include "theories/theories.h"\n')

    def symbol_up(_copy, _rows, more):
        more.append("p/engine_machine_value.c.o:                 U tool_check")

    def circle(_copy, rows, more):
        rows["machine"] = rows["machine"] + ["theories"]
        more.append("p/engine_machine_value.c.o:                 U choose")

    def no_header(copy, _rows, _lines):
        os.remove(os.path.join(copy, "builtins", "builtins.h"))

    def silent_header(copy, _rows, _lines):
        path = os.path.join(copy, "builtins", "builtins.h")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[text.index("#ifndef"):])

    def new_folder(copy, _rows, _lines):
        os.mkdir(os.path.join(copy, "extra"))
        shutil.copy(os.path.join(copy, "base", "base.h"), os.path.join(copy, "extra", "extra.h"))

    return {
        "an_include_up_is_found": found("each_include_is_an_arrow_of_the_table", include_up),
        "a_symbol_up_is_found": found("each_needed_symbol_is_an_arrow_of_the_table", symbol_up),
        "a_circle_in_the_table_is_found": found("arrows_of_the_table_point_to_folders_that_stand_before", circle),
        "a_missing_header_is_found": found("header", no_header),
        "a_header_without_its_comment_is_found": found("header", silent_header),
        "a_folder_that_is_not_in_the_table_is_found": found("the_table_has_every_folder", new_folder),
    }


def main():
    source, *rest = sys.argv[1:]
    at, engine = rest.index("--services"), rest.index("--engine") if "--engine" in rest else len(rest)
    libraries, services, objects = rest[:at], rest[at + 1:engine], rest[engine + 1:]
    cases, allowed = [], table(TABLE)
    cases += faults(os.path.join(source, "src"), allowed, listed(libraries), folder_of_library).items()
    cases.append(("each_room_of_src_has_its_folder_of_tests", untested(os.path.join(source, "tests"), allowed)))
    root, allowed = os.path.join(source, "services"), table(SERVICES)
    lines = listed(services)
    cases += [("services_" + name, wrong) for name, wrong in faults(root, allowed, lines, folder_of_service, 100).items()]
    cases.append(("files_of_artifacts_do_not_need_each_other_in_a_circle", ["nm lists no object"] if (wrong := circle(lines, "artifacts_")) is None else wrong))
    lines.append("libservices.a:artifacts_accounts.c.o:                 U artifacts_invoke")
    cases.append(("a_circle_of_files_is_found", [] if circle(lines, "artifacts_") else ["the planted mistake was not found"]))
    if objects:
        root, allowed = os.path.join(source, "services", "symbolic", "engine"), table(ENGINE)
        lines = listed(sorted(glob.glob(os.path.join(objects[0], "*.o"))))
        cases += [("engine_" + name, wrong) for name, wrong in faults(root, allowed, lines, folder_of_engine).items()]
        cases.append(("engine_each_folder_has_a_header_that_says_what_it_is_for", without_header(root, allowed)))
        cases += [(name, [] if wrong else ["the planted mistake was not found"]) for name, wrong in planted(root, allowed, lines).items()]
    print("1..%d" % len(cases))
    for number, (name, wrong) in enumerate(cases, 1):
        for line in wrong:
            print("# " + line)
        print("%s %d %s" % ("not ok" if wrong else "ok", number, name), flush=True)
    return any(wrong for _, wrong in cases)


sys.exit(1 if main() else 0)
