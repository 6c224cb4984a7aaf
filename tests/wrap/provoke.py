#!/usr/bin/env python3
"""Lets real programs fail and records what they print: the corpus by which `mishap wrap` is judged.

    provoke.py --record FILE [--set SET] [--only GLOB]…   record, as JSON lines (--keep: other lines stay)
    provoke.py --check FILE  [--set SET] [--only GLOB]…   provoke again: does each case still end as recorded?
    provoke.py --list        [--set SET]                  the names, programs and labels

Each program really runs, in namespaces of its own (network with the loopback alone, mounts, processes, host name), beside the servers
of servers.py and a PostgreSQL, with an empty HOME, in an empty folder, LANG=C.UTF-8, standard input empty, and 20 s at most. It needs
root for the namespaces (else it says so and ends with 77). A program that is not installed is named and its cases are left out.

A line of a recording:

    name      unique                                   program   the base name of argv[0]
    argv      the command                              version   the first line of its --version
    exit      the exit code; null after a signal       signal    the number of the signal, or null
    stderr    its last 8 KB                            stdout    its last 2 KB
    code      the code of the catalog that tells what the failure means for the one who ran the command; null for an answer
    also      codes that are just as right             answer    true: the exit is an answer (grep without a match), no failure
    retry     whether the same command, unchanged, can work later: true, false; null where both can be defended

The labels are given by the meaning of each failure, without a look at rules; labels.py has the groups. Everything happens in /mnt/dir (a
tmpfs of the namespace), so paths and ports are the same on each machine; what is left of the machine is replaced in `clean`.
"""
import argparse
import contextlib
import fnmatch
import importlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "store")]
sys.dont_write_bytecode = True

from labels import CASES  # noqa: E402  (the path is set above)

TOP, DIR, HOME = "/mnt", "/mnt/dir", "/mnt/home"
LIMIT, STDERR, STDOUT = 20, 8192, 2048
PLAIN = 65534  # the ordinary user
SETS = {"first": ["files", "archives", "network", "vcs", "code", "scripts", "data", "packages", "containers", "answers"],
        "second": ["other_tools", "other_network", "other_code", "other_data"],
        "third": ["later_tools", "later_network", "later_code", "later_data"],
        "fourth": ["latest_tools", "latest_code"], "fifth": ["newest"]}
PATH = "/mnt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(case):
    base = {"PATH": PATH, "HOME": HOME if not case.user else "/mnt/plain", "LANG": "C.UTF-8", "TMPDIR": "/mnt/tmp", "USER": "user",
            "LOGNAME": "user", "SHELL": "/bin/sh", "TERM": "dumb", "PGHOST": "/mnt/database", "PGUSER": "role", "PGCONNECT_TIMEOUT": "5",
            "DOCKER_HOST": "unix:///mnt/docker.sock", "PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "NPM_CONFIG_GLOBALCONFIG": "/mnt/npmrc", "NPM_CONFIG_UPDATE_NOTIFIER": "false", "NPM_CONFIG_FETCH_RETRIES": "0",
            "GIT_CONFIG_NOSYSTEM": "1", "CARGO_NET_RETRY": "0", "GH_NO_UPDATE_NOTIFIER": "1", "CARGO_TERM_COLOR": "never"}
    base.update(case.env)
    return {name: value for name, value in base.items() if value is not None}


def command(case):
    """The case's command, as the ordinary user if it wants that."""
    if not case.user:
        return case.argv
    return ["setpriv", "--reuid=%d" % PLAIN, "--regid=%d" % PLAIN, "--clear-groups", "--no-new-privs", "--", *case.argv]


def fresh_folder():
    for folder in (DIR, HOME, "/mnt/plain", "/mnt/tmp"):
        subprocess.run(["umount", "-q", "-l", folder + "/small", folder + "/readonly"], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        os.chmod(folder, 0o777)


def prepare(case):
    """Runs the set-up; the process group of what it left running is returned."""
    fresh_folder()
    if not case.setup:
        return None
    with open("/mnt/setup.log", "w+b") as log:
        done = subprocess.Popen(["bash", "-e", "-c", "umask 022\n" + case.setup], cwd=DIR, env=environment(case), stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, start_new_session=True)
        if done.wait(60):
            log.seek(0)
            raise RuntimeError("set-up of %s: %s" % (case.name, log.read().decode("utf-8", "replace")[-600:]))
    return done.pid


def end_group(group, how=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, how)


def limits_of(case):
    def apply():
        for name, value in case.limits.items():
            number = getattr(resource, "RLIMIT_" + name.upper())
            resource.setrlimit(number, (value, value))
    return apply if case.limits else None


def run(case):
    """(status, stderr, stdout); the status as wait gives it: negative for a signal."""
    group = prepare(case)
    try:
        with tempfile.TemporaryFile(dir=TOP) as out, tempfile.TemporaryFile(dir=TOP) as err:
            stdin = open(os.path.join(DIR, case.stdin), "rb") if case.stdin else subprocess.DEVNULL  # noqa: SIM115
            stdout = open(case.stdout, "wb") if case.stdout else out  # noqa: SIM115
            process = subprocess.Popen(command(case), cwd=os.path.join(DIR, case.cwd), env=environment(case), stdin=stdin, stdout=stdout,
                                       stderr=err, start_new_session=True, preexec_fn=limits_of(case))
            try:
                if case.kill:
                    time.sleep(case.kill[1])
                    process.send_signal(case.kill[0])
                status = process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end_group(process.pid)
                process.wait()
            texts = []
            for file, most in ((err, STDERR), (out, STDOUT)):
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - most))
                texts.append(clean(file.read().decode("utf-8", "replace")))
            return status, texts[0], texts[1]
    finally:
        if group:
            end_group(group)


def clean(text):
    """What differs from machine to machine: folders of the programs, the random folder of the database."""
    text = re.sub(r"/root/\.rustup/toolchains/[^/\s]*", "/usr", text)
    text = re.sub(r"/mnt/pg-[^/\s\"']*", "/mnt/database", text)
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    text = re.sub(r"(\d+ CPUs) [^\n]*\(LP\)\)", r"\1)", text)
    return re.sub(r"-[0-9a-f]{16}\b", "-0123456789abcdef", text)


def version(program, known={}):
    if program not in known:
        words = {"ssh": ["-V"], "java": ["-version"], "kubectl": ["version", "--client"], "openssl": ["version"], "go": ["version"], "unzip": ["-v"],
                 "scp": [], "sftp": [], "ssh-keygen": [], "sh": [], "dash": [], "tclsh": [], "test": [], "[": [], "mawk": ["-W", "version"], "nc": [],
                 "tmux": ["-V"], "redis-cli": ["-v"], "dig": ["-v"], "zip": ["-v"], "7z": [], "awk": ["-W", "version"], "xmllint": ["--version"],
                 "ssh-keyscan": [], "ssh-add": [], "host": ["-V"], "ip": ["-V"], "javap": ["-version"], "bc": ["--version"]}.get(program, ["--version"])
        try:
            done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT,
                                  check=False, cwd=TOP, env={"PATH": PATH, "HOME": HOME, "LANG": "C.UTF-8"}) if words else None
            lines = [line for line in clean(done.stdout.decode("utf-8", "replace")).splitlines() if line.strip()] if done else []
        except (OSError, subprocess.TimeoutExpired):
            lines = []
        known[program] = lines[0].strip()[:120] if lines else ""
    return known[program]


def record(case):
    """The line of a case, or None with a reason on stderr."""
    begun = time.monotonic()
    try:
        status, err, out = run(case)
        if status is None:  # a busy machine: once more
            status, err, out = run(case)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as mistake:
        return say(case, str(mistake))
    if time.monotonic() - begun > 10:
        say(case, "took %.0f s" % (time.monotonic() - begun))
    if status is None:
        return say(case, "took longer than %d s" % LIMIT)
    if status == 0:
        return say(case, "did not fail: %r %r" % (err[-300:], out[-300:]))
    return {"name": case.name, "program": case.program, "argv": case.argv, "version": version(case.program), "exit": status if status > 0 else None,
            "signal": -status if status < 0 else None, "stderr": err, "stdout": out, "code": case.code, "also": case.also, "retry": case.retry,
            "answer": case.answer}


def say(case, text):
    print("provoke: %s: %s" % (case.name, text), file=sys.stderr, flush=True)


def installed(program):
    return shutil.which(program, path=PATH) is not None


def chosen(arguments):
    for name in SETS[arguments.set]:
        if os.path.exists(os.path.join(HERE, "cases", name + ".py")):
            importlib.import_module("cases." + name)
    CASES[:] = [case for case in CASES if case.module in SETS[arguments.set]]
    names = [case.name for case in CASES]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SystemExit("provoke: two cases have the name %s" % ", ".join(twice))
    return [case for case in CASES if not arguments.only or any(fnmatch.fnmatch(case.name, glob) for glob in arguments.only)]


def link_programs():
    """Programs that live in other folders: the Rust of rustup, an sshd that was only unpacked."""
    os.makedirs("/mnt/bin")
    for folder in sorted(os.listdir("/root/.rustup/toolchains")) if os.path.isdir("/root/.rustup/toolchains") else []:
        for name in ("cargo", "rustc"):
            target = os.path.join("/root/.rustup/toolchains", folder, "bin", name)
            if folder.startswith("stable") and os.path.exists(target):
                with contextlib.suppress(FileExistsError):
                    os.symlink(target, os.path.join("/mnt/bin", name))


def start_database():
    import postgres
    if not postgres.folder_of_programs():
        return None
    tempfile.tempdir = TOP
    cluster = postgres.Cluster(listen_addresses="127.0.0.1", max_connections=12)
    os.symlink(cluster.folder, "/mnt/database")
    cluster.guarded("right", "shop")
    with open(os.path.join(cluster.data, "pg_hba.conf"), "a", encoding="ascii") as file:
        file.write("host shop role 127.0.0.1/32 trust\nhost shop guarded 127.0.0.1/32 scram-sha-256\n")
    cluster.process.send_signal(signal.SIGHUP)
    cluster.sql("shop", "CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL, price int CHECK (price > 0))",
                "INSERT INTO item VALUES (1, 'lamp', 5)", "CREATE TABLE part (id int, item int REFERENCES item)", "INSERT INTO part VALUES (1, 1)",
                "CREATE ROLE reader LOGIN", "CREATE ROLE locked NOLOGIN")
    return cluster


def start_sshd():
    """An sshd at port 8022 that takes keys only; None where it is not installed."""
    extra = os.environ.get("WRAP_SSHD", "/usr/sbin/sshd")
    if not os.path.exists(extra):
        return None
    folder = "/mnt/sshd"
    os.makedirs(folder)
    os.makedirs("/run/sshd", exist_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder + "/key"], check=True)
    with open(folder + "/config", "w", encoding="ascii") as file:
        file.write("Port 8022\nListenAddress 127.0.0.1\nHostKey /mnt/sshd/key\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
                   "UsePAM no\nPidFile none\nStrictModes no\nAuthorizedKeysFile /mnt/sshd/keys\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n")
    with open(folder + "/log", "wb") as log:
        process = subprocess.Popen([extra, "-D", "-e", "-f", folder + "/config"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=dict(os.environ, LD_LIBRARY_PATH=os.environ.get("WRAP_LIBRARIES", "")))
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 8022), 1):
            return process
        time.sleep(0.1)
    with open(folder + "/log", encoding="utf-8") as log:
        raise RuntimeError("sshd does not start: " + log.read())


def furnish():
    """The namespace's own folders, addresses and servers."""
    def do(*words):
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    os.umask(0o022)
    do("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", TOP)
    do("ip", "link", "set", "lo", "up")
    do("ip", "route", "add", "unreachable", "198.51.100.0/24")
    do("hostname", "host")
    with open("/mnt/resolv.conf", "w", encoding="ascii") as file:
        file.write("nameserver 127.0.0.1\noptions timeout:2 attempts:1\n")
    with open("/mnt/hosts", "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost host\n")
    do("mount", "--bind", "/mnt/resolv.conf", "/etc/resolv.conf")
    do("mount", "--bind", "/mnt/hosts", "/etc/hosts")
    # Some programs (ssh) take the home folder from here, not from HOME. An sshd wants a user of its name.
    with open("/etc/passwd", encoding="utf-8") as file:
        people = re.sub(r"(?m)^(root:(?:[^:]*:){4})[^:]*", r"\1" + HOME, file.read())
    with open("/mnt/passwd", "w", encoding="utf-8") as file:
        file.write(people + ("" if "\nsshd:" in people else "sshd:x:74:65534::/run/sshd:/usr/sbin/nologin\n"))
    do("mount", "--bind", "/mnt/passwd", "/etc/passwd")
    with open("/mnt/npmrc", "w", encoding="ascii") as file:
        file.write("registry=http://127.0.0.1:8080/registry/\naudit=false\nfund=false\n")
    link_programs()
    fresh_folder()
    import servers
    return servers.start_all(TOP)


def inside(arguments):
    cases = chosen(arguments)
    held = [furnish(), None, None]
    missing = {}
    if any(case.needs == "database" for case in cases):
        held[1] = start_database()
    if any(case.needs == "sshd" for case in cases):
        held[2] = start_sshd()
    lines = []
    for case in cases:
        if not installed(case.argv[0]) and "/" not in case.argv[0] and not case.absent:
            missing.setdefault(case.argv[0], []).append(case.name)
            continue
        if case.needs in ("database", "sshd") and not held[1 if case.needs == "database" else 2]:
            missing.setdefault(case.needs, []).append(case.name)
            continue
        line = record(case)
        if line:
            lines.append(line)
        if arguments.record and len(lines) % 10 == 9:  # what is recorded survives an end before the time
            write(arguments, {each["name"]: each for each in lines})
    for program, names in sorted(missing.items()):
        print("provoke: not installed: %s (%d cases left out)" % (program, len(names)), file=sys.stderr)
    code = finish(arguments, cases, lines)
    if held[1]:
        held[1].remove()
    if held[2]:
        held[2].terminate()
    return code


def finish(arguments, cases, lines):
    if arguments.check:
        with open(arguments.check, encoding="utf-8") as file:
            old = {line["name"]: line for line in map(json.loads, file)}
        wrong = [line for line in lines if line["name"] in old and (line["exit"], line["signal"]) != (old[line["name"]]["exit"], old[line["name"]]["signal"])]
        for line in wrong:
            print("provoke: %s ends with %s now, %s when it was recorded" % (line["name"], line["exit"] or -line["signal"], old[line["name"]]["exit"]))
        print("%d provoked, %d as recorded" % (len(lines), len(lines) - len(wrong)))
        return 1 if wrong else 0
    print("%d of %d cases recorded" % (len(lines), len(cases)))
    write(arguments, {line["name"]: line for line in lines})
    return 0


def write(arguments, new):
    """The file in the order of the cases. With --keep, a case that was not recorded now keeps its old line, with the label of today."""
    old = {}
    if arguments.keep and os.path.exists(arguments.record):
        with open(arguments.record, encoding="utf-8") as file:
            old = {line["name"]: line for line in map(json.loads, file)}
    with open(arguments.record + ".new", "w", encoding="utf-8") as file:
        for case in CASES:
            line = new.get(case.name) or (old.get(case.name) if old.get(case.name, {}).get("argv") == case.argv else None)
            if line:
                line.update(code=case.code, also=case.also, retry=case.retry, answer=case.answer)
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    os.replace(arguments.record + ".new", arguments.record)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record")
    parser.add_argument("--check")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--set", choices=sorted(SETS), default="first")
    parser.add_argument("--only", action="append")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--inside", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        for case in chosen(arguments):
            print(case.name, case.program, case.code or "answer", case.retry, *case.also)
        return 0
    if not arguments.record and not arguments.check:
        parser.error("--record FILE, --check FILE or --list")
    if arguments.inside:
        return inside(arguments)
    if os.geteuid():
        print("provoke: needs root for its namespaces", file=sys.stderr)
        return 77
    for name in ("record", "check"):
        if getattr(arguments, name):
            path = os.path.abspath(getattr(arguments, name))
            sys.argv[sys.argv.index(getattr(arguments, name))] = path
    os.execvp("unshare", ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable,
                          os.path.abspath(__file__), "--inside", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
