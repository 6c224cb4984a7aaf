#!/usr/bin/env python3
"""The addon for arm64 that a machine of x86-64 makes: it is for that processor, and shows and needs the same as the one that the other tests run.

    MISHAP_ADDON=… MISHAP_ADDON_ARM64=… python3 tests/bindings/node_cross_test.py [PART-OF-A-NAME]

Nothing of it is run. In `make test-all` alone.
"""
import os
import platform
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, test  # noqa: E402

OLDEST = (2, 36)  # the C library of Debian 12


def read_elf(*words):
    return subprocess.run(["readelf", "-W", *words], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True).stdout


def arm64():
    addon = os.environ["MISHAP_ADDON_ARM64"]
    if platform.machine() != "x86_64":
        raise Skipped("only a machine of x86-64 makes it for another processor")
    if not addon:
        raise Skipped("it could not be made: install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross, on a system without a yyjson of its own")
    return addon


def names(addon):
    """What it exports, and what Node has to have for it."""
    rows = re.findall(r"^ +\d+: [0-9a-f]+ +\d+ \w+ +(?:GLOBAL|WEAK) +DEFAULT +(\w+) +([\w.]+)(?:@\S+)?", read_elf("--dyn-syms", addon), re.M)
    return {name for place, name in rows if place != "UND"}, {name for place, name in rows if place == "UND" and name.startswith("napi_")}


@test
def it_is_for_arm64():
    expect(re.search(r"Machine: +AArch64$", read_elf("-h", arm64()), re.M), read_elf("-h", arm64()))


@test
def it_shows_and_needs_the_same():
    ours = names(os.environ["MISHAP_ADDON"])
    expect("napi_register_module_v1" in ours[0] and len(ours[1]) > 20, "the addon of this machine:", ours)
    equal(names(arm64()), ours)


@test
def it_needs_no_newer_c_library_than_that_of_debian_12():
    elf = read_elf("-d", "-V", arm64())
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\]", elf)
    expect("libc.so.6" in needed and all(re.match(r"lib(c|m)\.so\.6$|ld-linux-aarch64\.so\.1$", name) for name in needed), "what it needs:", needed)
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_([\d.]+)", elf)}
    expect(versions and max(versions)[:2] <= OLDEST, "the versions that it needs:", sorted(versions))


main()
