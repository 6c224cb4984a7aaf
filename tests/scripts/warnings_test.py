"""A warning of a compiler stops nobody's build: `make build` warns at most. Errors of warnings are for builds of `scripts/check`.

    MISHAP_BUILD=build python3 tests/scripts/warnings_test.py [PART-OF-A-NAME]

MISHAP_BUILD is a build as `make build` makes it. Speaks TAP.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ["MISHAP_BUILD"])
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import PATIENCE, equal, expect, main, test, tests_of  # noqa: E402

# A warning that every compiler gives, at the head of each file.
WARNS = "#warning a compiler that nobody has tried\n"

with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as listing:
    COMMANDS = [row for row in json.load(listing) if re.search(r"(^|/)(src|services|tool)/", row["file"])]


def text_of(*path):
    with open(os.path.join(TREE, *path), encoding="utf-8") as file:
        return file.read()


def command_of(name):
    """How this build compiles a file, without a cache before the compiler."""
    [words] = [shlex.split(row["command"]) for row in COMMANDS if row["file"].endswith("/" + name)][:1] or [None]
    expect(words, "nothing compiles", name)
    return words[1:] if os.path.basename(words[0]) in ("ccache", "sccache") else words


def compiled(name, *flags):
    """Compile a file, with a warning: the exit code, and what the compiler said."""
    with tempfile.TemporaryDirectory() as folder:
        header = os.path.join(folder, "warns.h")
        with open(header, "w", encoding="utf-8") as file:
            file.write(WARNS)
        words = command_of(name)
        words[words.index("-o") + 1] = os.path.join(folder, "made.o")
        words = [word for i, word in enumerate(words) if word not in ("-MD", "-MQ", "-MF") and words[i - 1] not in ("-MQ", "-MF")]
        done = subprocess.run([*words, "-include", header, *flags], cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                              check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")


@tests_of({name: (name,) for name in ("src/base/utf8.c", "tool/main.c")})
def a_file_that_warns_is_compiled(name):
    status, said = compiled(name)
    equal(status, 0, "the compiler, which said: " + said[-500:])
    expect("nobody has tried" in said, "it did not warn:", said)
    expect(compiled(name, "-Werror")[0] != 0, "with -Werror it is compiled, too: this test shows nothing")


@test
def no_file_is_compiled_with_warnings_as_errors():
    expect(len(COMMANDS) > 300, "few files:", len(COMMANDS))
    for row in COMMANDS:
        expect(not re.search(r"\s-Werror(?![=\w])", row["command"]), row["file"], "is compiled with -Werror")


@test
def a_new_build_has_no_option_for_it():
    done = subprocess.run(["meson", "introspect", os.path.join(TREE, "meson.build"), "--buildoptions"], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    options = {option["name"]: option["value"] for option in json.loads(done.stdout)}
    equal(options["werror"], False, "the default of werror")
    for name in ("build", "run", "deb", "image", "build-bench"):
        expect("werror=true" not in text_of("scripts", name) and "-Werror" not in text_of("scripts", name).replace("' -Werror '", ""), name)


main()
