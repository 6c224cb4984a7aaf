"""Failures with one shape for every caller, and everything else for the operator.

    import mishap
    from mishap import Mishap

    raise Mishap(mishap.NOT_FOUND, "There is no user 7.", context={"user": 7})

docs/python-package.md is the introduction.
"""
from mishap import _mishap
from mishap._mishap import (
    Code, Finding, Mishap, ParseError, code_for_status, codes, describe, dialects, guard, media_type, new_incident,
    parse, translate, verify, version)

__version__ = version
__all__ = ["Code", "Finding", "Mishap", "ParseError", "answer", "code_for_status", "codes", "describe", "dialects",
           "guard", "media_type", "new_incident", "parse", "set_sink", "translate", "verify", "version", *codes]

globals().update((name, name) for name in codes)


def __getattr__(name):
    """What only adapters and operators need is imported when it is first used."""
    if name in ("answer", "set_sink"):
        from mishap import _answer
        globals()[name] = found = getattr(_answer, name)
        return found
    raise AttributeError(f"module 'mishap' has no attribute {name!r}")
