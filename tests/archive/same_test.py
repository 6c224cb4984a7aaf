"""The tests of the operator's operations once more, with the incidents in PostgreSQL: the answers must be the same.

    MISHAP_PROGRAM=… python3 tests/archive/same_test.py tests/operator/operator_test.py [PART-OF-A-NAME]

Each data folder has a database of its own, as each has files of its own without a store.
"""
import os
import runpy
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
for folder in ("store", "operator", "mcp", "http", "cli"):
    sys.path.insert(0, os.path.join(TESTS, folder))
import postgres  # noqa: E402


def main():
    file = sys.argv[1]
    sys.argv = [file, *sys.argv[2:]]
    if not postgres.folder_of_programs():
        print("1..0 # SKIP PostgreSQL is not installed")
        return
    with postgres.Cluster() as cluster:
        import operating
        addresses = {}

        def store_of(data):  # failures_test.py has a server in the folder `real`
            data = os.path.basename(data)
            if data not in addresses:
                addresses[data] = cluster.address()
            return addresses[data]

        operating.stores.append(store_of)
        os.environ["MISHAP_INCIDENT_STORE"] = store_of("real")
        runpy.run_path(file, run_name="__main__")


main()
