"""Build the extension mishap._mishap for the limited API of Python 3.10 and later.

It contains the core of a build of Mishap: MISHAP_BUILD, or build/ of the source tree around this folder. With
MISHAP_SHARED=1, or if there is no build, it is linked against the installed libmishap.so.0, which pkg-config finds.
"""
import os
import pathlib
import re
import shlex
import subprocess

from setuptools import Extension, setup

here = pathlib.Path(__file__).resolve().parent
tree = here.parent.parent
limited = {"define_macros": [("Py_LIMITED_API", "0x030A0000")], "py_limited_api": True}


def asked(package, *options):
    try:
        return shlex.split(subprocess.run(["pkg-config", *options, package], check=True, capture_output=True, text=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return None


def from_build(build):
    """The core as a static archive. None of its names is exported."""
    archive = build / "libmishap.a"
    if os.environ.get("MISHAP_SHARED") == "1" or not archive.exists():
        return None
    headers = [build / "include", pathlib.Path(os.environ.get("MISHAP_SOURCE") or tree) / "include"]
    yyjson = asked("yyjson", "--libs") or []  # which is in the archive, unless it was a library of the system
    return {"include_dirs": [str(folder) for folder in headers],
            "extra_link_args": ["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-Wl,--as-needed", str(archive), *yyjson]}


def from_system():
    """libmishap.so.0. Its functions are found when they are first called, so that an old library can be named."""
    flags, libraries = asked("mishap-core", "--cflags"), asked("mishap-core", "--libs")
    if libraries is None:
        raise SystemExit("mishap: neither a build of Mishap (set MISHAP_BUILD) nor libmishap (pkg-config mishap-core) was found. "
                         "Run `make build` in the source tree, or install libmishap-dev.")
    return {"extra_compile_args": flags, "extra_link_args": [*libraries, "-Wl,-z,lazy"]}


def version():
    found = re.search(r"version: '([0-9.]+)'", (tree / "meson.build").read_text()) if (tree / "meson.build").exists() else None
    return os.environ.get("MISHAP_VERSION") or (found.group(1) if found else "0")


core = from_build(pathlib.Path(os.environ.get("MISHAP_BUILD") or tree / "build").resolve()) or from_system()
core.setdefault("extra_compile_args", []).extend(["-std=gnu17", "-fvisibility=hidden"])
sources = sorted(str(path.relative_to(here)) for path in (here / "src").glob("*.c"))
setup(version=version(), ext_modules=[Extension("mishap._mishap", sources, **limited, **core)],
      # A library of another build may be linked this time: what an earlier run has left is not used.
      options={"bdist_wheel": {"py_limited_api": "cp310"}, "build_ext": {"force": True}})
