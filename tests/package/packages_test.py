"""The Debian packages: two builds are equal, lintian has nothing to say, and in a bare Debian they are installed, used, compiled against, upgraded
and purged.

    python3 tests/package/packages_test.py [PART-OF-A-NAME]

    PACKAGES=DIR   packages that `make deb` has made for the release in CHROOT; nothing is built
    CHROOT=DIR     a bare Debian, of which a copy is used; without it debootstrap makes one of this machine's release

What is in the way is a reason to skip: no debhelper, no root, no debootstrap, no package servers. Speaks TAP.
"""
import atexit
import fnmatch
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, test  # noqa: E402
from booted import Booted  # noqa: E402
from older import VERSION, Older  # noqa: E402
from probed import PROBE, TRIED, unit_that_runs  # noqa: E402
from used import missing, script, wrong  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix="packages-", dir="/var/tmp")
os.chmod(FOLDER, 0o755)
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
BEFORE = "0.0.8"  # what an upgrade begins with; the libraries have one more between (older.py)
BUILDER = 54321  # another user
HOURS = 3600  # no command may take longer, however busy the machine
PROXIES = {name: value for name, value in os.environ.items() if re.fullmatch(r"(?i)(https?|no)_proxy", name)}


def run(*words, status=0, **more):
    """Run to the end: what it printed, both streams together."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HOURS, check=False, **more)
    text = done.stdout.decode("utf-8", "replace")
    if status is not None:
        expect(done.returncode == status, " ".join(words)[:300], "exits with", done.returncode, "and says", text[-2000:])
    return text


# ---- Building ------------------------------------------------------------------------------------

built = {}


def packages():
    """The folder with the packages, made once."""
    if "PACKAGES" in os.environ:
        return os.path.abspath(os.environ["PACKAGES"])
    if not shutil.which("dh"):
        raise Skipped("there is no debhelper")
    lacking = subprocess.run(["dpkg-checkbuilddeps"], cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if lacking.returncode:  # what set-up installs for `deb` is installed where that is possible
        raise Skipped(lacking.stderr.decode("utf-8", "replace").strip()[-150:])
    if not built:
        out = os.path.join(FOLDER, "first")
        built["said"] = run(*(offline() or ()), "make", "--no-print-directory", "deb", "OUT=" + out, cwd=TREE, env=dict(os.environ, LINTIAN=""))
        built["out"] = out
        print("# " + built["said"].strip().splitlines()[-1])
    return built["out"]


def offline():
    """What runs a command in a network of its own that has no interface but its loopback, which is down; None where that is not allowed."""
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-current-user", "--net"]
    done = subprocess.run([*words, "cat", "/proc/net/dev"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return words if done.returncode == 0 and re.findall(r"^ *(\S+):", done.stdout.decode(), re.M) == ["lo"] else None


def debs(folder):
    """Those that are for users: name of the package and path."""
    return {os.path.basename(path).split("_")[0]: path for path in glob.glob(folder + "/*.deb") if "-dbgsym_" not in path}


def digests(folder):
    found = {}
    for path in glob.glob(folder + "/*.deb"):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = hashlib.sha256(file.read()).hexdigest()
    return found


def fields(path):
    text = run("dpkg-deb", "-f", path)
    return dict(re.findall(r"^([\w-]+): (.*)$", text, re.M))


@test
def make_deb_needs_no_network():
    if "PACKAGES" in os.environ:
        raise Skipped("the packages are given")
    folder = packages()
    if not offline():
        raise Skipped("no network of its own can be made here")
    expect(len(debs(folder)) >= 4 and "processor time" in built["said"], built["said"])
    with open(os.path.join(folder, "build.log"), encoding="utf-8", errors="replace") as log:
        equal(re.findall(r"(?i).*\b(?:could not resolve|name resolution|network is unreachable|failed to download|downloading)\b.*", log.read()), [], "tries to reach a network")


@test
def lintian_has_nothing_to_say():
    folder = packages()
    if not shutil.which("lintian"):
        raise Skipped("there is no lintian")
    if "PACKAGES" in os.environ:
        run("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", *sorted(debs(folder).values()))
    else:
        expect("processor time" in built["said"] and not re.search(r"^[EW]: ", built["said"], re.M), built["said"])


@test
def a_build_elsewhere_by_another_user_is_equal():
    if "PACKAGES" in os.environ:
        raise Skipped("the packages are given")
    first = packages()
    if os.geteuid() != 0:
        raise Skipped("only root can become another user")
    tree, out = os.path.join(FOLDER, "another", "place"), os.path.join(FOLDER, "second")
    os.makedirs(tree)
    os.makedirs(out)
    files = run("git", "-C", TREE, "ls-files").splitlines() if os.path.exists(os.path.join(TREE, ".git")) else ["."]
    with open(os.path.join(FOLDER, "files"), "w", encoding="utf-8") as list_of_files:
        list_of_files.write("\n".join(name for name in files if name == "." or os.path.lexists(os.path.join(TREE, name))) + "\n")
    run("sh", "-ec", 'tar -C "$1" -T "$2" --exclude=./build -c | tar -C "$3" -x', "sh", TREE, os.path.join(FOLDER, "files"), tree)
    for part in ("lib", "include", "npm/node_modules/uplot"):
        source = os.path.join(TREE, "build/deps", part)
        if os.path.exists(source):
            shutil.copytree(source, os.path.join(tree, "build/deps", part))
    run("chown", "-R", "%d:%d" % (BUILDER, BUILDER), os.path.join(FOLDER, "another"), out)
    run("unshare", "--uts", "--net", "sh", "-ec", 'hostname elsewhere; exec "$@"', "sh", "setpriv", "--reuid=%d" % BUILDER, "--regid=%d" % BUILDER, "--clear-groups", "sh", "-c", 'umask 077; exec "$@"', "sh",
        os.path.join(tree, "scripts", "deb"), cwd=tree, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OUT": out, "LINTIAN": "no", "HOME": "/nonexistent",
                                                           "LANG": "C", "TZ": "Pacific/Auckland"})
    ours, theirs = digests(first), digests(out)
    expect(len(ours) >= 4, "the packages:", list(ours))
    with open(os.path.join(first, "build.log"), encoding="utf-8", errors="replace") as log:
        expect("[-Wdate-time]" not in log.read(), "the date of the build is in a program")
    equal(theirs, ours, "the packages that are made elsewhere")
    shutil.rmtree(os.path.join(FOLDER, "another"))


@test
def the_packages_depend_on_what_they_need_and_no_more():
    found = {name: fields(path) for name, path in debs(packages()).items()}
    expect({"mishap", "mishap-services", "libmishap0", "libmishap-dev", "python3-mishap", "mishap-doc", "libnginx-mod-http-mishap"} <= set(found), "the packages:", list(found))
    expect("libpython" not in found["mishap"]["Depends"], "the program pulls in Python:", found["mishap"]["Depends"])
    expect(re.search(r"sbcl \(>= ", found["mishap-services"]["Depends"]), found["mishap-services"]["Depends"])
    expect("python3" in found["libmishap-dev"]["Depends"], "mishap-catalog is Python:", found["libmishap-dev"]["Depends"])
    expect(re.search(r"(^|, )nginx-abi-[\d.]+-\d+(,|$)", found["libnginx-mod-http-mishap"]["Depends"]), "the nginx that it fits:", found["libnginx-mod-http-mishap"])
    equal(len({row["Version"] for row in found.values()}), 1, "versions")


# What users of a package count on. `*` is one name, and LIB the folder of libraries of a processor.
FILES = {
    "mishap": "bin/mishap share/man/man1/mishap.1.gz share/man/man1/mishap-wrap.1.gz share/man/man1/mishap-connect.1.gz share/man/man1/mishap-[!c]*.1.gz "
              "share/man/man1/mishap-c[!a]*.1.gz share/man/man7/mishap-codes.7.gz share/bash-completion/completions/mishap "
              "share/fish/vendor_completions.d/mishap.fish share/zsh/vendor-completions/_mishap lib/systemd/system/mishap.service",
    "mishap-services": "LIB/mishap/mishap-python LIB/mishap/mishap-symbolic share/mishap/lisp/*.lisp",
    "libmishap0": "LIB/libmishap.so.0 LIB/libmishap.so.0.*",
    "libmishap-dev": "bin/mishap-catalog include/mishap/*.h include/mishap/*.hpp LIB/libmishap.so LIB/libmishap.a LIB/libmishap-program.a LIB/libmishap-store.a "
                     "LIB/pkgconfig/mishap.pc LIB/pkgconfig/mishap-core.pc LIB/pkgconfig/mishap-program.pc LIB/pkgconfig/mishap-store.pc "
                     "share/cmake/mishap/MishapConfig.cmake share/cmake/mishap/MishapConfigVersion.cmake share/man/man1/mishap-catalog.1.gz "
                     "share/man/man3/*.3.gz share/mishap/codes.txt share/mishap/mishap-codes.schema.json share/mishap/mishap-codes.ts",
    "libnginx-mod-http-mishap": "lib/nginx/modules/ngx_http_mishap_module.so share/nginx/modules-available/mod-http-mishap.conf",
    "python3-mishap": "lib/python3/dist-packages/mishap/* lib/python3/dist-packages/mishap-*/*",
    "mishap-doc": "share/doc/mishap/*",
}


@test
def a_package_has_its_files_and_no_others():
    for name, path in debs(packages()).items():
        listed = re.findall(r"^[-lh]\S+ .*? \./(\S+)", run("dpkg-deb", "-c", path), re.M)
        files = {re.sub(r"^lib/[^/]+-linux-\w+/", "LIB/", re.sub(r"^usr/", "", file)) for file in listed}
        patterns = FILES[name].split()
        others = "share/doc/%s/changelog.gz share/doc/%s/changelog.Debian.gz share/doc/%s/copyright share/lintian/overrides/%s".replace("%s", name).split()
        for pattern in patterns:
            expect(fnmatch.filter(files, pattern), name, "has no", pattern, sorted(files))
        equal([file for file in sorted(files) if not any(fnmatch.fnmatch(file, pattern) for pattern in patterns + others)], [], "files of " + name)
    with open(os.path.join(TREE, "src/mishap/libmishap.map"), encoding="utf-8") as file:
        functions = re.findall(r"^\s+(mishap_\w+);", file.read(), re.M)
    pages = re.findall(r"/man3/(\w+)\.3\.gz", run("dpkg-deb", "-c", debs(packages())["libmishap-dev"]))
    equal(sorted(set(functions) - set(pages) - {"mishap_code_table"}), [], "functions without a manual page")


# ---- A bare Debian ---------------------------------------------------------------------------------

ROOT = os.path.join(FOLDER, "root")
ENTER = """mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount --rbind /sys "$0/sys"
exec chroot "$0" "$@"
"""
system = {}


def inside(*words, status=0, user=None):
    """Run a command in the bare system, with /proc, /dev and /sys. Nothing stays mounted."""
    become = ["setpriv", "--reuid=%d" % user, "--regid=%d" % user, "--clear-groups"] if user else []
    env = dict(PROXIES, PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME="/root" if not user else "/home/user", LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")
    return run("unshare", "-m", "sh", "-ec", ENTER, ROOT, *become, *words, status=status, env=env)


def apt(*words):
    return inside("apt-get", "-q", "-y", "-o", "Dpkg::Use-Pty=0", "-o", "APT::Sandbox::User=root", *words)


def make_bare_system():
    """Debian of this machine's release, with the package servers that this machine uses."""
    if not shutil.which("debootstrap"):
        raise Skipped("there is no debootstrap, and CHROOT names no bare system")
    with open("/etc/os-release", encoding="utf-8") as file:
        suite = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)[1]
    sites = run("apt-get", "indextargets", "--format", "$(SITE)").split()
    mirrors = [site for site in sites if "security" not in site]
    if not mirrors:
        raise Skipped("this machine has no package servers")
    done = subprocess.run(["debootstrap", "--variant=minbase", suite, ROOT, max(set(mirrors), key=mirrors.count)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HOURS, check=False)
    if done.returncode:
        raise Skipped("debootstrap: " + done.stdout.decode("utf-8", "replace").strip()[-150:].replace("\n", " "))
    os.remove(os.path.join(ROOT, "etc/apt/sources.list"))
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*"), *glob.glob("/etc/apt/apt.conf.d/*"), "/etc/resolv.conf",
                 "/etc/ssl/certs/ca-certificates.crt"]:
        if os.path.isfile(path):
            os.makedirs(os.path.dirname(ROOT + path), exist_ok=True)
            shutil.copy(path, ROOT + path)


def bare_system():
    """A bare system with the packages in /packages, once; and in /before the same with a lower version."""
    if "skipped" in system:
        raise Skipped(system["skipped"])
    if not system:
        try:
            folder = packages()
            if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
                raise Skipped("only root can make a bare system and enter it")
            if "CHROOT" in os.environ:
                run("cp", "-a", "--reflink=auto", os.environ["CHROOT"], ROOT)
            else:
                make_bare_system()
            update = inside("apt-get", "-q", "update", status=None)
            write_inside("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n")  # nothing is started that is installed
            os.chmod(ROOT + "/usr/sbin/policy-rc.d", 0o755)
            if not glob.glob(ROOT + "/var/lib/apt/lists/*_Packages*"):
                raise Skipped("the package servers cannot be reached: " + update.strip()[-150:].replace("\n", " "))
        except Skipped as reason:
            system["skipped"] = str(reason)
            raise
        for name, path in debs(folder).items():
            os.makedirs(ROOT + "/packages", exist_ok=True)
            shutil.copy(path, ROOT + "/packages/")
            lower_version(path, ROOT + "/before", name)
        system["names"] = sorted(debs(folder))
    return system


def lower_version(path, folder, name):
    """The same package, made again with a lower version: what an upgrade begins with."""
    work = os.path.join(FOLDER, "lower", name)
    os.makedirs(folder, exist_ok=True)
    os.makedirs(os.path.dirname(work), exist_ok=True)
    run("dpkg-deb", "-R", path, work)
    control = os.path.join(work, "DEBIAN", "control")
    with open(control, encoding="utf-8") as file:
        text = file.read()
    version = re.search(r"^Version: (.*)$", text, re.M)[1]
    with open(control, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?<=[ =])%s(?=[)\n])" % re.escape(version), BEFORE, text))
    run("dpkg-deb", "-Znone", "-b", work, folder)
    shutil.rmtree(work)


def installed_version(name):
    return inside("dpkg-query", "-W", "-f", "${Version}", name)


def answer_of(*words, status=0, user=None):
    """What a command answers, as JSON; the line that is an object."""
    text = inside(*words, "--output", "json", status=status, user=user)
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


@test
def they_can_be_installed_in_a_bare_system():
    names = bare_system()["names"]
    apt("install", "--no-install-recommends", *["/before/" + os.path.basename(path) for path in glob.glob(ROOT + "/before/*.deb")])
    for name in names:
        equal(installed_version(name), BEFORE, name)


@test
def every_command_of_an_installed_program_can_be_used():
    bare_system()
    manifest = json.loads(inside("mishap", "manifest"))
    for name in (manifest.get("data") or manifest)["commands"]:
        text = inside("mishap", *name.split("."), "--help")
        expect("Usage: mishap" in text, name, text[:300])
    doctor = answer_of("mishap", "doctor", "--trial-seconds", "60")
    equal({row["service"]: row["state"] for row in doctor["data"]["trials"]}, {"lisp": "works", "python": "works", "symbolic": "works"}, "the services")
    for row in doctor["data"]["programs"]:
        if row["name"].startswith("mishap-"):
            expect(re.fullmatch(r"/usr/lib/[\w-]+/mishap/mishap-[\w.]+", row["path"]), "a part is elsewhere:", row)


@test
def installed_commands_answer():
    bare_system()
    inside("mkdir", "-p", "/home/user")
    inside("chown", "54321:54321", "/home/user")
    equal(answer_of("mishap", "explain", "NOT_FOUND", user=54321)["ok"], True)
    made = answer_of("mishap", "users", "create", "--name", "Ada", "--email", "ada@example.com", user=54321)
    equal(made["data"]["name"], "Ada", "a user")
    equal(answer_of("mishap", "lisp", "evaluate", "(+ 1 2)")["data"]["values"], ["3"], "Lisp")
    found = answer_of("mishap", "symbolic", "find", "def f(n: int): return 1 // n", "f", "ArithmeticError")
    equal(found["data"]["triggering_inputs"][0]["args"], {"n": 0}, "a proof")
    equal(answer_of("mishap", "scan", "/etc/os-release")["ok"], True)
    equal(answer_of("mishap", "health", status=12)["error"]["code"], "CONNECTION_REFUSED", "no server runs")
    expect("usage" in inside("mishap-catalog", "--help").lower(), "mishap-catalog")
    code = "import mishap; print(mishap.Mishap('NOT_FOUND', 'There is no book 7.').render())"
    equal(json.loads(inside("python3", "-c", code))["detail"], "There is no book 7.", "the module of Python")
    for page in ("man1/mishap.1", "man1/mishap-gateway.1", "man1/mishap-catalog.1", "man3/mishap_raise.3", "man7/mishap-codes.7"):
        expect(os.path.lexists("%s/usr/share/man/%s.gz" % (ROOT, page)), "no page", page)


# What docs/nginx.md says, in a network of its own: the answer to a path that does not exist, and to one that does.
FILTER = """ip link set lo up
echo 'mishap on; mishap_incidents /var/log/nginx/incidents.log;' >/etc/nginx/conf.d/mishap.conf
nginx -t
nginx -g 'daemon off;' &
python3 - <<'END'
import time, urllib.error, urllib.request
for path in ("absent", ""):
    while True:
        try:
            answer = urllib.request.urlopen("http://127.0.0.1/" + path)
        except urllib.error.HTTPError as error:
            answer = error
        except urllib.error.URLError:
            time.sleep(0.05)
            continue
        break
    print("ANSWER", answer.status, answer.headers["Content-Type"], answer.read().decode().split("\\n")[0])
END
kill -QUIT $!
wait $!
sed 's/^/INCIDENT /' /var/log/nginx/incidents.log
rm /etc/nginx/conf.d/mishap.conf /var/log/nginx/incidents.log
"""


@test
def the_filter_works_in_the_nginx_of_the_system():
    bare_system()
    write_inside("/tmp/filter.sh", FILTER)
    said = inside("unshare", "--net", "sh", "-eu", "/tmp/filter.sh")
    answers = re.findall(r"^ANSWER (\d+) (\S+) (.*)$", said, re.M)
    equal(answers[0], ("404", "application/json", '{"error":"not_found","message":"The requested resource was not found."}'), "a path that does not exist")
    equal(answers[1][:2], ("200", "text/html"), "a path that exists")
    expect(answers[1][2].lower().startswith("<!doctype html"), "a success is changed:", said)
    equal(json.loads(re.search(r"^INCIDENT (\{.*\})$", said, re.M)[1])["code"], "NOT_FOUND", "the incident")


def programs_in(folder):
    """What a person can start: of the folders of programs, and examples."""
    listed = "".join(run("dpkg-deb", "-c", path) for path in debs(folder).values())
    return {os.path.basename(file) for file in re.findall(r"^[-lh]\S+ .*? \./((?:usr/)?(?:s?bin|games)/\S+|usr/share/doc/[^/]+/examples/\S+)", listed, re.M)}


@test
def every_command_of_every_package_is_used():
    bare_system()
    commands = answer_of("mishap", "manifest")["data"]["commands"]
    equal(missing(commands, programs_in(packages())), [], "commands and uses")
    write_inside("/tmp/uses.sh", script("/tmp/uses"))
    # libcurl is only recommended, and is not here: an audit names its package.
    audits = ("mishap audit http", "mishap audit mcp")
    lacking = tuple(name + " exits with 4 " for name in audits)
    found = wrong(inside("unshare", "--net", "sh", "/tmp/uses.sh"))
    equal([use for use in found if not use.startswith(lacking)], [], "uses that went wrong")
    equal(len(found), len(lacking), "what lacks libcurl")
    expect(all("Install the package libcurl4" in use for use in found), "the package is not named:", found)
    apt("install", "--no-install-recommends", "libcurl4")  # Debian 13 has libcurl4t64, which provides it
    write_inside("/tmp/audits.sh", script("/tmp/audits", audits))
    found = wrong(inside("unshare", "--net", "sh", "/tmp/audits.sh"))
    equal([use for use in found if use.startswith(audits)], [], "audits that went wrong with the package")


# ---- Under systemd -----------------------------------------------------------------------------------

ADD_A_KEY = ["systemd-run", "--wait", "--pipe", "--quiet", "-p", "DynamicUser=yes", "-p", "User=mishap", "-p", "StateDirectory=mishap", "-p",
             "StateDirectoryMode=0700", "-E", "MISHAP_DATA=/var/lib/mishap", "mishap", "keys", "add", "--name"]


def until_healthy(machine):
    until, said = time.monotonic() + PATIENCE, ""
    while '"healthy":true' not in said:
        expect(time.monotonic() < until, "the server is not healthy:", said, machine.said()[-1000:])
        time.sleep(0.1)
        said = machine.run("mishap", "health", "--output", "json", status=None)


def property_of(machine, name):
    return machine.run("systemctl", "show", "--value", "-p", name, "mishap").strip()


def page_of_packages():
    with open(os.path.join(TREE, "docs", "packages.md"), encoding="utf-8") as page:
        return re.sub(r"\s+", " ", page.read())


@test
def the_unit_serves_under_systemd():
    bare_system()
    apt("install", "--no-install-recommends", "systemd", "dbus")
    with Booted(ROOT) as machine:
        states = [machine.run("systemctl", word, "mishap", status=None).strip() for word in ("is-enabled", "is-active")]
        equal(states, ["disabled", "inactive"], "the unit after the installation")
        machine.run("sh", "-c", "echo 'MISHAP_OPTIONS=--listen 0.0.0.0:8080 --rate 50' >/etc/default/mishap")
        machine.run("systemctl", "start", "mishap")
        until = time.monotonic() + PATIENCE
        while property_of(machine, "ActiveState") != "failed":
            expect(time.monotonic() < until, "without a key it should not run:", property_of(machine, "ActiveState"))
            time.sleep(0.1)
        equal([property_of(machine, name) for name in ("ExecMainStatus", "NRestarts")], ["78", "0"], "the end without a key")
        expect(" ".join(ADD_A_KEY).replace(" --quiet", "") in page_of_packages(), "docs/packages.md has another command that adds a key")
        key = json.loads(machine.run(*ADD_A_KEY, "ci"))["data"]["key"]
        machine.run("systemctl", "enable", "--now", "mishap")
        until_healthy(machine)
        process = property_of(machine, "MainPID")
        status = dict(re.findall(r"^(\w+):\s*(.*)$", machine.run("cat", "/proc/%s/status" % process), re.M))
        expect(61184 <= int(status["Uid"].split()[0]) <= 65519, "no dynamic user:", status["Uid"])
        equal([status[name] for name in ("CapBnd", "CapEff", "NoNewPrivs", "Seccomp")], ["0" * 16, "0" * 16, "1", "2"], "what it may do")
        ask = "import urllib.request as u; r = u.Request('http://127.0.0.1:8080/lisp/evaluate', b'{\"code\": \"(+ 1 2)\"}', {'X-API-Key': '%s', "\
              "'Content-Type': 'application/json'}); print(u.urlopen(r, timeout=120).read().decode())" % key
        equal(json.loads(machine.run("python3", "-c", ask).splitlines()[-1])["values"], ["3"], "code of a caller in the unit")
        machine.run("systemctl", "reload", "mishap")
        until_healthy(machine)
        equal(property_of(machine, "MainPID"), process, "the process after a reload")
        machine.run("sh", "-c", "kill -9 " + process)
        until = time.monotonic() + PATIENCE
        while property_of(machine, "NRestarts") != "1":
            expect(time.monotonic() < until, "it was not started again")
            time.sleep(0.1)
        until_healthy(machine)
        machine.run("systemctl", "stop", "mishap")
        equal([property_of(machine, name) for name in ("Result", "ExecMainStatus")], ["success", "0"], "the end")
        equal(machine.run("stat", "-c", "%a", "/var/lib/private/mishap", "/var/log/private/mishap").split(), ["700", "700"], "its folders")
        until = time.monotonic() + PATIENCE
        while glob.glob(ROOT + "/var/tmp/systemd-private-*-mishap.service-*"):
            expect(time.monotonic() < until, "its temporary folder is left")
            time.sleep(0.1)
        machine.run("rm", "/etc/default/mishap")


@test
def the_sandbox_works_in_the_unit_and_the_doctor_names_what_costs_a_layer():
    bare_system()
    write_inside("/etc/systemd/system/doctor.service", unit_that_runs("/usr/bin/mishap doctor --output json --trial-seconds 60", "/var/log/doctor.json"))
    with Booted(ROOT) as machine:
        stranger = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "--bounding-set=-all"]
        bare = json.loads(machine.run(*stranger, "mishap", "doctor", "--output", "json", "--trial-seconds", "60"))["data"]
        machine.run("systemctl", "start", "doctor")
        found = json.loads(machine.run("cat", "/var/log/doctor.json"))["data"]
        lost = {row["layer"] for row in found["sandbox"] if not row["offered"]}
        lost_bare = {row["layer"] for row in bare["sandbox"] if not row["offered"]}
        equal(lost - {"groups"}, lost_bare - {"groups"}, "the layers that are lost in the unit")
        equal({row["state"] for row in found["trials"]}, {"works"}, "the services in the unit")
        equal({row["option"] for row in found["unit"]["options"]} - {"Delegate="}, set(), "options that cost something")
        costly = machine.run("systemd-run", "--wait", "--pipe", "--quiet", "-p", "DynamicUser=yes", "-p", "RestrictNamespaces=yes", "mishap", "doctor",
                             "--output", "text", status=None)
        expect(re.search(r"COSTS +RestrictNamespaces= +layers: mounts, processes, network, ipc, host, users", costly), costly[-2000:])
    for name in ("/etc/systemd/system/doctor.service", "/var/log/doctor.json"):
        os.remove(ROOT + name)


@test
def the_unit_may_write_to_its_folder_and_hardly_anything_else():
    bare_system()
    write_inside("/usr/local/bin/probe.py", PROBE % TRIED)
    write_inside("/etc/systemd/system/probe.service", unit_that_runs("/usr/bin/python3 /usr/local/bin/probe.py", "/var/log/probe"))
    with Booted(ROOT) as machine:
        machine.run("systemctl", "start", "probe")
        said = machine.run("cat", "/var/log/probe").splitlines()
    equal([line[len("could "):] for line in said if line.startswith("could ")], [next(iter(TRIED)), "umask 77"], "what it could do")
    equal(len(said), len(TRIED) + 1, "lines")
    for name in ("/usr/local/bin/probe.py", "/etc/systemd/system/probe.service", "/var/log/probe"):
        os.remove(ROOT + name)


# ---- Programs of one's own -------------------------------------------------------------------------

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(shelf C)
find_package(Mishap 0.1 REQUIRED)
add_custom_command(OUTPUT codes.h codes.c DEPENDS ${CMAKE_SOURCE_DIR}/codes.txt
  COMMAND ${Mishap_CATALOG} ${CMAKE_SOURCE_DIR}/codes.txt --header codes.h --source codes.c --include codes.h)
add_executable(shelf shelf.c ${CMAKE_BINARY_DIR}/codes.c ${CMAKE_BINARY_DIR}/codes.h)
target_include_directories(shelf PRIVATE ${CMAKE_BINARY_DIR})
target_link_libraries(shelf PRIVATE Mishap::mishap)
"""

programs = []


def write_inside(name, text):
    os.makedirs(os.path.dirname(ROOT + name), exist_ok=True)
    with open(ROOT + name, "w", encoding="utf-8") as file:
        file.write(text)


def files_of_the_page():
    with open(os.path.join(TREE, "docs", "program.md"), encoding="utf-8") as page:
        found = dict(re.findall(r"^`([\w.]+)`:\n\n```\w*\n(.*?)^```$", page.read(), re.M | re.S))
    return {name: found[name] for name in ("codes.txt", "shelf.c", "Makefile")}


def lends_a_book(program):
    """The program of the page does what the page says."""
    data = "/tmp/data-" + program.strip("/").replace("/", "-")
    env = ["env", "SHELF_DATA=" + data, "SHELF_LOG=/tmp/shelf.log", program]
    equal(answer_of(*env, "books", "lend", "dune")["data"], {"lent": "dune"}, program)
    equal(answer_of(*env, "books", "lend", "dune", status=6)["error"]["code"], "BOOK_LENT", program)
    inside("rm", "-r", data)


@test
def the_program_of_the_page_is_compiled_with_gcc_clang_and_cmake():
    bare_system()
    apt("install", "--no-install-recommends", "gcc", "g++", "libc6-dev", "clang", "make", "cmake", "pkg-config")
    for compiler in ("gcc", "clang"):
        for name, text in files_of_the_page().items():
            write_inside("/tmp/%s/%s" % (compiler, name), text)
        inside("make", "-C", "/tmp/" + compiler, "CC=" + compiler)
        programs.append("/tmp/%s/shelf" % compiler)
    for name, text in {**files_of_the_page(), "CMakeLists.txt": CMAKE}.items():
        write_inside("/tmp/cmake/" + name, text)
    inside("cmake", "-S", "/tmp/cmake", "-B", "/tmp/cmake/build")
    inside("cmake", "--build", "/tmp/cmake/build")
    programs.append("/tmp/cmake/build/shelf")
    for program in programs:
        lends_a_book(program)


# ---- Programs of the core ----------------------------------------------------------------------------

CORE = os.path.join(TREE, "tests", "core")
older = []


def what_it_always_said():
    with open(os.path.join(CORE, "old.txt"), encoding="utf-8") as file:
        return file.read().replace("exit 0\n", "")


def what_it_says(program):
    """With what the loader objects to."""
    return "".join(line.rstrip() + "\n" for line in inside(program).splitlines())


@test
def a_program_is_linked_against_an_older_library():
    bare_system()
    older.append(Older(TREE, ROOT, inside))
    older[0].install()
    for name in ("old.c", "old_codes.txt"):
        with open(os.path.join(CORE, name), encoding="utf-8") as file:
            write_inside("/tmp/core/" + name, file.read())
    inside("sh", "-ec", "cd /tmp/core && mishap-catalog old_codes.txt --header old_codes.h --source old_codes.c --include old_codes.h")
    for kind in ("-pie", "-no-pie"):
        inside("sh", "-ec", 'cd /tmp/core && gcc -Wall -Wextra -Werror -O2 "-f${1#-}" "$1" -o "core$1" old.c old_codes.c $(pkg-config --cflags --libs mishap-core)'
               .replace('"-f${1#-}"', '"-f%s"' % kind[1:]), "sh", kind)
        needed = re.findall(r"NEEDED +(\S+)", inside("objdump", "-p", "/tmp/core/core" + kind))
        equal(set(needed), {"libmishap.so.0", "libc.so.6"}, "what it needs")
        equal(what_it_says("/tmp/core/core" + kind), what_it_always_said(), kind)


# In C++; with the compilers for the program of the page.
YYJSON = """#include <mishap/bind.h>
#include <cstdio>
#include <yyjson.h>

int main(void)
{
    mishap_buffer buffer = {}, other = {};
    yyjson_doc *doc = yyjson_read("[1, {\\"a\\": 2.5}]", 15, 0);
    char *list = yyjson_write(doc, 0, NULL);
    mishap *m = mishap_tell_json(mishap_raise(NOT_FOUND, "There is no book."), mishap_text_of("list"), mishap_text_of(list));
    mishap_text text = mishap_render(mishap_dialect_find("canonical"), m, &buffer);
    mishap *failure = mishap_translate(mishap_dialect_find("canonical"), mishap_dialect_find("problem"), text, &other);
    std::printf("%x %x %.*s\\n", yyjson_version(), unsigned(YYJSON_VERSION_HEX), int(other.length), other.data);
    return failure != NULL;
}
"""
FETCH = """site=$(apt-get indextargets --format '$(SITE)' | grep -v security | head -n 1)
mkdir -p /tmp/sid/lists /tmp/sid/parts
cd /tmp/sid
echo "deb $site sid main" >list
quick="-q -o Dir::State::lists=/tmp/sid/lists -o Dir::Etc::sourcelist=/tmp/sid/list -o Dir::Etc::sourceparts=/tmp/sid/parts -o APT::Sandbox::User=root -o Acquire::Languages=none"
apt-get $quick update
apt-get $quick download libyyjson0 libyyjson-dev
for package in ./*.deb; do dpkg-deb -x "$package" .; done
"""


@test
def the_core_and_another_version_of_yyjson_are_in_one_process():
    bare_system()
    said = inside("sh", "-ec", FETCH, status=None)
    found = glob.glob(ROOT + "/tmp/sid/usr/lib/*/libyyjson.so.0")
    if not found:
        raise Skipped("the yyjson of the Debian to come cannot be fetched: " + said.strip()[-150:].replace("\n", " "))
    folder = os.path.dirname(found[0])[len(ROOT):]
    write_inside("/tmp/sid/both.cc", YYJSON)
    inside("sh", "-ec", "cd /tmp/sid && g++ -std=c++17 -Wall -Wextra -Werror -Iusr/include -o both both.cc -L%s -lyyjson $(pkg-config --cflags --libs mishap-core)" % folder)
    runs, compiled, document = inside("env", "LD_LIBRARY_PATH=" + folder, "/tmp/sid/both").split(" ", 2)
    print("# the yyjson of the program is %s" % runs)
    equal(runs, compiled, "the version of the program's yyjson")
    expect(int(runs, 16) > 0x0A00, "it is as old as the one of the core:", runs)
    expect('"list":[1,{"a":2.5}]' in document, "what the core has made:", document)


# ---- Upgrade and purge -----------------------------------------------------------------------------


@test
def old_programs_work_after_an_upgrade():
    names = bare_system()["names"]
    apt("install", "--no-install-recommends", *["/packages/" + os.path.basename(path) for path in glob.glob(ROOT + "/packages/*.deb")])
    for name in names:
        expect(installed_version(name) not in (BEFORE, VERSION), name, installed_version(name))
    for program in programs:
        lends_a_book(program)
    expect(older and "mishap_code_" + older[0].code in older[0].exported(), "the library has not changed")
    for kind in ("-pie", "-no-pie"):
        equal(what_it_says("/tmp/core/core" + kind), what_it_always_said(), "what a program says that was linked with %s before" % kind)
    equal(answer_of("mishap", "users", "list", user=54321)["data"]["items"][0]["name"], "Ada", "what was kept before")


@test
def a_purge_leaves_nothing_but_data():
    names = bare_system()["names"]
    apt("purge", *names)
    found = run("find", ROOT, "-xdev", "(", "-path", ROOT + "/packages", "-o", "-path", ROOT + "/before", "-o", "-path", ROOT + "/tmp", "-o",
                "-path", ROOT + "/proc", "-o", "-path", ROOT + "/sys", "-o", "-path", ROOT + "/dev", ")", "-prune", "-o", "-iname", "*mishap*", "-print")
    left = [path[len(ROOT):] for path in found.splitlines()]
    # Folders of systemd's PrivateTmp stay if the machine is switched off while the unit runs.
    data = re.compile(r"/(root|home/user)/\.local/|/var/(lib|log)/(private/)?mishap|/var/cache/apt/|/var/lib/apt/|/var/tmp/systemd-private-")
    equal([path for path in left if not data.match(path)], [], "files that are left")
    expect(any("/home/user/.local/" in path for path in left), "the data of a user is gone:", left)


main()
