"""Continuous integration (.github/workflows/ci.yml) runs the commands that README.md names, on each system that it names.

    python3 tests/scripts/ci_test.py [PART-OF-A-NAME]

Speaks TAP. The file is read as lines: Debian's Python has no parser of YAML.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import equal, expect, main, test  # noqa: E402


def text_of(*path):
    with open(os.path.join(TREE, *path), encoding="utf-8") as file:
        return file.read()


CI, MAKEFILE, README = text_of(".github", "workflows", "ci.yml"), text_of("Makefile"), text_of("README.md")
COMMANDS = re.findall(r"^ *(?:- )?run: (make .*)$", CI, re.M)


def listed(name):
    """The values of a row of the matrix."""
    row = re.search(r"^ *%s: \[(.*?)\]" % name, CI, re.M)
    expect(row, "no", name)
    return sorted(value.strip().strip("'") for value in row[1].split(","))


@test
def the_tests_run_first_and_then_those_with_sanitizers():
    equal(COMMANDS, ["make test", "make test-all"])


@test
def every_command_is_a_target_of_the_makefile():
    for command in COMMANDS:
        for target in command.split()[1:]:
            expect(re.search(r"^%s:.*## " % re.escape(target), MAKEFILE, re.M), "no target", target)


@test
def the_readme_names_the_same_commands():
    for command in COMMANDS:
        expect(re.search(r"(^|`)%s(\s|`)" % re.escape(command), README, re.M), command, "is not in README.md")


@test
def both_processors_and_both_releases_are_there():
    equal(listed("machine"), ["ubuntu-24.04", "ubuntu-24.04-arm"])
    equal(listed("image"), ["debian:bookworm", "debian:trixie"])


@test
def the_sandbox_can_be_tested_and_every_long_step_has_a_limit():
    expect(re.search(r"^ *options:.*--privileged", CI, re.M), "the container is not privileged")
    equal(len(re.findall(r"^        run: make.*\n        timeout-minutes: \d+$", CI, re.M)), len(COMMANDS))
    expect(re.search(r"^    timeout-minutes: \d+$", CI, re.M), "the job has no limit")


@test
def what_set_up_installs_comes_from_set_up():
    packages = re.findall(r"apt-get install (.*)", CI)
    equal([sorted(word for word in row.split() if not word.startswith("-")) for row in packages], [["ca-certificates", "git", "make"]])


main()
