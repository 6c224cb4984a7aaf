"""Many artifacts, for searches. The rows are put into the store from outside, which is faster."""
import os
import sqlite3

import world
from server import PATIENCE

MANY = 20000  # hits from which on nothing is ranked
ROWS = MANY + 10100  # PostgreSQL looks for the newest hits among the newest 10,000 artifacts first


def fill(found, address):
    """Artifacts x0, x1, …, each with a word of its own and one that all have. `early` stands in the oldest, in so many as are not ranked,
    and `most` in one less."""
    if address:
        database = address.split("/")[3].split("?")[0]
        world.cluster.sql(database, "INSERT INTO artifacts.artifacts (id, type, owner, content, created, changed) SELECT 'x' || i, 'tool', "
                          "'alice', 'every rare' || i || ' some' || i %% 1000 || CASE WHEN i < %d THEN ' early most' WHEN i < %d THEN "
                          "' early' ELSE '' END, 0, 0 FROM generate_series(0, %d) i" % (MANY - 1, MANY, ROWS - 1))
        return
    with sqlite3.connect(os.path.join(found.data, "artifacts.sqlite"), timeout=PATIENCE) as database:
        database.executemany("INSERT INTO artifacts (id, type, owner, content, created, changed) VALUES (?, 'tool', 'alice', ?, 0, 0)",
                             (("x%d" % i, "every rare%d some%d%s" % (i, i % 1000, " early most" if i < MANY - 1 else " early" if i < MANY else ""))
                              for i in range(ROWS)))
        database.execute("INSERT INTO words (rowid, id, type, content, code) SELECT seq, id, type, content, code FROM artifacts")
