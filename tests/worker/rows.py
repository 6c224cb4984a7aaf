"""Rows of what hostile code tries, and which layers of the sandbox stop it: each of them by itself.

    S seccomp  L landlock  R limits  M mounts  P processes  N network  I ipc  H host  U users  C privileges  G groups

A digit behind L is the version of Landlock from which on it does. `*`: no layer is needed. `plain`: the attempt succeeds without a
sandbox on any machine, which is tried, too. An attempt that is stopped ends with a failure or with the death of its process; one that
returns has escaped.
"""
import collections

Attempt = collections.namedtuple("Attempt", "what layers plain code")

LAYERS = {"S": "seccomp", "L": "landlock", "R": "limits", "M": "mounts", "P": "processes", "N": "network", "I": "ipc", "H": "host",
          "U": "users", "C": "privileges", "G": "groups"}

# Calls without a function in the C library, by machine. From 424 on they are the same everywhere.
NUMBERS = {
    "x86_64": {"bpf": 321, "perf": 298, "userfaultfd": 323, "add-key": 248, "pivot-root": 155, "init-module": 175, "kcmp": 312},
    "aarch64": {"bpf": 280, "perf": 241, "userfaultfd": 282, "add-key": 217, "pivot-root": 41, "init-module": 105, "kcmp": 272},
}


def stopped_by(attempt):
    """As the document has it: "seccomp, landlock 6"."""
    if attempt.layers == "*":
        return "no layer is needed"
    found = []
    for letter, name in LAYERS.items():
        at = attempt.layers.find(letter)
        if at >= 0:
            version = attempt.layers[at + 1:at + 2]
            found.append(name + (" " + version if version.isdigit() else ""))
    return ", ".join(found)


def table(attempts):
    return ["| %s | %s |" % (attempt.what, stopped_by(attempt)) for attempt in attempts]
