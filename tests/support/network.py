"""A network of machines on this one: namespaces of the kernel, joined over TUN devices by this program, which can delay packets, lose them, and
cut a way in one direction.

    network.enter()                         once, before anything else: this process gets a namespace of its own
    with Network() as network:
        database = network.host("database") a namespace with the address database.address
        database.command(["postgres", …])   the words that run a program there
        network.delay("here", "database", 5)     milliseconds, in both directions
        network.lose("here", "database", 0.1)    one packet of ten, in both directions
        network.cut("here", "database")          in this direction only; heal() mends everything

This process is the host "here". It needs root, /dev/net/tun, and `ip`, `unshare` and `nsenter`. Nothing of it is seen outside: all devices vanish with the
processes.
"""
import contextlib
import fcntl
import heapq
import os
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
INSIDE = "MISHAP_TEST_NETWORK"
ADDRESSES = "10.77.0."
PACKET = 65536


def is_possible():
    return os.geteuid() == 0 and os.path.exists("/dev/net/tun") and all(map(shutil.which, ("ip", "unshare", "nsenter"))) and \
        subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def enter():
    """Run this program again in a namespace of its own, unless that was done. False: it cannot be."""
    if os.environ.get(INSIDE):
        return True
    if not is_possible():
        return False
    sys.stdout.flush()
    os.execvpe("unshare", ["unshare", "--net", sys.executable, *sys.argv], dict(os.environ, **{INSIDE: "1"}))


def open_device(address):
    """A TUN device of the namespace of this process, which is up and has the address."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14x", b"test0", IFF_TUN | IFF_NO_PI))
    for words in (["link", "set", "lo", "up"], ["address", "add", address + "/24", "dev", "test0"], ["link", "set", "test0", "up", "mtu", "1400"]):
        subprocess.run(["ip", *words], check=True)
    return device


class Host:
    def __init__(self, name, number):
        self.name, self.address = name, ADDRESSES + str(number)
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(["unshare", "--net", sys.executable, os.path.abspath(__file__), self.address, str(theirs.fileno())],
                                        pass_fds=[theirs.fileno()], stdin=subprocess.PIPE)
        theirs.close()
        with ours:
            _, files, _, _ = socket.recv_fds(ours, 1, 1)
        if not files:
            raise RuntimeError("the host %s has no device" % name)
        self.device = files[0]

    def command(self, words):
        return ["nsenter", "--net=/proc/%d/ns/net" % self.process.pid, *words]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Network:
    def __init__(self, seed=0):
        self.chance, self.rules, self.hosts = random.Random(seed), {}, {}
        self.lost = 0  # packets
        self.waiting, self.numbers = [], 0  # packets that are delayed: (when, number, device, bytes)
        self.lock = threading.Lock()
        self.devices, self.names = {}, {}
        self.wake, self.woken = os.pipe()
        self.stopped = False
        self.add("here", ADDRESSES + "1", open_device(ADDRESSES + "1"))
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def add(self, name, address, device):
        os.set_blocking(device, False)
        with self.lock:
            self.names[socket.inet_aton(address)] = name
            self.devices[name] = device
        os.write(self.woken, b"x")

    def host(self, name):
        found = self.hosts[name] = Host(name, len(self.hosts) + 2)
        self.add(name, found.address, found.device)
        return found

    # ---- Faults ----

    def rule(self, source, target, **what):
        with self.lock:
            self.rules[source, target] = {**self.rules.get((source, target), {}), **what}

    def delay(self, one, other, milliseconds):
        self.rule(one, other, delay=milliseconds / 1000)
        self.rule(other, one, delay=milliseconds / 1000)

    def lose(self, one, other, part):
        self.rule(one, other, loss=part)
        self.rule(other, one, loss=part)

    def cut(self, source, target):
        self.rule(source, target, loss=1)

    def part(self, one, other):
        """In both directions."""
        self.lose(one, other, 1)

    def heal(self):
        with self.lock:
            self.rules.clear()

    # ---- Packets ----

    def forward(self, source, packet):
        """A packet of IPv4 has the address of its target in bytes 16 to 19."""
        target = self.names.get(packet[16:20]) if len(packet) >= 20 and packet[0] >> 4 == 4 else None
        if not target:
            return
        rule = self.rules.get((source, target), {})
        if self.chance.random() < rule.get("loss", 0):
            self.lost += 1
            return
        self.numbers += 1
        heapq.heappush(self.waiting, (time.monotonic() + rule.get("delay", 0), self.numbers, self.devices[target], packet))

    def deliver(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            with contextlib.suppress(OSError):  # its queue is full, or the host is gone: lost
                os.write(self.waiting[0][2], self.waiting[0][3])
            heapq.heappop(self.waiting)

    def run(self):
        while not self.stopped:
            with self.lock:
                readers = {device: name for name, device in self.devices.items()}
            pause = max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else None
            for device in select.select([*readers, self.wake], [], [], pause)[0]:
                with contextlib.suppress(OSError):
                    if device == self.wake:
                        os.read(device, 100)
                        continue
                    with self.lock:
                        for _ in range(64):
                            self.forward(readers[device], os.read(device, PACKET))
            self.deliver()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopped = True
        os.write(self.woken, b"x")
        self.thread.join()
        for found in self.hosts.values():
            found.end()
        for device in (*self.devices.values(), self.wake, self.woken):
            os.close(device)


def be_host(address, number):
    """The other process of a host: it makes the device, hands it over, and keeps the namespace until the test has ended."""
    device = open_device(address)
    with socket.socket(fileno=number) as out:
        socket.send_fds(out, [b"x"], [device])
    os.close(device)
    sys.stdin.read()


if __name__ == "__main__":
    be_host(sys.argv[1], int(sys.argv[2]))
