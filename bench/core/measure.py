"""The shared core: the size of the library, and the start of a program that is linked against it, against the same program with the static library.

    measure.py BUILD

The shared library is found by its path, as an installed one is by the loader's cache: no folder is searched for it.
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS, STARTS = int(os.environ.get("ROUNDS") or 25), 60


def run(*words, **more):
    done = subprocess.run(words, check=False, capture_output=True, text=True, **more)
    if done.returncode:
        raise figures.Void(f"{os.path.basename(words[0])} ends with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def main():
    build = os.path.abspath(sys.argv[1])
    libraries = glob.glob(os.path.join(build, "libmishap.so.0.*[0-9]"))
    if not libraries:
        raise figures.Void(f"there is no libmishap.so.0 in {build}")
    environment = dict(os.environ, PKG_CONFIG_PATH="%s/meson-uninstalled:%s/deps/lib/pkgconfig" % (build, build))

    def flags(package):
        return run("pkg-config", "--cflags", "--libs", package, env=environment).split()

    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        run("cc", "-O2", "-D_GNU_SOURCE", "-o", path("start"), os.path.join(HERE, "start.c"))
        late, include = os.path.join(HERE, "late.c"), "-I" + os.path.join(build, "include")
        run("cc", "-O2", "-o", path("static"), late, include, *flags("mishap"))
        run("cc", "-O2", "-o", path("shared"), late, include, *flags("mishap-core"))
        with open(path("shared"), "rb") as file:
            program = file.read()
        # The name of the library becomes a path of the same length.
        name = b"libmishap.so.0"
        short = b"/tmp/" + os.urandom(4).hex().encode() + b"m"
        if len(short) != len(name) or program.count(name + b"\0") != 1:
            raise figures.Void("the program is not linked with the shared library")
        os.symlink(libraries[0], short)
        try:
            with open(path("shared"), "wb") as file:
                file.write(program.replace(name + b"\0", short + b"\0"))
            found = run(path("start"), str(ROUNDS), str(STARTS), path("static"), path("shared")).split()
            static, shared = figures.figures("the start of a program", map(float, found), 2)
        finally:
            os.unlink(short)
        run("strip", "-o", path("stripped"), libraries[0])
        print("the shared core")
        figures.row("    size, stripped", os.path.getsize(path("stripped")) / 1e3, "KB")
        print("a program that tells one failure, from start to exit, CPU")
        figures.row("    static", static, "µs")
        figures.row("    shared", shared, "µs")
        figures.row("    shared against static", shared / static, "×", at_most=1.15)


figures.run(main)
