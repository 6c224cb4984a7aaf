"""The uses of used.py: they are those of every command that the packages have, and a use that goes wrong is seen. packages_test.py does what they say.

    MISHAP_PROGRAM=… python3 tests/package/used_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import used  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402


@test
def every_command_of_the_manifest_is_used_and_no_other():
    answer = parsed(run_program(os.environ["MISHAP_PROGRAM"], "manifest", "--output", "json").out)
    expect(len(answer["data"]["commands"]) > 70, "the commands:", list(answer["data"]["commands"]))
    equal(used.missing(answer["data"]["commands"], programs_of_the_packages()), [])


def programs_of_the_packages():
    """What debian/*.install takes from usr/bin and usr/sbin."""
    found = set()
    for path in glob.glob(os.path.join(TREE, "debian", "*.install")):
        with open(path, encoding="utf-8") as file:
            found |= {re.sub(r".*/", "", line.split()[0]) for line in file if re.match(r"(usr/)?s?bin/", line)}
    expect({"mishap", "mishap-catalog"} <= found, "the programs:", found)
    return found


@test
def a_command_or_a_program_without_a_use_is_seen():
    equal(used.missing(["users.create", "brand.new"], {"mishap", "brand-new"})[:2], ["brand-new is not used", "mishap brand new is not used"])
    expect("mishap help is used, and is no command" in used.missing(["users.create"], {"mishap"}), used.missing(["users.create"], {"mishap"}))


def printed(**changed):
    """What the script prints if everything goes well, but for one use."""
    rows = [(name, used.RUN_BY_THE_SCRIPT[name], 0) for name in used.RUN_BY_THE_SCRIPT]
    rows += [(name, use.shows, use.status) for name, use in used.USES.items()]
    rows = [changed.get(row[0].replace(" ", "_"), row) for row in rows]
    return "".join("USE %s\n%s\nSTATUS %d\n" % row for row in rows if row)


@test
def uses_that_go_well_are_no_complaint():
    equal(used.wrong(printed()), [])


@tests_of({
    "another exit code": ("mishap users list exits with 1 (not 0)", {"mishap_users_list": ("mishap users list", '"Grace"', 1)}),
    "another text": ("mishap users list exits with 0 (not 0) or does not print", {"mishap_users_list": ("mishap users list", "nothing", 0)}),
    "a use that the script did not come to": ("mishap gateway was not used", {"mishap_gateway": None}),
})
def a_use_that_goes_wrong_is_seen(words, changed):
    found = used.wrong(printed(**changed))
    expect(len(found) == 1 and words in found[0], found)


@test
def the_script_is_one_that_a_shell_can_read():
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as file:
        file.write(used.script("/tmp/uses"))
        file.flush()
        done = subprocess.run(["sh", "-n", file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        equal((done.returncode, done.stdout), (0, ""))
    expect("mishap users create --name Grace" in used.script("/tmp/uses"), "no use in the script")


@test
def a_script_of_some_uses_has_no_others():
    names = ("mishap audit http", "mishap audit mcp")
    equal(re.findall(r"^echo '?USE (mishap [\w -]+)'?$", used.script("/tmp/uses", names), re.M), list(names))


main()
