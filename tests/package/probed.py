"""What the unit of the package may do: the unit with another command, and what that command tries."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))

# Each line is tried in the unit. It must fail for every one but the first.
TRIED = {
    "write to its folder": "open(os.environ['STATE_DIRECTORY'] + '/tried', 'w').close()",
    "write to /etc": "open('/etc/tried', 'w')",
    "write to /usr": "open('/usr/tried', 'w')",
    "write to /var": "open('/var/tried', 'w')",
    "change the kernel": "open('/proc/sys/kernel/domainname', 'w').write('x')",
    "list homes": "os.listdir('/root')",
    "see other processes": "os.stat('/proc/1')",
    "open a device": "os.mknod('/dev/shm/tried', 0o600 | stat.S_IFCHR, os.makedev(1, 3))",
    "read the log of the kernel": "open('/dev/kmsg')",
    "make a file that changes its user": "(open('/tmp/tried', 'w').close(), os.chmod('/tmp/tried', 0o4755))",
    "open a socket for packets": "socket.socket(17, socket.SOCK_RAW)",
    "open a socket of netlink": "socket.socket(16, socket.SOCK_RAW)",
    "become urgent": "os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))",
    "be root": "os.setuid(0)",
    "set the clock": "time.clock_settime(time.CLOCK_REALTIME, time.time())",
    "become another machine": "ctypes.CDLL(None).personality(8) == -1 and 0 / 0",
    "trace": "ctypes.CDLL(None).ptrace(0, 0, 0, 0) == -1 and 0 / 0",
}
PROBE = """import ctypes, os, socket, stat, time
for name, code in %r.items():
    try:
        eval(code)
        print("could", name)
    except Exception as error:
        print("refused", name, type(error).__name__)
print("could", "umask %%o" %% os.umask(0))
"""


def unit_that_runs(command, output):
    """The unit of the package with another command, for once."""
    with open(os.path.join(HERE, "..", "..", "debian", "mishap.service"), encoding="utf-8") as file:
        unit = file.read()
    line = "ExecStart=%s\nStandardOutput=truncate:%s\n" % (command, output)
    unit = re.sub(r"^Type=.*$", "Type=oneshot", re.sub(r"^ExecStart=.*\n", lambda _: line, unit, flags=re.M), flags=re.M)
    return re.sub(r"^(Restart\w*|ExecReload)=.*\n", "", unit, flags=re.M)
