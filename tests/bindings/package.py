"""What the tests of the Python package have in common: the package with the extension of this build, in a folder of its own."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "bindings", "python")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import PATIENCE, SANITIZED, Skipped, equal, expect, main, test, tests_of  # noqa: E402,F401

PYTHON = os.environ.get("MISHAP_PYTHON") or ("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable)
EXTENSION = os.environ["MISHAP_EXTENSION"]


def make_package(folder):
    """The package in a folder, as it is installed."""
    package = os.path.join(folder, "mishap")
    os.mkdir(package)
    for name in os.listdir(os.path.join(SOURCE, "mishap")):
        if name.endswith((".py", ".pyi", ".typed")):
            os.symlink(os.path.join(SOURCE, "mishap", name), os.path.join(package, name))
    os.symlink(EXTENSION, os.path.join(package, "_mishap.abi3.so"))
    return folder


kept = tempfile.TemporaryDirectory()
FOLDER = make_package(kept.name)


def preloaded():
    """An extension with the address sanitizer needs its library in the program from the start."""
    if not SANITIZED:
        return {}
    if os.environ.get("MISHAP_COMPILER") != "gcc":
        return None
    libraries = [subprocess.run(["gcc", "-print-file-name=" + name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
                 for name in ("libasan.so", "libubsan.so")]
    return {"LD_PRELOAD": " ".join(libraries), "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1"}


def environment(**more):
    """The environment for a program that imports the package."""
    return dict(os.environ, PYTHONPATH=FOLDER, PYTHONDONTWRITEBYTECODE="1", HOME=FOLDER, **(preloaded() or {}), **more)


def python(code, *arguments, program=None, **more):
    """Run code that imports the package: what it prints. It must succeed."""
    done = subprocess.run([program or PYTHON, "-c", code, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE, check=False, env=environment(**more))
    equal(done.returncode, 0, done.stderr[-3000:] + done.stdout[-1000:])
    return done.stdout


def inside():
    """Run the test file again in the interpreter that imports the package; then the package can be imported."""
    if preloaded() is None:
        print("1..0 # SKIP a Python program cannot load an extension with clang's sanitizers")
        sys.exit(0)
    if os.environ.get("MISHAP_INSIDE") != "1":
        done = subprocess.run([PYTHON, *sys.argv], env=environment(MISHAP_INSIDE="1"), check=False)
        sys.exit(done.returncode)
