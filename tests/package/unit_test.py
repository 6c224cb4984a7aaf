"""debian/mishap.service: how much it leaves open, and that the sandbox works under it; and that `mishap doctor` names the option of a unit
that costs a layer.

    MISHAP_PROGRAM=… PLACE_PROGRAM=… python3 tests/package/unit_test.py [PART-OF-A-NAME]

No unit is started, so systemd need not be the first process: its filter of system calls is made by tests/places/place.c from the sets that
`systemd-analyze syscall-filter` lists, for a user without capabilities. Speaks TAP.
"""
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "places")]
import profiles  # noqa: E402
from blackbox import PATIENCE, Skipped, equal, expect, main, parsed, test, tests_of  # noqa: E402

UNIT = os.path.join(TREE, "debian", "mishap.service")
MOST_EXPOSURE = 3.0
STRANGER = 54321
NAMESPACES = {"mounts", "processes", "network", "ipc", "host", "users"}
EPERM = 1

# ---- A copy of the program that every user can reach -----------------------------------------------

FOLDER = tempfile.mkdtemp(prefix="unit-", dir="/var/tmp")
os.chmod(FOLDER, 0o755)
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def stage(source, name):
    target = os.path.join(FOLDER, name)
    if os.path.exists(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
        os.chmod(target, 0o755)
    return target


BUILT = os.path.dirname(os.path.abspath(os.environ["MISHAP_PROGRAM"]))
MISHAP = stage(os.path.abspath(os.environ["MISHAP_PROGRAM"]), "mishap")
PLACE = stage(os.path.abspath(os.environ["PLACE_PROGRAM"]), "place")
for part in ("lisp/mishap-lisp.core", "python/mishap-python", "symbolic/mishap-symbolic"):
    stage(os.path.join(BUILT, "services", part), "services/" + part)

# ---- The filter of a unit ------------------------------------------------------------------------


def options(name):
    """What the unit says under a name, all lines together."""
    with open(UNIT, encoding="utf-8") as file:
        return " ".join(re.findall(r"^%s=(.*)$" % name, file.read(), re.M)).split()


def analyze(*words):
    if not shutil.which("systemd-analyze"):
        raise Skipped("there is no systemd-analyze (package systemd)")
    return subprocess.run(["systemd-analyze", "--no-pager", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                          check=False, env=dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="200"))


def calls_of(names):
    """The system calls that are meant by names of calls and of sets; sets contain others."""
    found = set()
    for name in names:
        if not name.startswith("@"):
            found.add(name)
            continue
        listed = analyze("syscall-filter", name)
        if listed.returncode != 0:
            raise Skipped("systemd-analyze does not know the set %s" % name)
        lines = [line.strip() for line in listed.stdout.decode().splitlines()[1:]]
        found |= calls_of([line for line in lines if line and not line.startswith("#")])
    return found


def allowing(names):
    """Rules that allow these calls alone, with the families of sockets and the personality that the unit leaves."""
    families = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
    rules = ["otherwise %d" % EPERM]
    rules += ["allow " + name for name in sorted(calls_of(["@default", *names]) - {"socket", "personality"})]
    rules += ["allow socket 0 EQ %d 0" % families[name] for name in options("RestrictAddressFamilies")]
    return rules + ["allow personality 0 EQ %d 0" % number for number in (0, 0xFFFFFFFF)]


def doctor(rules, **env):
    """What the doctor finds behind these rules, as an ordinary user."""
    words = []
    if os.geteuid() == 0:
        words += ["setpriv", "--reuid=%d" % STRANGER, "--regid=%d" % STRANGER, "--clear-groups"]
    if rules:
        path = os.path.join(FOLDER, "rules")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(rules) + "\n")
        words += [PLACE, path]
    done = subprocess.run([*words, MISHAP, "doctor", "--output", "json", "--trial-seconds", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=2 * PATIENCE, cwd="/", check=False,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent", "MISHAP_LOG": "/dev/null", **env})
    expect(done.stdout, "the doctor said nothing:", done.returncode, done.stderr)
    data = parsed(done.stdout)["data"]
    data["lost"] = {row["layer"] for row in data["sandbox"] if not row["offered"]}
    return data


IN_A_UNIT = {"INVOCATION_ID": "0123456789abcdef0123456789abcdef"}
BARE = doctor([])  # what this machine offers to such a user without a filter

# ---- The unit --------------------------------------------------------------------------------------


@test
def the_unit_leaves_little_open():
    done = analyze("security", "--offline=yes", UNIT)
    if b"unrecognized option" in done.stderr:
        raise Skipped("this systemd-analyze cannot judge a file")
    found = re.search(r"Overall exposure level for mishap.service: ([0-9.]+)", done.stdout.decode())
    expect(found and float(found[1]) <= MOST_EXPOSURE, "the exposure should be at most", MOST_EXPOSURE, done.stdout.decode()[-200:], done.stderr)


# What the unit says of itself in docs/packages.md and in its comments. tests/package/packages_test.py tries some of it under systemd.
HARDENED = """DynamicUser=yes StateDirectory=mishap StateDirectoryMode=0700 LogsDirectory=mishap LogsDirectoryMode=0700 UMask=0077 CapabilityBoundingSet=
AmbientCapabilities= NoNewPrivileges=yes RestrictSUIDSGID=yes ProtectSystem=strict ProtectHome=yes PrivateTmp=yes PrivateMounts=yes PrivateDevices=yes
DevicePolicy=closed ProtectProc=invisible ProtectClock=yes ProtectKernelLogs=yes ProtectKernelModules=yes ProtectKernelTunables=yes LockPersonality=yes
RestrictRealtime=yes SystemCallArchitectures=native SystemCallErrorNumber=EPERM DelegateSubgroup=server"""


@test
def the_unit_is_as_hard_as_it_was():
    with open(UNIT, encoding="utf-8") as file:
        lines = file.read().splitlines()
    equal([line for line in HARDENED.split() if line not in lines], [], "lines that the unit lacks")
    equal(options("RestrictAddressFamilies"), ["AF_UNIX", "AF_INET", "AF_INET6"], "families of sockets")
    equal(options("SystemCallFilter"), "@system-service @mount seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self sethostname setdomainname".split(),
          "system calls")


@test
def the_unit_says_nothing_that_costs_a_layer():
    for name in ("RestrictNamespaces", "MemoryDenyWriteExecute", "ProtectHostname", "ProtectControlGroups"):
        equal(options(name), [], name)
    equal(options("CapabilityBoundingSet"), [], "capabilities")
    equal(options("SystemCallErrorNumber"), ["EPERM"], "what is refused ends no process")
    expect("yes" in options("DynamicUser") and "mishap" in options("StateDirectory"), "the user and the folder")


@test
def the_sandbox_and_the_services_work_under_the_filter_of_the_unit():
    data = doctor(allowing(options("SystemCallFilter")), **IN_A_UNIT)
    equal(data["lost"], BARE["lost"], "the layers that are lost")
    states = {row["service"]: row["state"] for row in data["trials"]}
    equal(states, {row["service"]: row["state"] for row in BARE["trials"]}, "the services")
    # What the machine itself does not have, such as namespaces in a chroot, looks the same as what the unit takes away.
    costs = {option for option, layers in {"Delegate=": {"groups"}, "RestrictNamespaces=": NAMESPACES}.items() if layers & data["lost"]}
    equal({row["option"] for row in data["unit"]["options"]}, costs, "options that cost something")


# ---- Options that cost a layer ---------------------------------------------------------------------

NO_CODE = ["otherwise 0", "refuse 1 mmap 2 MASKED_EQ 6 6", "refuse 1 mprotect 2 MASKED_EQ 4 4", "refuse 1 pkey_mprotect 2 MASKED_EQ 4 4"]
FILTER, HOST = "SystemCallFilter=", "SystemCallFilter=, ProtectHostname="


@tests_of({
    "no namespaces": (lambda: profiles.PROFILES["no namespaces"], {"RestrictNamespaces=": NAMESPACES}),
    "only @system-service": (lambda: allowing(["@system-service"]), {FILTER: {"mounts"}, HOST: {"host"}}),
    "@system-service before systemd 254": (lambda: profiles.PROFILES["system-service 252"], {FILTER: {"seccomp", "landlock", "mounts"}}),
    "no Landlock": (lambda: ["otherwise 0"] + profiles.refuse(profiles.LANDLOCK), {FILTER: {"landlock"}}),
    "no host name": (lambda: ["otherwise 0"] + profiles.refuse(["sethostname", "setdomainname"]), {HOST: {"host"}}),
    "no code that is made at run time": (lambda: NO_CODE, {"MemoryDenyWriteExecute=": {"lisp"}}),
})
def the_doctor_names_the_option(rules, expected):
    data = doctor(rules(), **IN_A_UNIT)
    costs = {}
    for row in data["unit"]["options"]:
        expect(row["advice"], "no advice:", row)
        costs.setdefault(row["option"], set()).update(row["costs"])
    for option, layers in expected.items():
        expect(layers - BARE["lost"] <= costs.get(option, set()), option, "should cost", layers, "and the doctor says", costs)
    lost = data["lost"] - BARE["lost"]
    expect(lost <= set().union(*costs.values()), "layers without an option:", lost, costs)


@test
def without_a_unit_no_option_is_named():
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        if ".service" in file.read():
            raise Skipped("this test runs in a unit of systemd")
    equal(BARE["unit"], None, "the unit")
    equal(doctor(profiles.PROFILES["no namespaces"])["unit"], None, "a filter that is not of a unit")


main()
