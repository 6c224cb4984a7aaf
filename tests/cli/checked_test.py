"""When the declarations of a program are checked: at each command, or only where all of them matter, if its build has done so.

    CHECKED_PROGRAM=… python3 tests/cli/checked_test.py
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from blackbox import equal, expect, main, run_program, test  # noqa: E402

PROGRAM = os.path.abspath(os.environ["CHECKED_PROGRAM"])
WRONG = b"is declared twice"


@test
def a_wrong_declaration_stops_each_command():
    for words in (["sound"], ["twice"], ["manual"], ["--help"]):
        ran = run_program(PROGRAM, *words)
        expect(ran.status == 70 and WRONG in ran.out + ran.err, words, ran)


@test
def if_the_build_has_checked_them_it_stops_what_describes_the_program():
    environment = {"CHECKED": "1"}
    for words in (["manual"], ["manifest"], ["--help"]):
        ran = run_program(PROGRAM, *words, env=environment)
        expect(ran.status == 70 and WRONG in ran.out + ran.err, words, ran)
    equal(run_program(PROGRAM, "sound", env=environment).status, 0, "a command with a correct declaration")


main()
