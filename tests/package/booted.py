"""A Debian in a folder whose first process is systemd, in namespaces of its own: its processes, mounts, network and groups end with it.

    with Booted(root) as system:
        system.run("systemctl", "start", "mishap")

Needs root, namespaces, a hierarchy of cgroup 2 (which may have no controllers), and the package systemd in the folder.
"""
import os
import signal
import subprocess
import tempfile
import time

from blackbox import PATIENCE, Skipped, expect

# What systemd expects of a container's manager: file systems of the kernel, and devices without an effect on the machine.
BOOT = """mount --make-rprivate /
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch "dev/$device"; mount --bind "/dev/$device" "dev/$device"; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
pivot_root . mnt # a process below a chroot may not make namespaces of users
umount -l mnt
exec /usr/bin/env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=no --log-target=console --log-color=no
"""
ENTER = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root"]
# Units that would change the machine around it, or wait for devices.
UNITS_FOR_MACHINES = ["systemd-sysctl.service", "systemd-modules-load.service", "systemd-binfmt.service", "systemd-random-seed.service", "dev-hugepages.mount", "dev-mqueue.mount", "sys-fs-fuse-connections.mount", "sys-kernel-config.mount", "sys-kernel-debug.mount",
                      "sys-kernel-tracing.mount", "systemd-udevd.service", "systemd-networkd.service", "systemd-timesyncd.service", "console-getty.service",
                      "getty.target", "apt-daily.timer", "apt-daily-upgrade.timer"]


class Booted:
    def __init__(self, root):
        self.root, self.process, self.group, self.mounted = root, None, None, None

    def __enter__(self):
        try:
            self.enter_group()
            self.boot()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def enter_group(self):
        """A group of its own, which is the root of all groups for systemd."""
        self.mounted = tempfile.mkdtemp(prefix="groups-")
        done = subprocess.run(["mount", "-t", "cgroup2", "cgroup2", self.mounted], stderr=subprocess.PIPE, check=False)
        if done.returncode:
            os.rmdir(self.mounted)
            self.mounted = None
            raise Skipped("no hierarchy of cgroup 2 can be mounted: " + done.stderr.decode().strip()[:150])
        self.group = os.path.join(self.mounted, "mishap-test-%d" % os.getpid())
        try:
            os.mkdir(self.group)
        except OSError as error:
            self.group = None
            raise Skipped("no group of cgroup 2 can be made: %s" % error) from error

    def boot(self):
        for name in UNITS_FOR_MACHINES:
            at = os.path.join(self.root, "etc/systemd/system", name)
            if not os.path.lexists(at):
                os.symlink("/dev/null", at)
        self.log = tempfile.TemporaryFile()
        inside = 'echo $$ >"$1/cgroup.procs" && exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child sh -ec "$2" "$3"'
        self.process = subprocess.Popen(["sh", "-c", inside, "sh", self.group, BOOT, self.root], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        until, state = time.monotonic() + PATIENCE, ""
        while state not in ("running", "degraded"):
            if self.process.poll() is not None:
                raise Skipped("systemd does not start here: " + self.said()[-200:].replace("\n", " "))
            expect(time.monotonic() < until, "systemd is not ready:", state, self.said()[-2000:])
            time.sleep(0.1)
            state = self.first() and self.run("systemctl", "is-system-running", status=None).strip()

    def said(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def first(self):
        """The first process as this system numbers it; None before there is one."""
        found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.process.pid)], stdout=subprocess.PIPE, check=False).stdout.split()
        return found[0].decode() if len(found) == 2 and found[1] == b"systemd" else None

    def run(self, *words, status=0):
        """Run a command there to its end: what it printed."""
        done = subprocess.run(["nsenter", "--target", self.first() or "0", *ENTER, "env", "-i", "-C", "/", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                               "HOME=/root", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=2 * PATIENCE, check=False)
        text = done.stdout.decode("utf-8", "replace")
        if status is not None:
            expect(done.returncode == status, " ".join(words), "exits with", done.returncode, "and says", text[-2000:], self.said()[-1000:])
        return text

    def end(self):
        if self.process:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)  # unshare, and with it the first process and all others
            self.process.wait()
        if self.group:
            until = time.monotonic() + PATIENCE
            while os.path.isdir(self.group) and time.monotonic() < until:
                for folder, _, _ in os.walk(self.group, topdown=False):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        time.sleep(0.05)  # its last processes are about to end
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=False)
            os.rmdir(self.mounted)
        for name in UNITS_FOR_MACHINES:
            at = os.path.join(self.root, "etc/systemd/system", name)
            if os.path.islink(at) and os.readlink(at) == "/dev/null":
                os.remove(at)
