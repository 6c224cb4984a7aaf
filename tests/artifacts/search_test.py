"""Searches: words that stand in every artifact are not ranked, on either engine; hits are the best first, or the newest.

    MISHAP_PROGRAM=… python3 tests/artifacts/search_test.py [PART-OF-A-NAME]

The rows are put into the store from outside, which is faster. Speaks TAP.
"""
import world
from blackbox import equal, main, test, tests_of
from many import MANY, ROWS, fill
from server import all_ended_in_order
from world import ENGINES, World

STORE = "genesis_store"


@tests_of(ENGINES)
def what_stands_everywhere_is_not_ranked(engine):
    address = world.address_of(engine)
    with World(engine, address=address) as w:
        fill(w, address)

        def search(*args):
            answer = w.done(STORE, "search", *args)
            return answer["ranked"], answer.get("hits"), [row["id"] for row in answer["artifacts"]]
        equal(search("rare77"), (True, 1, ["x77"]), "a rare word")
        newest = ["x%d" % i for i in range(ROWS - 1, ROWS - 101, -1)]
        equal(search("every", None, 100), (False, None, newest), "a word of all")
        equal(search("tool", "type", 100), (False, None, newest), "a type of all")
        ranked, hits, found = search("some7 every", "content", 100)
        equal((ranked, hits, found), (engine == "PostgreSQL", 31, ["x%d" % i for i in range(30007, 0, -1000)]), "both together")
        equal(search("early", None, 100), (False, None, ["x%d" % i for i in range(MANY - 1, MANY - 101, -1)]), "many old ones")
        w.done(STORE, "create", "late", "tool", "early", by="alice")
        equal(search("early", None, 3)[2], ["late", "x19999", "x19998"], "a new one, and old ones")
        ranked, hits, found = search("most", None, 100)
        equal((ranked, hits, len(found)), (True, MANY - 1, 100), "just as many as are ranked")
        w.done(STORE, "update", "x5", "most most most most", by="alice")
        equal(search("most", None, 1), (True, MANY - 1, ["x5"]), "the best of them")
        w.done(STORE, "create", "best", "tool", "some7 some7 some7 some7", by="alice")
        equal(search("some7", "content", 100)[2][0], "best", "the best of some")
        w.done(STORE, "update", "x7", "nothing", by="alice")
        equal(search("some7", None, 100)[1], 31, "without what was changed")


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
