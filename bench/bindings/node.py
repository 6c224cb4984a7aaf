"""The npm package against what programs do by hand: CPU time, as ratios of one run.

    node.py PACKAGE NODE_MODULES

node.mjs measures and prints one line of JSON a measure: the microseconds of each round, ours and theirs.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import figures  # noqa: E402

MEASURES = 4


def main():
    seen = 0
    print("the npm package against programs by hand, CPU", flush=True)
    with subprocess.Popen(["node", os.path.join(HERE, "node.mjs"), *map(os.path.abspath, sys.argv[1:3])], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            told = json.loads(line)
            seen += 1
            if "empties" in told:
                over = figures.median(told["what"], told["ours"]) - figures.median("import of an empty module", told["empties"])
                figures.row("    " + told["what"], over / 1000, "ms", at_most=told["bar"])
                continue
            ratios = figures.ratios(told["what"], told["ours"], told["theirs"])
            figures.row("    " + told["what"], ratios[len(ratios) // 2], "×", at_most=told["bar"])
            figures.row("        ours", figures.median(told["what"], told["ours"]), "µs")
            figures.row("        by hand", figures.median(told["what"], told["theirs"]), "µs")
    if process.returncode or seen != MEASURES:
        raise figures.Void(f"node.mjs ends with {process.returncode} after {seen} of {MEASURES} measures")


figures.run(main)
