#!/usr/bin/env python3
"""Which folder of src/ uses which: the table, held against the sources and against the linked symbols.

    NM=nm arrows_test.py SOURCE-ROOT LIBRARY…

A folder uses another if one of its files includes a header of it, or if one of its objects needs a symbol of it. The table is in the
order of the floors: a folder may use only folders that stand before it, so there is no circle. An arrow that is not used is no part of it.
The tests of a room of src/ are in the folder of tests/ that has its name.
"""
import collections
import glob
import os
import re
import subprocess
import sys

# Each folder, and the folders that it may use.
TABLE = """
base
guard              base
mishap             base guard
dialect            base guard mishap
incident           base guard mishap
sandbox            base mishap
operation          base guard mishap
store              base mishap operation
worker/wire        base mishap dialect operation
worker/spawn       base mishap operation sandbox worker/wire
worker/command     base mishap operation worker/wire worker/spawn
worker/plan        mishap operation worker/wire worker/spawn worker/command
worker/child       base mishap operation worker/wire worker/plan
worker/keeper      base mishap incident worker/wire worker/spawn worker/plan worker/child
worker/loop        base mishap operation incident sandbox worker/wire worker/spawn worker/plan
worker/serving     base mishap operation incident sandbox worker/wire worker/spawn worker/plan worker/keeper worker/loop
server             base mishap incident
call               base mishap operation incident
cli/words          base guard mishap dialect operation
cli/screen         base operation cli/words
cli/manual         base operation cli/words
cli/run            base guard mishap dialect incident operation worker/wire cli/words cli/screen cli/manual
http/keys          base mishap operation server
http/wire          base mishap dialect incident operation worker/serving server
http/documents     base mishap dialect operation worker/serving server http/wire
http/calls         base guard mishap dialect incident operation worker/loop worker/serving server http/wire
http/serve         base mishap incident operation worker/keeper worker/loop worker/serving server http/keys http/wire http/documents http/calls
mcp/wire           base guard mishap dialect operation
mcp/offers         base mishap dialect operation mcp/wire
mcp/calls          base guard mishap dialect incident operation worker/loop mcp/wire mcp/offers
mcp/changes        base mishap operation mcp/wire mcp/offers mcp/calls
mcp/dispatch       base mishap incident operation mcp/wire mcp/offers mcp/calls mcp/changes
mcp/sessions       base mishap operation mcp/wire mcp/offers mcp/changes
mcp/transport      base mishap incident operation worker/keeper worker/loop worker/serving mcp/wire mcp/offers mcp/calls mcp/changes mcp/dispatch
mcp/transport/http base mishap incident operation worker/loop worker/serving server mcp/wire mcp/offers mcp/calls mcp/changes mcp/dispatch mcp/sessions
program            base operation cli/run http/keys http/serve mcp/transport mcp/transport/http
"""


# mishap_main() is where each program of these tests begins: src/program has no other ones.
TESTED_ELSEWHERE = {"program": "cli"}


def table():
    return {words[0]: words[1:] for words in (line.split() for line in TABLE.splitlines()) if words}


def folders(root):
    return {os.path.relpath(folder, root) for folder, _, files in os.walk(root) if any(name.endswith((".c", ".h")) for name in files)}


def includes(root):
    found = collections.defaultdict(list)
    for folder, _, files in os.walk(root):
        for name in (name for name in files if name.endswith((".c", ".h"))):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                for header in re.findall(r'^#include "([^"]+)"', file.read(), re.M):
                    beside = os.path.relpath(os.path.join(folder, header), root)
                    target = header if os.path.exists(os.path.join(root, header)) else beside
                    if os.path.exists(os.path.join(root, target)):
                        found[os.path.relpath(folder, root), os.path.dirname(target)].append("%s includes %s" % (path, header))
    return found


def folder_of(member, known):
    """Meson names the object of src/worker/loop/link.c src_worker_loop_link.c.o."""
    fits = [folder for folder in known if member.startswith("src_" + folder.replace("/", "_") + "_")]
    return max(fits, key=len, default=None)


def symbols(libraries, known):
    defined, needed = {}, []
    for library in libraries:
        lines = subprocess.run([os.environ.get("NM", "nm"), "-A", library], capture_output=True, text=True, check=True).stdout.splitlines()
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


def main():
    root, libraries, allowed = os.path.join(sys.argv[1], "src"), sys.argv[2:], table()
    order, bad = list(allowed), 0

    def tell(number, name, wrong):
        nonlocal bad
        for line in wrong:
            print("# " + line)
        bad += bool(wrong)
        print("%s %d %s" % ("not ok" if wrong else "ok", number, name), flush=True)

    def outside(found):
        return ["%s uses %s: %s" % (*pair, uses[0]) for pair, uses in sorted(found.items()) if pair[0] != pair[1] and pair[1] not in allowed.get(pair[0], ())]

    print("1..6")
    by_source, (by_symbol, count) = includes(root), symbols(libraries, order)
    tell(1, "the_table_has_every_folder", sorted(folders(root) ^ set(order)))
    tell(2, "arrows_of_the_table_point_to_folders_that_stand_before",
         ["%s may use %s" % (folder, other) for folder in order for other in allowed[folder] if order.index(other) >= order.index(folder)])
    tell(3, "each_include_is_an_arrow_of_the_table", outside(by_source) or ([] if by_source else ["there are no includes"]))
    tell(4, "each_needed_symbol_is_an_arrow_of_the_table", outside(by_symbol) or ([] if count > 500 else ["nm lists only %d symbols" % count]))
    tell(5, "each_arrow_of_the_table_is_used",
         ["%s does not use %s" % (folder, other) for folder in order for other in allowed[folder]
          if (folder, other) not in by_source and (folder, other) not in by_symbol])
    tests = os.path.join(sys.argv[1], "tests")
    tell(6, "each_room_of_src_has_its_folder_of_tests",
         ["there is no test in tests/%s" % TESTED_ELSEWHERE.get(room, room) for room in sorted({folder.split("/")[0] for folder in order})
          if not glob.glob(os.path.join(tests, TESTED_ELSEWHERE.get(room, room), "*_test.*"))])
    return bad


sys.exit(1 if main() else 0)
