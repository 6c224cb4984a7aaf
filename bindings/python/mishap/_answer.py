"""What every adapter does with an exception: the document for the caller, and the record for the operator."""
import builtins
import math
import sys
from typing import NamedTuple

from mishap import Mishap, media_type, new_incident

_sink = None
MOST_LEVELS = 32  # of groups of one in each other
MOST_CAUSES = 20  # in a record


class Answer(NamedTuple):
    """What goes out. `mishap` has the private side and must stay here."""
    status: int
    body: bytes
    headers: list
    incident: object
    mishap: Mishap


def set_sink(sink):
    """Give each record, a dict, to this function; None: to the logger "mishap", as one line of JSON."""
    global _sink
    if sink is not None and not callable(sink):
        raise TypeError("The sink must be a function of one record, or None.")
    _sink = sink


def members_of(exception):
    """The members of an exception group; none if it is no group. Python 3.10 has no groups but those of a package."""
    group = getattr(builtins, "BaseExceptionGroup", None)
    group = group or getattr(sys.modules.get("exceptiongroup"), "BaseExceptionGroup", None)
    if group is None or not issubclass(type(exception), group):
        return ()
    return group.exceptions.__get__(exception)  # the members themselves, even if a subclass has another `exceptions`


def mishap_of(exception):
    """The exception itself if it is a Mishap; else INTERNAL_ERROR, which tells the caller nothing about it."""
    if isinstance(exception, Mishap):  # the usual case, at once
        return exception
    for _ in range(MOST_LEVELS):
        members = members_of(exception)
        if len(members) != 1 or not isinstance(members[0], Exception):
            break
        exception = members[0]  # a group of one, as task groups raise it
    if isinstance(exception, Mishap):
        return exception
    masked = Mishap("INTERNAL_ERROR")
    masked.__cause__ = exception
    return masked


def answer(exception, dialect="problem", *, strict=False, known=None, status=None):
    """The answer to a call that failed with this exception.

    The leak guard judges the document. `known` is a function that returns the texts that the caller sent: they are no
    leak. A failure with a status of 500 or more, and one in which something was replaced, gets the id of an incident,
    and its record goes to the sink. An exception with which this fails is answered as INTERNAL_ERROR.
    """
    try:
        return answer_of(exception, dialect, strict, known, status)
    except Exception as failure:
        masked = Mishap("INTERNAL_ERROR", notes={"adapter": trace_of(failure) + text_of(failure)})
        masked.__cause__ = exception
        return answer_of(masked, dialect, strict, None, None)


def answer_of(exception, dialect, strict, known, status):
    mishap = mishap_of(exception)
    if status is None:
        status = mishap.status
    incident = mishap.incident
    if incident is None and status >= 500:
        incident = new_incident()
    sent = None
    body, replaced = mishap._answer(dialect, incident, strict, sent)
    if replaced and known:
        sent = known()
        body, replaced = mishap._answer(dialect, incident, strict, sent)
    if replaced and incident is None:
        incident = new_incident()
        body, replaced = mishap._answer(dialect, incident, strict, sent)
    if status >= 500 or replaced:
        mishap.incident = incident
        report(record_of(mishap, status, replaced))
    headers = [("content-type", media_type(dialect)), ("content-length", str(len(body)))]
    if mishap.retry_after is not None:
        headers.append(("retry-after", str(math.ceil(mishap.retry_after))))
    return Answer(status, body, headers, mishap.incident, mishap)


# -- records -------------------------------------------------------------------------------------------------

def record_of(mishap, status, replaced=False):
    """All that the operator may know, as a dict of plain values."""
    import datetime
    now = datetime.datetime.now(datetime.timezone.utc)
    told = plain({"fields": mishap.fields, "reason": mishap.reason, "suggestion": mishap.suggestion, "docs": mishap.docs})
    return {"id": mishap.incident, "time": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "code": mishap.code, "status": status, "message": mishap.message, "context": plain(mishap.context),
            **{name: value for name, value in told.items() if value}, "notes": plain(mishap.notes),
            "traceback": trace_of(mishap), "causes": causes_of(mishap), "replaced": replaced}


def plain(values):
    """Values without cycles and without secrets: the core redacts what goes by the name of a password."""
    if not values:
        return {}
    import json
    try:
        return json.loads(Mishap("GENERAL_ERROR", context=values).render("canonical")).get("context", {})
    except Exception as failure:  # values that cannot be read must not hide the failure
        return {"unreadable": text_of(failure)}


# What a class of the program defines under these names is not asked: it may lie, or fail.
_CAUSE, _CONTEXT = BaseException.__cause__.__get__, BaseException.__context__.__get__
_SUPPRESSED, _TRACEBACK = BaseException.__suppress_context__.__get__, BaseException.__traceback__.__get__
_NAME = type.__dict__["__name__"].__get__


def trace_of(exception):
    import traceback
    try:
        return "".join(traceback.format_tb(_TRACEBACK(exception)))
    except Exception:  # the source of a module may be unreadable
        return ""


def behind(exception):
    """The exceptions behind this one: the members of a group, and then the cause."""
    cause = _CAUSE(exception)
    if cause is None and not _SUPPRESSED(exception):
        cause = _CONTEXT(exception)
    return [*members_of(exception)[:MOST_CAUSES], *([] if cause is None else [cause])]


def causes_of(exception):
    """The exceptions behind this one, the nearest first, and each with its own ones after it."""
    causes, seen, waiting = [], {id(exception)}, behind(exception)
    while waiting and len(causes) < MOST_CAUSES:
        one = waiting.pop(0)
        if id(one) not in seen:
            seen.add(id(one))
            causes.append({"type": _NAME(type(one)), "message": text_of(one), "traceback": trace_of(one)})
            waiting = behind(one) + waiting
    return causes


def text_of(exception):
    try:
        return str(exception)
    except Exception:  # an exception that cannot say what it is must not hide the failure
        return f"[{_NAME(type(exception))}]"


def report(record):
    """Give the record to the sink. A sink that fails must not change the answer."""
    try:
        if _sink is not None:
            _sink(record)
        else:
            log(record)
    except Exception:
        import traceback
        print("mishap: the sink of incidents failed:", traceback.format_exc(), file=sys.stderr)


def log(record):
    import json
    import logging
    logging.getLogger("mishap").error("%s", json.dumps(record, ensure_ascii=False, default=str))
