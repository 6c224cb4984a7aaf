#!/usr/bin/env python3
"""The leak detector on the corpus of tests/guard/corpus: how many leaks it finds, and how many harmless texts it accuses.

A text of leaks/KIND/ is found if the detector reports that kind: at high confidence for trace, sql, connection, credential and
environment, which a boundary replaces; at any confidence for path, host and source, and for the folders trace-hint and sql-hint, whose
texts betray the inside without a proof (a class name, a statement in a sentence).

A harmless text is a false alarm if the detector reports anything in it, at any confidence. There are two exceptions, which both are still
a false alarm at high confidence: texts of harmless/readme/, which show code on purpose, may have source, path and host at medium; our own
answers in tests/golden may have path, host and source at medium, since some tell an address as context. Condition reports
are left out, because their backtrace is the caller's own.

A third of all texts, chosen by the hash of the name, is not used to write rules. For this third the test tells numbers and kinds only;
`--show-unseen` tells more and must not be used by people who write rules.

    corpus_test.py                  the test
    corpus_test.py --show           … and each seen text that is judged wrong, with the findings
    corpus_test.py --copy FOLDER    write the seen texts to a folder, as they are scanned
    corpus_test.py --rules          how often each rule fires, and on what
    corpus_test.py --others FOLDER  the rules of ZAP and of fluentd beside ours, as docs/guard.md shows it
"""
import argparse
import collections
import glob
import hashlib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
HIDING = "⁂"  # stands inside of invented keys in the files, and goes when they are read (corpus/make/written.py)

HIGH = {"trace", "sql", "connection", "credential", "environment"}  # kinds that a boundary replaces
MEDIUM_IS_FINE = {"readme": {"source", "path", "host"}, "golden": {"source", "path", "host"}}
LEAST_RECALL, MOST_UNSEEN_ALARMS = 0.99, 0.01  # of both parts; raise the recall with the rules, never by reading the third

Text = collections.namedtuple("Text", "name leak folder seen data findings")
Finding = collections.namedtuple("Finding", "kind confidence rule view line start length excerpt")


def is_seen(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 != 0


def texts_of_corpus():
    for path in sorted(glob.glob(os.path.join(CORPUS, "leaks", "*", "*.txt")) + glob.glob(os.path.join(CORPUS, "harmless", "*", "*.txt"))):
        half, folder, name = os.path.relpath(path, CORPUS).split(os.sep)
        with open(path, encoding="utf-8", newline="") as file:
            data = file.read().replace(HIDING, "").encode()
        yield Text(f"{half}/{folder}/{name}", half == "leaks", folder, is_seen(f"{folder}/{name}"), data, [])
    for path in sorted(glob.glob(os.path.join(GOLDEN, "*", "*", "expected*"))):
        name = os.path.relpath(path, GOLDEN)
        if not name.startswith("condition-report"):
            with open(path, "rb") as file:
                yield Text("golden/" + name, False, "golden", is_seen(name), file.read(), [])


def scan(texts, program):
    sent = b"".join(b"%d\n%s" % (len(text.data), text.data) for text in texts)
    lines = subprocess.run([program], input=sent, stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "replace").split("\n")
    at = iter(lines)
    for text in texts:
        while (line := next(at)) != "end":
            kind, confidence, rule, view, row, start, length, excerpt = line.split("\t", 7)
            text.findings.append(Finding(kind, confidence, rule, view, int(row), int(start), int(length), excerpt))


def is_found(text):
    """Does the detector find the leak that this text is?"""
    kind = text.folder.removesuffix("-hint")
    high = text.folder in HIGH
    return any(f.kind == kind and (f.confidence == "high" or not high) for f in text.findings)


def is_accused(text):
    """Does the detector report something in this harmless text?"""
    fine = MEDIUM_IS_FINE.get(text.folder, set())
    return any(f.confidence == "high" or f.kind not in fine for f in text.findings)


def is_wrong(text):
    return not is_found(text) if text.leak else is_accused(text)


def show(text):
    print(f"# {'missed' if text.leak else 'accused'}: {text.name}")
    for f in text.findings:
        print(f"#     {f.kind} {f.confidence} {f.rule} ({f.view}, line {f.line}): {f.excerpt[:120]}")


def measure(texts):
    """The shares of leaks that are found and of harmless texts that are accused."""
    leaks, harmless = [t for t in texts if t.leak], [t for t in texts if not t.leak]
    found, accused = sum(map(is_found, leaks)), sum(map(is_accused, harmless))
    return found, len(leaks), accused, len(harmless)


def check(number, right, name):
    print(f"{'ok' if right else 'not ok'} {number} - {name}")
    return right


def test(texts):
    print("1..5")
    right = check(1, sum(t.leak for t in texts) >= 300 and sum(not t.leak and t.folder != "golden" for t in texts) >= 500, "the corpus has 300 leaks and 500 harmless texts")
    for number, (seen, part) in enumerate([(True, "the seen part"), (False, "the unseen third")]):
        found, leaks, accused, harmless = measure([t for t in texts if t.seen == seen])
        missed = collections.Counter(t.folder for t in texts if t.seen == seen and t.leak and not is_found(t))
        alarms = collections.Counter(t.folder for t in texts if t.seen == seen and not t.leak and is_accused(t))
        print(f"# {part}: found {found} of {leaks} leaks ({found / leaks:.2%}), accused {accused} of {harmless} harmless texts ({accused / harmless:.2%})")
        print(f"#     missed {dict(missed)}, accused {dict(alarms)}")
        right &= check(2 + 2 * number, found >= LEAST_RECALL * leaks, f"{part}: {LEAST_RECALL:.1%} of leaks are found")
        right &= check(3 + 2 * number, accused <= (0 if seen else MOST_UNSEEN_ALARMS * harmless), f"{part}: " + ("no harmless text is accused" if seen else "at most 1 % of harmless texts are accused"))
    return right


def tell_rules(texts):
    rules = collections.defaultdict(collections.Counter)
    for text in texts:
        if text.seen:
            for rule in {f.rule for f in text.findings}:
                rules[rule][("leaks/" if text.leak else "harmless/") + text.folder] += 1
    for rule, where in sorted(rules.items()):
        print(rule, dict(where))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--show", action="store_true")
    options.add_argument("--show-unseen", action="store_true")
    options.add_argument("--copy")
    options.add_argument("--rules", action="store_true")
    options.add_argument("--others")
    asked = options.parse_args()
    texts = list(texts_of_corpus())
    if asked.copy:
        for text in texts:
            if text.seen:
                path = os.path.join(asked.copy, text.name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(text.data)
        return
    scan(texts, os.environ.get("CORPUS_SCAN_PROGRAM") or os.path.join(HERE, "..", "..", "build", "tests", "guard", "corpus_scan"))
    if asked.rules:
        return tell_rules(texts)
    if asked.others:
        sys.path.insert(0, CORPUS)
        import others
        return others.tell(texts, sys.modules[__name__], os.path.abspath(asked.others))
    right = test(texts)
    for text in texts:
        if is_wrong(text) and (asked.show if text.seen else asked.show_unseen):
            show(text)
    sys.exit(not right)


if __name__ == "__main__":
    main()
