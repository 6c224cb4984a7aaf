"""The form of a case, and the labels: what a failure means for the one who ran the command, in codes of catalog/codes.txt.

A label is the code that is most right, then those that are just as right. The groups keep the same meaning under the same codes in all
programs; a case with a meaning of its own names its codes itself.
"""
import os
import shlex
import sys

CASES = []

FILE = ("NOT_FOUND", "INPUT_UNREADABLE")  # a file or folder that was named is not there
ABSENT = ("NOT_FOUND",)  # a thing that is no file is not there
NO_TARGET = ("NOT_FOUND", "OUTPUT_FAILED")  # the folder to write into is not there
DENIED = ("PERMISSION_DENIED", "NOT_AUTHORIZED", "FORBIDDEN")
OPTION = ("UNKNOWN_OPTION", "ARG_ERROR", "INVALID_ARGUMENT")
COMMAND = ("UNKNOWN_COMMAND", "METHOD_NOT_FOUND", "ARG_ERROR")
OPERAND = ("MISSING_ARGUMENT", "ARG_ERROR")
VALUE = ("INVALID_ARGUMENT", "ARG_ERROR", "VALUE_ERROR")  # an argument or option has a value that cannot be
PATTERN = ("INVALID_ARGUMENT", "PATTERN_MISMATCH", "ARG_ERROR", "VALUE_ERROR", "INVALID_TYPE", "MALFORMED_INPUT")  # … does not have the form
RANGE = ("VALUE_OUT_OF_RANGE", "INVALID_ARGUMENT", "ARG_ERROR", "VALUE_ERROR")
KIND = ("INVALID_ARGUMENT", "ARG_ERROR", "VALUE_ERROR", "INPUT_UNREADABLE", "OUTPUT_FAILED", "CONFLICT")  # a folder where a file must be, or the reverse
EXISTS = ("ALREADY_EXISTS", "CONFLICT")
STATE = ("CONFLICT", "PRECONDITION")  # the state of things does not allow it: not empty, changed, in use
BEFORE = ("PRECONDITION", "CONFLICT", "NOT_CONFIGURED")  # something must be done first
CONFIG = ("NOT_CONFIGURED", "PRECONDITION")
LOCK = ("LOCKED", "CONFLICT", "UNAVAILABLE")
FULL = ("INSUFFICIENT_STORAGE", "OUTPUT_FAILED")
READ_ONLY = ("OUTPUT_FAILED", "PERMISSION_DENIED", "NOT_AUTHORIZED", "FORBIDDEN")
MALFORMED = ("MALFORMED_INPUT", "NONCONFORMING", "INPUT_UNREADABLE")  # data that cannot be read as what it should be
SYNTAX = ("SYNTAX_ERROR", "MALFORMED_INPUT", "PROGRAM_ERROR")  # code, an expression or a query that cannot be parsed
NAME = ("UNBOUND_VARIABLE", "PROGRAM_ERROR", "SYNTAX_ERROR")  # a name in code that is not defined
FUNCTION = ("UNDEFINED_FUNCTION", "PROGRAM_ERROR", "UNBOUND_VARIABLE", "SYNTAX_ERROR")
TYPES = ("TYPE_ERROR", "PROGRAM_ERROR", "SYNTAX_ERROR", "INVALID_TYPE")
PROGRAM = ("PROGRAM_ERROR", "SYNTAX_ERROR")  # code that is well-formed and not correct
IMPORT = ("IMPORT_ERROR", "NOT_FOUND", "PACKAGE_ERROR")
RUNTIME = ("RUNTIME_ERROR", "GENERAL_ERROR", "SIMPLE_ERROR")
CHILD = ("RUNTIME_ERROR", "GENERAL_ERROR", "FAILED_DEPENDENCY")  # a program that this one started failed
GENERAL = ("GENERAL_ERROR", "RUNTIME_ERROR")
REFUSED = ("CONNECTION_REFUSED",)
NO_DAEMON = ("CONNECTION_REFUSED", "UNAVAILABLE", "SERVICE_UNAVAILABLE")
NO_HOST = ("HOST_NOT_FOUND",)
UNREACHABLE = ("HOST_UNREACHABLE",)
NO_CONNECT = ("CONNECTION_TIMEOUT", "TIMEOUT")
TIMED = ("TIMEOUT", "CONNECTION_TIMEOUT", "REQUEST_TIMEOUT", "GATEWAY_TIMEOUT")
DROPPED = ("BAD_GATEWAY", "UNAVAILABLE", "SERVICE_UNAVAILABLE", "CONNECTION_REFUSED")  # the other side hung up
PROTOCOL = ("BAD_GATEWAY", "MALFORMED_INPUT", "INVALID_ARGUMENT", "NOT_CONFIGURED")  # the other side speaks another protocol
TLS = ("NOT_CONFIGURED", "PRECONDITION", "NOT_AUTHORIZED", "UNAUTHORIZED", "FORBIDDEN")  # a certificate that is not trusted
LOGIN = ("AUTH_REQUIRED", "UNAUTHORIZED", "AUTH_TOKEN_EXPIRED")  # no credentials, or wrong ones
NOT_ALLOWED = ("NOT_AUTHORIZED", "FORBIDDEN", "PERMISSION_DENIED", "NOT_OWNER")
CANCEL = ("CANCELLED",)
CRASH = ("RUNTIME_ERROR", "INTERNAL_ERROR", "GENERAL_ERROR")
MEMORY = ("RUNTIME_ERROR", "INSUFFICIENT_STORAGE", "GENERAL_ERROR")
STATUS = {
    400: ("BAD_REQUEST",), 401: LOGIN, 403: NOT_ALLOWED, 404: ABSENT, 405: ("METHOD_NOT_ALLOWED",), 406: ("NOT_ACCEPTABLE",),
    407: ("PROXY_AUTHENTICATION_REQUIRED", *LOGIN), 408: ("REQUEST_TIMEOUT", "TIMEOUT"), 409: ("CONFLICT", "ALREADY_EXISTS"), 410: ("GONE", "NOT_FOUND"),
    411: ("LENGTH_REQUIRED",), 412: ("PRECONDITION_FAILED", "PRECONDITION"), 413: ("CONTENT_TOO_LARGE",), 415: ("UNSUPPORTED_MEDIA_TYPE",),
    416: ("RANGE_NOT_SATISFIABLE",), 422: ("UNPROCESSABLE_CONTENT", "VALIDATION_ERROR"), 423: ("LOCKED",), 429: ("RATE_LIMITED", "TOO_MANY_REQUESTS"),
    451: ("UNAVAILABLE_FOR_LEGAL_REASONS",), 500: ("INTERNAL_ERROR", "RUNTIME_ERROR", "GENERAL_ERROR", "BAD_GATEWAY"),
    501: ("NOT_IMPLEMENTED",), 502: ("BAD_GATEWAY", "UNAVAILABLE"), 503: ("UNAVAILABLE", "SERVICE_UNAVAILABLE"),
    504: ("GATEWAY_TIMEOUT", "TIMEOUT", "UNAVAILABLE"), 507: FULL}
# Can the same request work later? A 500 may or may not be a passing state.
AGAIN = {408: True, 423: True, 429: True, 500: None, 502: True, 503: True, 504: True}


class Case:
    """One command that fails. `setup` is a shell script that runs before it in the empty folder; what it starts is ended afterwards."""

    def __init__(self, name, line, label, retry=False, setup=None, user=False, env=None, stdin=None, stdout=None, cwd=".", limits=None,
                 kill=None, needs=None, absent=False):
        self.name, self.argv = name, shlex.split(line) if isinstance(line, str) else line
        self.program = os.path.basename(self.argv[0])
        self.answer = label is None
        self.code, self.also = (None, []) if label is None else (label[0], list(label[1:]))
        self.retry, self.setup, self.user, self.env = retry, setup, user, env or {}
        self.stdin, self.stdout, self.cwd, self.limits, self.kill = stdin, stdout, cwd, limits or {}, kill
        self.needs, self.absent = needs, absent


def case(name, line, label, **more):
    add(Case(name, line, label, **more))


def answer(name, line, **more):
    add(Case(name, line, None, **more))


def add(made):
    """Into the list, with the module that wrote it: one module of cases may take words from another."""
    made.module = sys._getframe(2).f_globals["__name__"].rsplit(".", 1)[-1]
    CASES.append(made)
