#!/usr/bin/env python3
"""The Python package as it is installed: pip without a network, types, versions, other versions of Python, the page of the documentation.

    MISHAP_EXTENSION=… MISHAP_BUILD=… python3 tests/bindings/python_package_test.py [PART-OF-A-NAME]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from package import FOLDER, PATIENCE, PYTHON, SOURCE, Skipped, equal, expect, main, python, test

PAGE = os.path.join(SOURCE, "..", "..", "docs", "python-package.md")


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
                          **more)


@test
def pip_installs_it_without_a_network():
    if run(PYTHON, "-c", "import setuptools, wheel, pip").returncode:
        raise Skipped("pip, setuptools or wheel is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
        shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        build = os.environ["MISHAP_BUILD"]
        done = run(PYTHON, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "--target", target, source,
                   env=dict(os.environ, MISHAP_BUILD=build, MISHAP_SOURCE=os.path.abspath(os.path.join(SOURCE, "..", "..")), MISHAP_VERSION="0.1.0",
                            HOME=folder, PYTHONPATH=""))
        equal(done.returncode, 0, done.stdout[-3000:])
        files = sorted(os.listdir(os.path.join(target, "mishap")))
        expect({"__init__.pyi", "py.typed", "_mishap.abi3.so", "fastapi.py"} <= set(files), files)
        extension = os.path.join(target, "mishap", "_mishap.abi3.so")
        exported = run("nm", "-D", "--defined-only", extension).stdout.split()
        equal([name for name in exported if "ishap" in name], ["PyInit__mishap"])
        needed = re.findall(r"Shared library: \[(.*?)\]", run("readelf", "-d", extension).stdout)
        expect(set(needed) <= {"libc.so.6", "libm.so.6", "libyyjson.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, needed)
        code = "import mishap; print(mishap.version, mishap.Mishap('NOT_FOUND').status, hasattr(mishap._mishap, '_fail_after'))"
        equal(run(PYTHON, "-c", code, env=dict(os.environ, PYTHONPATH=target)).stdout.split(), ["0.1.0", "404", "False"])


@test
def a_library_older_than_the_binding_says_both_versions():
    with tempfile.TemporaryDirectory() as folder:
        include = run(PYTHON, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])").stdout.strip()
        root, build = os.path.abspath(os.path.join(SOURCE, "..", "..")), os.environ["MISHAP_BUILD"]
        shutil.copytree(os.path.join(FOLDER, "mishap"), os.path.join(folder, "mishap"), ignore=shutil.ignore_patterns("*.so"))
        sources = [os.path.join(SOURCE, "src", name) for name in sorted(os.listdir(os.path.join(SOURCE, "src"))) if name.endswith(".c")]
        done = run("cc", "-shared", "-fPIC", '-DMISHAP_BINDING_NEEDS="9.8.7"', "-DPy_LIMITED_API=0x030A0000", "-I" + include, "-I" + root + "/include",
                   "-I" + build + "/include", *sources, "-L" + build, "-l:libmishap.so.0", "-Wl,-rpath," + build, "-o",
                   os.path.join(folder, "mishap", "_mishap.abi3.so"))
        equal(done.returncode, 0, done.stdout)
        said = run(PYTHON, "-c", "import mishap", env=dict(os.environ, PYTHONPATH=folder)).stdout
        expect("needs libmishap 9.8.7 or later, and the library that was loaded is 0.1.0" in said, said)


@test
def the_types_are_those_of_the_catalog():
    done = run(sys.executable, os.path.join(SOURCE, "stub.py"), "--check")
    equal(done.returncode, 0, done.stdout)


@test
def the_types_hold_with_mypy():
    if not shutil.which("mypy"):
        raise Skipped("mypy is not installed")
    with tempfile.TemporaryDirectory() as folder:
        good, bad = os.path.join(folder, "good.py"), os.path.join(folder, "bad.py")
        with open(good, "w", encoding="utf-8") as file:
            file.write("import mishap\nfrom mishap import Mishap\nfailure = Mishap(mishap.NOT_FOUND, 'x', context={'a': 1}, fields=[{'field': 'a'}])\n"
                       "text: str = failure.render('problem')\nstatus: int = mishap.describe('CONFLICT').status\n"
                       "for finding in mishap.verify(text):\n    sentence: str = finding.sentence\n")
        with open(bad, "w", encoding="utf-8") as file:
            file.write("from mishap import Mishap\nMishap('NOT_FUND')\nMishap('NOT_FOUND').render('problems')\nMishap('NOT_FOUND', fields=[{'name': 'a'}])\n")
        settings = dict(os.environ, MYPYPATH=FOLDER, MYPY_CACHE_DIR=folder)
        done = run("mypy", "--strict", good, env=settings)
        equal(done.returncode, 0, done.stdout)
        said = run("mypy", bad, env=settings).stdout
        equal(sorted({line.split(":")[1] for line in said.splitlines() if ": error:" in line}), ["2", "3", "4"], said)


@test
def other_versions_of_python_load_the_same_file():
    tried = []
    folders = sorted(os.listdir(os.path.expanduser("~/.pyenv/versions"))) if os.path.isdir(os.path.expanduser("~/.pyenv/versions")) else []
    programs = [os.path.expanduser(f"~/.pyenv/versions/{name}/bin/python3") for name in folders]
    for program in programs + [shutil.which(f"python3.{minor}") for minor in range(10, 16)]:
        found = program and os.path.exists(program) and re.match(r"Python 3\.(\d+)", run(program, "--version").stdout)
        if found and int(found[1]) >= 10:
            said = python("import mishap, sys; e = mishap.Mishap('NOT_FOUND', 'x', context={'a': [1]}); mishap.parse(e.render());"
                          "e.context['me'] = e; f = mishap.Mishap('CONFLICT'); f.__cause__ = e; del e; import gc; gc.collect(); e = f; del f;"
                          "print(e.status, sys.version_info[1])", program=program)
            tried.append(said.split()[1])
            equal(said.split()[0], "409")
    if not tried:
        raise Skipped("there is no other version of Python")
    print("# 3." + " 3.".join(tried))


@test
def the_examples_of_the_page_run():
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"(<!-- [^\n]*-->\n)?```python\n(.*?)```", file.read(), re.S)
    expect(len(blocks) >= 5, "the page has examples")
    for mark, block in blocks:
        if "not run" in mark:
            continue
        needed = re.findall(r"^(?:import|from) (fastapi|click)\b", block, re.M)
        if needed and run(PYTHON, "-c", "import " + needed[0]).returncode:
            continue
        shown = re.findall(r"^# (.*)$", block, re.M)
        said = python(block)
        equal([line for line in said.splitlines() if line], [line for line in shown if line], block)


main()
