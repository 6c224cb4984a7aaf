"""What scripts/setup and scripts/build say, install and leave alone, on machines that are made up: with root or without, with
a network or without, with some packages. Nothing is installed: apt-get, sudo, meson, ninja and the compiler are stand-ins, the only
programs in the path beside the usual tools.

    python3 tests/scripts/setup_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import PATIENCE, Answer, Skipped, equal, expect, main, open_terminal, read_terminal, test, tests_of  # noqa: E402

TOOLS = ("bash sh env ln nice cat sed awk grep find head tail sort paste tr rm mkdir mv cp ls chmod touch dirname basename stty python3 sleep true "
         "test realpath wc date flock").split()

# What a package brings: programs, files of pkg-config, headers.
BRINGS = {
    "gcc": "bin:gcc bin:ar", "libc6-dev": "h:stdio.h", "meson": "bin:meson", "ninja-build": "bin:ninja", "pkg-config": "bin:pkg-config",
    "libpcre2-dev": "pc:libpcre2-8", "libyyjson-dev": "pc:yyjson", "libllhttp-dev": "pc:libllhttp", "libuv1-dev": "pc:libuv",
    "libsqlite3-dev": "pc:sqlite3", "zlib1g-dev": "h:zlib.h", "libmd-dev": "pc:libmd", "libseccomp-dev": "pc:libseccomp",
    "sbcl": "bin:sbcl", "libedit-dev": "h:histedit.h", "python3-dev": "pc:python3-embed", "libz3-dev": "h:z3.h", "g++": "bin:g++",
    "libdw-dev": "h:elfutils/libdwfl.h", "curl": "bin:curl", "libcvc5-dev": "", "libcurl4": "", "libssl3": "", "clang-format": "bin:clang-format",
}
RUN = [name for name in BRINGS if name in "gcc libc6-dev meson ninja-build pkg-config libpcre2-dev libyyjson-dev libllhttp-dev libuv1-dev "
       "libsqlite3-dev zlib1g-dev libmd-dev libseccomp-dev".split()]
SERVICES = "sbcl libedit-dev python3-dev libz3-dev g++ libdw-dev curl".split()

BRING = """
bring() {
    local thing
    for thing in $(sed -n "s/^$1 //p" "$WORLD/brings"); do
        case $thing in
        bin:*) ln -s "$WORLD/stand-in" "$WORLD/bin/${thing#bin:}" 2>/dev/null || :;;
        *) mkdir -p "$WORLD/things/$(dirname "${thing#*:}")"; : >"$WORLD/things/${thing#*:}";;
        esac
    done
}
"""

# One script stands in for all programs: its name says for which.
STAND_IN = "#!/bin/bash\n" + BRING + r"""
name=${0##*/}
case $name in gcc|pkg-config) ;; *) echo "$name $*" >>"$WORLD/calls";; esac
last=; for last; do :; done
case $name in
id) echo "$FAKE_UID";;
sudo)
    case $SUDO in password) exit 1;; esac
    case $1 in -n) exit 0;; -v) exit 0;; esac
    exec "$@";;
apt-get)
    [ -z "$APT_FAILS" ] || { case " $* " in *' indextargets '*) ;; *) echo "$APT_FAILS";; esac; exit 100; }
    case " $* " in
    *' indextargets '*) echo "$WORLD/debian.list:1";;
    *' source '*) mkdir -p yyjson-0.10.0/src; echo '#define YYJSON_VERSION_STRING "0.10.0"' >yyjson-0.10.0/src/yyjson.h; : >yyjson-0.10.0/src/yyjson.c
        python3 -c 'import tarfile; t = tarfile.open("yyjson_0.10.0.orig.tar.xz", "w:xz"); t.add("yyjson-0.10.0"); t.close()'; rm -r yyjson-0.10.0;;
    *' download '*)
        case " $NO_PACKAGE " in *" $last "*) case $* in *SourceParts*) ;; *) echo "E: Unable to locate package $last"; exit 100;; esac;; esac
        : >"${last}_9.2.1_all.deb";;
    *' install '*)
        all=$*
        set -- ${all##*--no-install-recommends }
        for package; do
            case " $NO_PACKAGE " in *" $package "*) echo "E: Unable to locate package $package"; exit 100;; esac
            case " $CHANGED :$all" in *" $package "*:*--force-confold*) ;; *" $package "*:*) echo "dpkg: error: end of file on stdin at conffile prompt"; exit 100;; esac
        done
        echo "0 upgraded, $# newly installed, 0 to remove and 0 not upgraded."
        for package; do echo "Get:1 somewhere $package"; done
        for package; do echo "Unpacking $package"; echo "Setting up $package"; bring "$package"; done;;
    esac;;
dpkg-deb) mkdir -p "$last/usr/bin" "$last/usr/lib/m" "$last/usr/include" "$last/usr/share/containers" "$last/usr/lib/python3/dist-packages/opentelemetry"; echo a filter >"$last/usr/share/containers/seccomp.json"; : >"$last/usr/lib/m/libllhttp.a"; printf '#define LLHTTP_VERSION_%s 9\n' MAJOR MINOR PATCH >"$last/usr/include/llhttp.h";;
gcc)
    case " $* " in
    *' -E '*) [ -e "$WORLD/things/$3" ];;
    *) [ ! -e "$WORLD/hold" ] || : >"$WORLD/holding"
        for ((i = 0; i < 1200; i++)); do [ ! -e "$WORLD/hold" ] || sleep 0.05; done
        : >"$last";;
    esac;;
ar) : >"$2";;
npm)
    [ "$1" = install ] || exit 0
    case " $* " in *" ${NPM_REFUSES:-nothing} "*) exit 1;; esac
    for package; do case $package in install|--*|/*|[0-9]*) ;; *@*) rest=${package#?}; mkdir -p "$3/node_modules/${package%"$rest"}${rest%%@*}";; esac; done;;
pkg-config)
    [ -e "$WORLD/things/$last" ] && exit
    IFS=:; for folder in $PKG_CONFIG_PATH; do [ -e "$folder/$last.pc" ] && exit; done; exit 1;;
meson) case "$1 $2" in 'setup --reconfigure') ;; setup*) mkdir -p "$2"; : >"$2/build.ninja";; esac;;
ninja)
    [ -z "$NINJA_SAYS" ] || { printf "$NINJA_SAYS"; exit 1; }
    todo=$(cat "$WORLD/todo" 2>/dev/null) || { echo 'ninja: no work to do.'; exit; }
    rm "$WORLD/todo"; for ((i = 1; i <= todo; i++)); do echo "@$i $todo $((i * 4)).0 Compiling C object $i.c.o"; done;;
esac
"""


class World:
    """A machine: a tree with the scripts, a path, and what was called on it."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "the world")  # with a space
        self.tree = os.path.join(self.folder, "a tree")
        self.bin = os.path.join(self.folder, "bin")
        for path in self.tree, self.bin, os.path.join(self.folder, "things"):
            os.makedirs(path)
        shutil.copytree(os.path.join(TREE, "scripts"), os.path.join(self.tree, "scripts"))
        self.write("stand-in", STAND_IN)
        os.chmod(os.path.join(self.folder, "stand-in"), stat.S_IRWXU)
        self.write("brings", "".join("%s %s\n" % row for row in BRINGS.items()))
        self.write("debian.list", "deb http://mirror.example/debian bookworm main\n")
        for tool in TOOLS:  # the Python in the path may be a script of pyenv, which does not run here
            os.symlink(sys.executable if tool == "python3" else shutil.which(tool), os.path.join(self.bin, tool))
        for name in "id", "apt-get", "dpkg-deb":
            self.stand_in(name)
        self.variables = {"FAKE_UID": "0", "SUDO": "", "APT_FAILS": "", "NO_PACKAGE": "", "NINJA_SAYS": ""}
        self.is_debian("13")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def is_debian(self, version):
        self.write("os-release", "ID=debian\nVERSION_ID=%s\nVERSION_CODENAME=%s\n" % (version, {"12": "bookworm"}.get(version, "trixie")))

    def stand_in(self, name):
        os.symlink(os.path.join(self.folder, "stand-in"), os.path.join(self.bin, name))

    def has(self, *packages):
        subprocess.run(["bash", "-c", BRING + 'for package; do bring "$package"; done', "-", *packages], check=True,
                       env=dict(os.environ, WORLD=self.folder))

    def environment(self):
        return dict(self.variables, WORLD=self.folder, PATH=self.bin, OS_RELEASE=os.path.join(self.folder, "os-release"), LC_ALL="C")

    def run(self, script, *arguments, enter=(), **variables):
        """Without a terminal and without HOME. `enter`: the words before the command."""
        done = subprocess.run([*enter, os.path.join(self.tree, "scripts", script), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(self.environment(), **variables), timeout=PATIENCE, check=False,
                              start_new_session=True)
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def calls(self, *words):
        """The calls of programs that have these words."""
        path = os.path.join(self.folder, "calls")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file if all(word in line for word in words)]

    def installed(self):
        """The packages of each call of apt-get install; cvc5 is looked for in the real machine, and left out."""
        return [[name for name in call.partition("--no-install-recommends ")[2].split() if name not in ("libcvc5-dev", "python3")]
                for call in self.calls("apt-get", " install ") if not call.startswith("sudo")]


@contextlib.contextmanager
def world(*packages, folder_in=None, **variables):
    with tempfile.TemporaryDirectory(dir=folder_in) as folder:
        made = World(folder)
        made.has(*packages)
        made.variables.update(variables)
        yield made


def one_sentence(answer, *words):
    lines = answer.err.splitlines()
    equal(len(lines), 1, "the number of lines of %r" % answer.err)
    for word in words:
        expect(word in lines[0], "no", word, "in", lines[0])


# ---- Set-up --------------------------------------------------------------------------------------

@test
def root_installs_what_the_program_needs_before_what_services_want():
    with world() as machine:
        answer = machine.run("setup", "build")
        equal(answer.status, 0, answer.err)
        needed, wanted = machine.installed()
        equal(sorted(needed), sorted(RUN))
        equal(sorted(wanted), sorted(SERVICES))
        expect("mishap: installing" in answer.err, answer.err)


@test
def for_run_nothing_of_the_services_is_installed():
    with world() as machine:
        equal(machine.run("setup", "run").status, 0)
        equal([sorted(packages) for packages in machine.installed()], [sorted(RUN)])


@test
def setup_is_silent_where_nothing_is_missing():
    with world(*RUN) as machine:
        equal(machine.run("setup", "run"), Answer(0, "", ""))
        equal(machine.calls("apt-get"), [])


@test
def a_person_without_sudo_gets_one_sentence_with_the_command():
    with world(*[name for name in RUN if name not in ("gcc", "meson")], FAKE_UID="1000") as machine:
        answer = machine.run("setup", "run")
        equal(answer.status, 1)
        one_sentence(answer, "there is no sudo here", "as root: apt-get install --no-install-recommends gcc", " meson")
        equal(machine.calls("apt-get"), [])


@test
def sudo_that_asks_for_a_password_without_a_terminal_is_none():
    with world(*RUN[1:], FAKE_UID="1000", SUDO="password") as machine:
        machine.stand_in("sudo")
        answer = machine.run("setup", "run")
        equal(answer.status, 1)
        one_sentence(answer, "sudo asks for a password, and there is no terminal", "apt-get install --no-install-recommends gcc")


@test
def sudo_without_a_password_installs():
    with world(*RUN[1:], FAKE_UID="1000") as machine:
        machine.stand_in("sudo")
        equal(machine.run("setup", "run").status, 0)
        expect(machine.calls("sudo env ", "apt-get", " install "), machine.calls())


@test
def a_configuration_file_that_was_changed_stays_as_it_is():
    with world(*RUN[1:], CHANGED=RUN[0]) as machine:
        equal(machine.run("setup", "run").status, 0)


@test
def without_root_services_are_left_out_and_that_is_said_once():
    with world(*RUN, FAKE_UID="1000") as machine:
        answer = machine.run("setup", "build")
        equal(answer.status, 0)
        one_sentence(answer, "goes on without", "as root: apt-get install --no-install-recommends sbcl")
        equal(machine.run("setup", "build"), Answer(0, "", ""))


@test
def without_a_network_one_sentence_says_so():
    with world(APT_FAILS="Err:1 http://mirror.example Temporary failure resolving 'mirror.example'") as machine:
        answer = machine.run("setup", "run")
        equal(answer.status, 1)
        lines = [line for line in answer.err.splitlines() if not line.endswith(("(once)", "looking for packages"))]
        equal(len(lines), 1, answer.err)
        expect("the package servers cannot be reached" in lines[0] and "apt-get install" in lines[0], lines)
        for call in machine.calls("apt-get"):
            expect("Acquire::http::Timeout=10" in call, "no limit of time in", call)


@test
def what_apt_says_is_shown_when_it_fails():
    with world(NO_PACKAGE="libuv1-dev") as machine:
        answer = machine.run("setup", "run")
        equal(answer.status, 1)
        expect("Unable to locate package libuv1-dev" in answer.err and "try it by hand, as root: apt-get install" in answer.err, answer.err)


@test
def a_service_whose_package_cannot_be_installed_stops_nothing_and_is_not_tried_at_every_start():
    with world(*RUN, NO_PACKAGE="sbcl") as machine:
        answer = machine.run("setup", "build")
        equal(answer.status, 0, answer.err)
        expect("going on without" in answer.err, answer.err)
        tried = len(machine.calls("apt-get"))
        equal(machine.run("setup", "build"), Answer(0, "", ""))
        equal(len(machine.calls("apt-get")), tried)


@test
def an_ordinary_user_of_debian_12_gets_yyjson_and_llhttp_into_the_build_folder():
    with world(*[name for name in RUN if name not in ("libyyjson-dev", "libllhttp-dev")], FAKE_UID="1000") as machine:
        machine.is_debian("12")
        answer = machine.run("setup", "run")
        equal(answer.status, 0, answer.err)
        made = os.path.join(machine.tree, "build", "deps")
        for path in "lib/libyyjson.a", "lib/libllhttp.a", "include/yyjson.h", "include/llhttp.h", "lib/pkgconfig/yyjson.pc", "lib/pkgconfig/libllhttp.pc":
            expect(os.path.exists(os.path.join(made, path)), path, "is missing")
        expect(all("Dir::State=" in call for call in machine.calls("apt-get") if "indextargets" not in call), machine.calls("apt-get"))
        equal(machine.run("setup", "run"), Answer(0, "", ""))


@test
def debian_12_without_a_network_says_what_it_is_for():
    with world(*[name for name in RUN if name != "libyyjson-dev"], FAKE_UID="1000", APT_FAILS="Could not connect to mirror.example:80") as machine:
        machine.is_debian("12")
        answer = machine.run("setup", "run")
        equal(answer.status, 1)
        expect("the package servers cannot be reached: connect this machine to the network; yyjson" in answer.err.splitlines()[-1], answer.err)


@test
def another_system_gets_a_list():
    with world(*RUN[1:]) as machine:
        machine.write("os-release", "ID=fedora\n")
        answer = machine.run("setup", "run")
        equal(answer.status, 1)
        one_sentence(answer, "by the means of this system", "gcc")


@test
def a_folder_that_cannot_be_written_is_one_sentence():
    with world(*RUN) as machine:
        answer = machine.run("build", BUILD="/proc/mishap")
        equal(answer.status, 1)
        one_sentence(answer, "/proc/mishap cannot be written", "BUILD=DIR")


@test
def an_unknown_purpose_is_refused_with_those_that_exist():
    with world() as machine:
        answer = machine.run("setup", "nonsense")
        equal(answer.status, 1)
        one_sentence(answer, "'nonsense'", " run ", " test-all", " bench-http ")


@test
def for_all_tests_clang_is_needed_and_for_the_ordinary_ones_not():
    with world(*RUN, FAKE_UID="1000") as machine:
        ordinary, every = (machine.run("setup", purpose).err for purpose in ("test", "test-all"))
        expect("libcmocka-dev" in ordinary and "clang" not in ordinary, ordinary)
        expect("libcmocka-dev" in every and " clang " in every, every)


# What every Debian has, or what makes the tests run; and what makes files for tests once, on another machine.
ALWAYS_THERE = {"make": "starts the tests", "setpriv": "util-linux", "taskset": "util-linux", "unshare": "util-linux", "mount": "mount", "prlimit": "util-linux",
                "localedef": "libc-bin", "env": "coreutils"}
FOR_TESTS = {"run", "services", "test", "test-all", "deb", "image", "test-packages"}


def programs_that_tests_look_for(folder):
    """A test is skipped where such a program is missing."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) != os.path.join(folder, "guard", "corpus")]
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    for program in re.findall(r"""\bwhich\(["']([\w.+-]+)["']""", file.read()):
                        found.setdefault(program, os.path.relpath(os.path.join(place, name), folder))
    return found


def programs_that_are_installed():
    with open(os.path.join(TREE, "scripts", "setup"), encoding="utf-8") as file:
        rows = re.findall(r"^([\w-]+) +(?:need|want) +\S+ +(?:command -v |test -x /usr/s?bin/)([\w.+-]+)", file.read(), re.M)
    return {program for purpose, program in rows if purpose in FOR_TESTS}


@test
def every_program_that_a_test_looks_for_is_installed_by_name():
    wanted, installed = programs_that_tests_look_for(os.path.join(TREE, "tests")), programs_that_are_installed()
    expect({"valgrind", "systemd-analyze", "buildah", "abidiff", "node"} <= set(wanted), "the programs:", wanted)
    expect(len(installed) > 30 and "clang" in installed, "the rows:", installed)
    equal({program: place for program, place in wanted.items() if program not in installed and program not in ALWAYS_THERE}, {},
          "programs without a row in scripts/setup, and the first test that is skipped without them")


@test
def a_program_without_a_row_is_seen():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "new_test.py"), "w", encoding="utf-8") as file:
            file.write('if not shutil.%s("brand-new"):\n    raise Skipped("there is none")\n' % "which")
        equal(programs_that_tests_look_for(folder), {"brand-new": "new_test.py"})


@test
def a_file_that_tests_need_is_taken_out_of_its_package_once():
    with world(*RUN) as machine:
        for name in "npm", "node":
            machine.stand_in(name)
        answer = machine.run("setup", "test")
        equal(answer.status, 0, answer.err)
        with open(os.path.join(machine.tree, "build/deps/files/seccomp.json"), encoding="utf-8") as file:
            equal(file.read(), "a filter\n", "the file")
        equal(sorted(os.listdir(os.path.join(machine.tree, "build/deps/files"))), ["bin", "opentelemetry", "seccomp.json"], "what is left")
        expect(not any("containers" in name for packages in machine.installed() for name in packages), machine.installed())
        equal(machine.run("setup", "test").status, 0)
        equal(len(machine.calls("apt-get", " download ")), 3, "downloads")


@test
def a_folder_of_a_package_that_this_release_does_not_have_is_taken_from_the_next_one():
    with world(*RUN, NO_PACKAGE="python3-opentelemetry-proto") as machine:
        for name in "npm", "node":
            machine.stand_in(name)
        answer = machine.run("setup", "test")
        equal(answer.status, 0, answer.err)
        expect(os.path.isdir(os.path.join(machine.tree, "build/deps/files/opentelemetry")), answer.err)
        downloads = machine.calls("apt-get", " download python3-opentelemetry-proto")
        equal(["SourceParts" in call for call in downloads], [False, True], "this release, then the next")
        expect("this failed" not in answer.err, answer.err)


@test
def one_npm_package_that_cannot_be_had_costs_no_other():
    with world(*RUN, NPM_REFUSES="@langchain/mcp-adapters@1.1.4") as machine:
        for name in "npm", "node":
            machine.stand_in(name)
        answer = machine.run("setup", "test")
        equal(answer.status, 0, answer.err)
        expect("tests that need what is missing are skipped" in answer.err, answer.err)
        there = os.path.join(machine.tree, "build/deps/npm/node_modules")
        for name, is_there in {"ajv": True, "@langchain/core": True, "supergateway": True, "@langchain/mcp-adapters": False}.items():
            equal(os.path.isdir(os.path.join(there, name)), is_there, name)
    with world(*RUN, NPM_REFUSES="install") as machine:  # the registry cannot be reached
        for name in "npm", "node":
            machine.stand_in(name)
        equal(machine.run("setup", "test").status, 0)
        equal(len(machine.calls("npm", " install ")), 4, "attempts: all, and three alone")


@test
def without_npm_its_packages_are_left_out_in_one_sentence():
    with world(*RUN) as machine:
        answer = machine.run("setup", "deb")
        equal(answer.status, 0, answer.err)
        expect("there is no npm: what needs uplot@" in answer.err and "this failed" not in answer.err, answer.err)


@test
def lists_of_packages_that_are_too_old_are_renewed():
    """The lists are those of this machine: if they are older than a day, they are renewed before the first attempt."""
    with world(*[name for name in RUN if name != "gcc"], NO_PACKAGE="gcc") as machine:
        equal(machine.run("setup", "run").status, 1)
        equal(len(machine.calls("apt-get", " update")), 1, "updates")
        expect(len(machine.installed()) in (1, 2) and "update" not in machine.calls("apt-get")[-1], machine.calls("apt-get"))


# ---- Building ------------------------------------------------------------------------------------

@test
def a_build_installs_configures_and_compiles_and_the_next_one_is_silent():
    with world() as machine:
        machine.write("todo", "3")
        answer = machine.run("build")
        equal(answer.status, 0, answer.err)
        expect("mishap: compiling 3 files; packages of services are being installed (once)" in answer.err, answer.err)
        equal([sorted(packages) for packages in machine.installed()], [sorted(RUN), sorted(SERVICES)])
        # The program is configured without waiting for the services, and again with them.
        configured = [call.split()[:2] for call in machine.calls() if call.startswith("meson ")]
        equal(configured, [["meson", "setup"], ["meson", "configure"], ["meson", "setup"]])
        equal(machine.run("build"), Answer(0, "", ""))
        equal(len(machine.calls("--reconfigure")), 1)


@test
def a_package_that_appears_later_is_noticed_once():
    with world(*RUN, FAKE_UID="1000") as machine:
        equal(machine.run("build").status, 0)
        before = len(machine.calls("--reconfigure"))
        machine.has("sbcl")
        equal(machine.run("build").status, 0)
        equal(len(machine.calls("--reconfigure")), before + 1)
        equal(machine.run("build").status, 0)
        equal(len(machine.calls("--reconfigure")), before + 1)


@test
def without_services_nothing_is_installed_for_them():
    with world() as machine:
        equal(machine.run("build", SERVICES="no").status, 0)
        equal([sorted(packages) for packages in machine.installed()], [sorted(RUN)])


@test
def an_error_of_the_compiler_is_shown():
    with world(*RUN, FAKE_UID="1000", NINJA_SAYS="@1 2 1.0 Compiling a.c\nFAILED: b.c.o\\ngcc b.c\\nb.c:1: error: nonsense\\n") as machine:
        answer = machine.run("build")
        equal(answer.status, 1)
        expect("b.c:1: error: nonsense" in answer.err and "build.log" in answer.err and "@1" not in answer.err, answer.err)


@test
def a_build_elsewhere_leaves_the_tree_alone():
    with world(*RUN, FAKE_UID="1000") as machine:
        elsewhere = os.path.join(machine.folder, "else where")
        equal(machine.run("build", BUILD=elsewhere).status, 0)
        expect(os.path.exists(os.path.join(elsewhere, "build.ninja")), os.listdir(elsewhere))
        equal(os.listdir(machine.tree), ["scripts"])


def mounted(script):
    """The words before a command for which something else is mounted. The programs of the machine are not in its path."""
    mount, unshare = shutil.which("mount") or "", shutil.which("unshare") or ""
    enter = [unshare, "-m", "/bin/sh", "-ec", script.replace("mount ", mount + " ") + '; exec "$@"', "sh"]
    if os.geteuid() != 0 or not (mount and unshare):
        raise Skipped("only root can mount")
    tried = subprocess.run([*enter[:-1], "sh", "/bin/true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    if tried.returncode != 0:
        raise Skipped("nothing can be mounted here: " + tried.stderr.decode("utf-8", "replace").strip()[-200:].replace("\n", " "))
    return enter


@tests_of({"64 files": lambda: [shutil.which("prlimit"), "--nofile=64:64"],
           "a /tmp that is noexec": lambda: mounted("mount -t tmpfs -o noexec none /tmp"),
           "a locale that is not UTF-8, which is not there": lambda: [shutil.which("env"), "LC_ALL=de_DE.ISO-8859-1"]})
def a_build_works_with(enter):
    with world(*[name for name in RUN if name not in ("libyyjson-dev", "libllhttp-dev")], folder_in="/var/tmp", FAKE_UID="1000") as machine:
        machine.is_debian("12")
        machine.write("todo", "3")
        answer = machine.run("build", enter=enter())
        equal(answer.status, 0, answer.err)
        expect("compiling 3 files" in answer.err, answer.err)
        expect(os.path.exists(os.path.join(machine.tree, "build", "deps", "lib", "libyyjson.a")), "there is no yyjson")


@test
def a_read_only_tree_is_one_sentence_and_a_build_elsewhere_works():
    with world(*RUN, FAKE_UID="1000") as machine:
        enter = mounted("mount --bind '%s' '%s'; mount -o remount,bind,ro '%s'" % ((machine.tree,) * 3))
        answer = machine.run("build", enter=enter)
        equal(answer.status, 1)
        one_sentence(answer, "cannot be written", "BUILD=DIR")
        elsewhere = os.path.join(machine.folder, "else where")
        answer = machine.run("build", enter=enter, BUILD=elsewhere)
        equal(answer.status, 0, answer.err)
        expect(os.path.exists(os.path.join(elsewhere, "build.ninja")), os.listdir(elsewhere))


@test
def a_data_folder_that_cannot_be_written_is_one_sentence():
    with world() as machine:
        answer = machine.run("run", DATA="/proc/mishap")
        equal((answer.status, answer.out), (1, ""))
        one_sentence(answer, "/proc/mishap cannot be written", "DATA=DIR")


@test
def after_ctrl_c_the_next_build_waits_for_what_still_runs():
    def start():
        # A process that was started in the background may ignore Ctrl-C, and bash cannot change that.
        return subprocess.Popen([os.path.join(machine.tree, "scripts", "build")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env=machine.environment(), start_new_session=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def says(build, words):
        return any(words in line for line in build.stderr)

    with world(*[name for name in RUN if name not in ("libyyjson-dev", "libllhttp-dev")], FAKE_UID="1000") as machine:
        machine.is_debian("12")
        hold = os.path.join(machine.folder, "hold")
        machine.write("hold", "")  # the compiler works on yyjson until this is gone
        try:
            with start() as first:
                expect(says(first, b"compiling yyjson"), "yyjson is not compiled")
                until = time.monotonic() + PATIENCE
                while not os.path.exists(os.path.join(machine.folder, "holding")) and time.monotonic() < until:
                    time.sleep(0.02)
                os.killpg(first.pid, signal.SIGINT)
                expect(says(first, b"mishap: interrupted; the next `make` continues from here"), "nothing is said about the interruption")
                equal(first.wait(PATIENCE), 130, "exit code")
            with start() as second:
                expect(says(second, b"waiting for another set-up"), "the second set-up does not wait")
                os.remove(hold)
                said = second.stderr.read()
                equal(second.wait(PATIENCE), 0, said)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(hold)


@test
def a_terminal_shows_how_far_it_is():
    with world() as machine:
        machine.write("todo", "3")
        ours, theirs = open_terminal()
        build = subprocess.Popen([os.path.join(machine.tree, "scripts", "build")], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                                 env=machine.environment(), start_new_session=True)
        os.close(theirs)
        shown = b"".join(read_terminal(ours))
        equal(build.wait(PATIENCE), 0, shown)
        for words in b"fetching 2 of 13", b"setting up 3 of 13", b"compiling: 2 of 3 files, about ":
            expect(words in shown, words, "is not in", shown)
        expect(b"\n" not in shown, "a line stays in", shown)


@test
def a_terminal_shows_the_seconds_of_a_long_stage():
    with world(*[name for name in RUN if name != "libyyjson-dev"], FAKE_UID="1000") as machine:
        machine.is_debian("12")
        machine.write("hold", "")
        ours, theirs = open_terminal()
        setup = subprocess.Popen([os.path.join(machine.tree, "scripts", "setup"), "run"], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                                 env=machine.environment(), start_new_session=True)
        os.close(theirs)
        shown = b""
        for piece in read_terminal(ours):
            shown += piece
            if b"compiling yyjson (once), " in shown:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(machine.folder, "hold"))
        equal(setup.wait(PATIENCE), 0, shown)
        expect(b"compiling yyjson (once), " in shown, "no seconds in", shown)
        expect(b"\n" not in shown, "a line stays in", shown)


main()
