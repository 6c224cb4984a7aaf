"""docs/databases.md lists every feature that a statement on PostgreSQL uses, and says of each what the other databases have. The statements are read
from the source: their words in capitals, and the functions that they call.

    python3 tests/store/databases_test.py

Speaks TAP.
"""
import glob
import os
import re
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "tests", "cli"))
from blackbox import equal, expect, main, test  # noqa: E402

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|SET|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|FROM|WHERE)\b")
DYNAMIC = re.compile(r"'(ANALYZE|CREATE|DROP|ALTER|ATTACH|DETACH|INSERT|DELETE) ")  # for EXECUTE

# Words of SQLite alone, and types, which both engines have.
OTHERS = set("STRICT WITHOUT ROWID AUTOINCREMENT INTEGER TEXT BLOB REAL VIRTUAL MATCH PRAGMA iif strftime".split())


def source(path):
    with open(os.path.join(TREE, path), encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)


def statements():
    """(path, piece of SQL). A file that declares statements has nothing else in its texts; the engine has messages, too."""
    found = []
    for path in sorted(glob.glob("src/**/*.c", root_dir=TREE, recursive=True) + glob.glob("services/**/*.c", root_dir=TREE, recursive=True)):
        text = re.sub(r'(?<!\\)"\s*"', "", source(path))  # texts that the compiler joins
        declares = re.search(r"^(static )?const mishap_statement \w+\[", text, re.M)
        if not declares and not path.startswith("src/store/postgresql"):
            continue
        for literal in LITERAL.finditer(text):
            piece = re.sub(r"'[^']*'", lambda quoted: quoted[0] if DYNAMIC.match(quoted[0]) else "''", literal[1])
            if declares or SQL.search(piece):
                found.append((path, piece))
    return found


def words_of(piece):
    return set(re.findall(r"\b[A-Z][A-Z_]+\b", piece)) | set(re.findall(r"\b([a-z_][a-z_0-9]+)\(", piece))


def own_functions(pieces):
    """Functions and tables of a migration: name(columns)."""
    whole = " ".join(pieces)
    return set(re.findall(r"CREATE FUNCTION (\w+)", whole)) | set(re.findall(r"(?:TABLE|INTO|REFERENCES|ON|AS) (\w+) ?\(", whole))


def listed():
    """The words in the second column of the first table."""
    page = source("docs/databases.md").split("## What is used")[1].split("## What the others say")[0]
    rows = [row.split("|")[2] for row in page.splitlines() if row.startswith("| ") and row.count("|") == 4]
    return {word for row in rows for mark in re.findall(r"`([^`]*)`", row) for word in re.findall(r"\w+", mark)}


@test
def every_word_of_a_statement_is_listed():
    pieces = statements()
    expect(len({path for path, _ in pieces}) >= 4, "the statements were not found:", {path for path, _ in pieces})
    known = listed() | OTHERS | own_functions(piece for _, piece in pieces)
    missing = sorted({(word, path) for path, piece in pieces for word in words_of(piece) - known})
    equal(missing, [], "words of statements that docs/databases.md does not list")


def table_after(heading):
    """The rows of the first table behind a heading, each as a list of its cells, without the head."""
    lines = source("docs/databases.md").split(heading)[1].splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("|"))
    last = next(at for at in range(first, len(lines)) if not lines[at].startswith("|"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[first:last]]


@test
def every_feature_is_compared_and_no_cell_is_empty():
    used, compared = table_after("## What is used"), table_after("## What the others say")
    missing = {row[0] for row in used[2:]} - {row[0] for row in compared[2:]}
    equal(sorted(missing), [], "features of the first table without a row in the second")
    expect(len(compared[0]) >= 7, "there are fewer databases:", compared[0])
    for row in compared:
        equal(len(row), len(compared[0]), "the cells of the row " + row[0])
        expect(all(row), "a cell is empty in the row", row[0])
    expect(all("](https://" in head for head in compared[0][1:]), "a database without a source:", compared[0])


@test
def a_word_that_is_new_would_be_found():
    for piece, word in ((" FOR UPDATE NOWAIT", "NOWAIT"), ("SELECT pg_notify('x', '')", "pg_notify"), ("CREATE TEMPORARY TABLE t (a int)", "TEMPORARY")):
        expect(word in words_of(piece) - listed(), "not found:", word)


@test
def every_listed_word_is_used():
    """Words of plain SQL may be there for later; a feature may not."""
    page = source("docs/databases.md").split("## What is used")[1].split("## What the others say")[0]
    whole = " ".join(piece for _, piece in statements())
    for row in page.splitlines():
        if row.startswith("| ") and row.count("|") == 4 and not row.startswith(("| plain SQL", "| tables", "| feature", "| functions and")):
            for mark in re.findall(r"`([^`]*)`", row.split("|")[2]):
                expect(mark.removesuffix("()") in whole, "no statement has", mark)


main()
