"""To which part of the program an address belongs: the folder of its source, a library, or a system call of the kernel.

The program has no debug information. Its symbol table has the name of each source file before the functions that are local to it, and
the static libraries of the build say in which folder a file of this name has a function of this name.
"""
import bisect
import collections
import os
import pathlib
import re
import subprocess

ARCHIVES = ("libmishap-program.a", "libmishap-store.a", "services/libservices.a")
LIBRARIES = (("uv_", "libuv"), ("uv__", "libuv"), ("llhttp_", "llhttp"), ("llparse_", "llhttp"), ("yyjson", "yyjson"), ("pcre2", "PCRE2"),
             ("sqlite3", "SQLite"), ("SHA", "libmd"))
LIBRARY_NAMES = {name for _, name in LIBRARIES}


class Program:
    """The functions of an executable, by address."""

    def __init__(self, path, tree, build):
        self.path = os.path.realpath(path)
        self.sources = self.read_sources(pathlib.Path(tree))
        self.members = self.read_members(pathlib.Path(build))
        self.starts, self.functions = self.read_functions()
        self.base = self.read_base()
        self.known = {}

    @staticmethod
    def read_sources(tree):
        """{name of an object in an archive: folder}, as Meson makes the names."""
        found = {}
        for top in ("src", "services"):
            for source in (tree / top).rglob("*.c"):
                words = source.relative_to(tree)
                found["_".join(words.parts) + ".o"] = "/".join(words.parts[1 if top == "src" else 0:-1])
        return found

    def read_members(self, build):
        """{name of a function: {name of a file: folder}}"""
        found = collections.defaultdict(dict)
        for archive in ARCHIVES:
            text = subprocess.run(["nm", "-A", "--defined-only", build / archive], capture_output=True, text=True, check=False).stdout
            for member, name in re.findall(r"^[^:]+:([^:]+):\S+ [tT] (\S+)$", text, re.M):
                folder = self.sources.get(member) or next((at for end, at in self.sources.items() if member.endswith(end) or end.endswith("_" + member)), None)
                if folder:
                    found[name.split(".")[0]][member] = folder
        return found

    def read_functions(self):
        text = subprocess.run(["readelf", "-sW", self.path], capture_output=True, text=True, check=True).stdout
        rows, file = [], ""
        for address, kind, bind, name in re.findall(r"^\s+\d+: ([0-9a-f]+)\s+\d+ (\w+)\s+(\w+)\s+\w+\s+\w+ (\S+)", text, re.M):
            if kind == "FILE":
                file = name
            elif kind in ("FUNC", "IFUNC"):
                rows.append((int(address, 16), name, file if bind == "LOCAL" else None))
        rows.sort(key=lambda row: row[0])
        return [row[0] for row in rows], rows

    def read_base(self):
        """Where the first page of the file is in memory; 0 if the program can be loaded anywhere."""
        text = subprocess.run(["readelf", "-lW", self.path], capture_output=True, text=True, check=True).stdout
        return int(re.search(r"^\s+LOAD\s+0x0+ (0x[0-9a-f]+)", text, re.M)[1], 16)

    def part(self, address):
        """The part of an address, which perf counts from the beginning of the file."""
        address += self.base if address < self.base else 0
        if address not in self.known:
            place = bisect.bisect(self.starts, address) - 1
            _, name, file = self.functions[place] if place >= 0 else (0, "", None)
            self.known[address] = self.part_of_function(name.split(".")[0].split("@")[0], file)
        return self.known[address]

    def part_of_function(self, name, file):
        plain = name[len("mishap_"):] if name.startswith(("mishap_llhttp", "mishap_yyjson")) else name
        for start, library in LIBRARIES:
            if plain.startswith(start):
                return library
        folders = self.members.get(name, {})
        if file:
            folders = {member: folder for member, folder in folders.items() if member.endswith("_" + file + ".o")} or folders
        return next(iter(folders.values())) if len(set(folders.values())) == 1 else "other"


# ---- Stacks ----------------------------------------------------------------------------------------


Frame = collections.namedtuple("Frame", "address name place")

def frames_of(lines):
    """The frames of a stack as `perf script` prints them, from the leaf to the root."""
    frames = []
    for line in lines:
        match = re.match(r"\s*([0-9a-f]+) (.*?) \(([^()]*(?:\([^()]*\))?[^()]*)\)\s*$", line)
        if match and match[3] != "[unknown]":
            frames.append(Frame(int(match[1], 16), match[2].split("+0x")[0], match[3]))
    return frames


def samples(text):
    """What `perf script -F comm,ip,sym,dso` has printed: (name of the process, frames from the leaf to the root)."""
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip()]
        frames = frames_of(lines[1:])
        if frames:
            yield lines[0].strip(), frames


def in_kernel(frame):
    return frame.place.startswith("[") and "vdso" not in frame.place


def part_of_stack(frames, program):
    """The part in which a sample was taken; of the kernel: the function of libc that called it."""
    leaf = frames[0]
    if in_kernel(leaf):
        if any("interrupt" in frame.name or frame.name.startswith(("asm_sysvec", "el0t_64_irq")) for frame in frames if in_kernel(frame)):
            return "kernel: interrupts"
        caller = next((frame for frame in frames if not in_kernel(frame)), None)
        name = re.sub(r"^(?:__GI_)?_*(?:libc_)?", "", caller.name) if caller else ""
        return "kernel: " + (name if caller and os.path.basename(caller.place).startswith(("libc.", "libc-")) else "others")
    if os.path.realpath(leaf.place) == program.path:
        return program.part(leaf.address)
    return os.path.basename(leaf.place).split(".so")[0]


def kind_of(frame, program):
    """For the colour of a box."""
    if in_kernel(frame):
        return "kernel"
    ours = os.path.realpath(frame.place) == program.path and program.part(frame.address) not in LIBRARY_NAMES
    return "ours" if ours else "library"
