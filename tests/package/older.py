"""An older libmishap0 and libmishap-dev, made of the packages of today in a bare system that has a compiler: one code less in the middle of the
table, one function less, a lower version, and the headers of the last release (abi/include) without them.

A program that is compiled with these and runs with the packages of today is an old program: its codes have had other places in the table.
"""
import glob
import os
import re
import shutil
import subprocess

from blackbox import expect

VERSION = "0.0.9"
FUNCTION = "mishap_http_phrase"  # of catalog.h
LINK = """cd /tmp/older
mkdir objects
cd objects
ar x "$(ls /usr/lib/*/libmishap.a)"
rm ./*codes.c.o
for object in *.o; do objcopy --redefine-sym mishap_version=version_of_today --redefine-sym mishap_version_number=number_of_today "$object"; done
cd ..
gcc -O2 -fPIC -fvisibility=hidden -Iinclude -c codes.c version.c
flags=; if readelf -d "$(ls /usr/lib/*/libmishap.so.0)" | grep -q libyyjson; then flags=-lyyjson; fi
gcc -shared -o libmishap.so.%s objects/*.o codes.o version.o -Wl,-soname,libmishap.so.0 -Wl,--version-script,map $flags
""" % VERSION


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def without(text, pattern, what):
    found = re.sub(pattern, "", text, count=1, flags=re.M)
    expect(found != text, "there is no", what)
    return found


class Older:
    """`inside` runs a command in the system at `root`, which has a compiler and the packages of today in /packages."""

    def __init__(self, tree, root, inside):
        self.tree, self.root, self.inside = tree, root, inside
        self.folder = root + "/tmp/older"
        self.include = self.folder + "/include/mishap"

    def choose_code(self):
        """A code above NOT_FOUND in the table that nothing else in the library names."""
        names = re.findall(r"^([A-Z][A-Z0-9_]+) ", read(self.tree + "/catalog/codes.txt"), re.M)
        named = set(re.findall(r" U mishap_code_(\w+)", self.inside("sh", "-c", "nm -u /usr/lib/*/libmishap.a")))
        self.code = next(name for name in names[:names.index("NOT_FOUND")] if name not in named)

    def write_sources(self):
        shutil.copytree(self.tree + "/abi/include/mishap", self.include)
        table = without(read(self.tree + "/catalog/codes.txt"), r"^%s .*\n(?:[ ]+.*\n)*" % self.code, self.code)
        generator = self.folder + "/catalog/generate"
        write(self.folder + "/catalog/codes.txt", table)
        shutil.copy(self.tree + "/catalog/generate", generator)
        subprocess.run([generator, self.folder + "/catalog/codes.txt", "--header", self.include + "/codes.h", "--source", self.folder + "/codes.c",
                        "--include", "mishap/codes.h"], check=True)
        number = "".join("%03d" % int(part) for part in VERSION.split(".")).lstrip("0")
        text = re.sub(r'(MISHAP_VERSION +)"[^"]*"', r'\g<1>"%s"' % VERSION, read(self.include + "/version.h"))
        write(self.include + "/version.h", re.sub(r"(MISHAP_VERSION_NUMBER +)\d+", r"\g<1>" + number, text))
        write(self.include + "/catalog.h", without(read(self.include + "/catalog.h"), r"^.*\b%s\(.*;\n" % FUNCTION, FUNCTION))
        write(self.folder + "/map", without(read(self.tree + "/src/mishap/libmishap.map"), r"^\s*%s;" % FUNCTION, FUNCTION))
        write(self.folder + "/version.c", '#include "mishap/version.h"\nconst char *mishap_version(void) { return MISHAP_VERSION; }\n'
                                          "int mishap_version_number(void) { return MISHAP_VERSION_NUMBER; }\n")

    def package(self, name):
        """The package of today with what is older in it."""
        work = self.folder + "/" + name
        self.inside("dpkg-deb", "-R", glob.glob(self.root + "/packages/%s_*.deb" % name)[0][len(self.root):], work[len(self.root):])
        control = read(work + "/DEBIAN/control")
        version = re.search(r"^Version: (.*)$", control, re.M)[1]
        write(work + "/DEBIAN/control", re.sub(r"(?<=[ =])%s(?=[)\n])" % re.escape(version), VERSION, control))
        if name == "libmishap0":
            for path in glob.glob(work + "/usr/lib/*/libmishap.so.0*"):
                os.remove(path)
            library = glob.glob(work + "/usr/lib/*")[0] + "/libmishap.so.0"
            shutil.copy(self.folder + "/libmishap.so." + VERSION, library[:-1] + VERSION)
            os.symlink("libmishap.so." + VERSION, library)
        else:
            shutil.copytree(self.include, work + "/usr/include/mishap", dirs_exist_ok=True)
        self.inside("dpkg-deb", "-Znone", "-b", work[len(self.root):], "/before/%s_%s.deb" % (name, VERSION))

    def install(self):
        self.choose_code()
        self.write_sources()
        self.inside("sh", "-ec", LINK)
        names = ("libmishap0", "libmishap-dev")
        for name in names:
            self.package(name)
        self.inside("dpkg", "-i", *("/before/%s_%s.deb" % (name, VERSION) for name in names))
        exported = self.exported()
        expect(FUNCTION not in exported and "mishap_code_" + self.code not in exported and "mishap_code_NOT_FOUND" in exported, "it is not older:", exported)

    def exported(self):
        return re.findall(r"(mishap_\w+)@@MISHAP_0", self.inside("sh", "-c", "nm -D --defined-only /usr/lib/*/libmishap.so.0"))
