/* The lists of the validator. config://security is generated from them, so callers can read what is
 * refused. */
#include <stddef.h>

#include "tree/validate.h"

const char *const validate_blocked_modules[] = {
    "os",        "sys",     "subprocess", "shutil",   "pathlib",
    "socket",    "http",    "urllib",     "requests", "ftplib",
    "pickle",    "shelve",  "marshal",    "ctypes",   "multiprocessing",
    "importlib", "runpy",   "code",       "codeop",   "pty",
    "tty",       "termios", "threading",  "signal",   "fcntl",
    "resource",  "syslog",  "getpass",    NULL
};

const char *const validate_allowed_modules[] = {
    "math",      "random",   "string",    "collections", "itertools",
    "functools", "operator", "typing",    "re",          "json",
    "datetime",  "decimal",  "fractions", "statistics",  "dataclasses",
    "enum",      "copy",     "heapq",     "bisect",      "typing_extensions",
    "abc",       NULL
};

/* The last two lines are other ways to reach the same. */
const char *const validate_blocked_builtins[] = {
    "eval",    "exec",       "compile",     "__import__", "open",    "globals",
    "locals",  "vars",       "dir",         "breakpoint", "input",   "help",
    "exit",    "quit",       "copyright",   "credits",    "license", "setattr",
    "delattr", "memoryview", "classmethod", NULL
};

const char *const validate_blocked_attributes[] = { "__subclasses__", "__bases__", "__mro__",
                                                    "__globals__",    "__class__", "__code__",
                                                    "__builtins__",   NULL };

/* Beyond the attributes above: other ways to reach the same, as an attribute or a name. */
const char *const validate_blocked_indirect[] = {
    /* frames, code and tracebacks */
    "gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code", "f_globals", "f_locals",
    "f_builtins", "f_back", "f_code", "tb_frame", "tb_next", "co_consts", "co_code", "func_globals",
    "mro", "with_traceback",
    /* names that become attributes, text that becomes code */
    "attrgetter", "methodcaller", "get_type_hints", "ForwardRef", "evaluate_forward_ref",
    "format_map", "vformat", "get_field", "get_value", "convert_field", "Formatter",
    "make_dataclass", "namedtuple", "SystemRandom", "get_annotations", "singledispatch",
    "singledispatchmethod", NULL
};
/* Names with two underscores that are harmless; all others are refused. */
const char *const validate_allowed_dunders[] = {
    "__init__",    "__post_init__", "__name__",  "__doc__",      "__eq__",     "__ne__",
    "__lt__",      "__le__",        "__gt__",    "__ge__",       "__hash__",   "__repr__",
    "__str__",     "__len__",       "__bool__",  "__contains__", "__iter__",   "__next__",
    "__add__",     "__radd__",      "__sub__",   "__rsub__",     "__mul__",    "__rmul__",
    "__truediv__", "__floordiv__",  "__mod__",   "__pow__",      "__neg__",    "__pos__",
    "__abs__",     "__and__",       "__or__",    "__xor__",      "__invert__", "__getitem__",
    "__setitem__", "__call__",      "__enter__", "__exit__",     "__int__",    "__float__",
    "__return__",  "__old__",       "__debug__", "__slots__",    "__all__",    "__version__",
    "__author__",  "__future__",    NULL
};
/* Modules of the standard library that modules of the allow-list have as attributes, and modules
 * inside of them, which become attributes once any code of the process has imported them. */
const char *const validate_blocked_members[] = {
    "builtins",  "inspect", "types",       "warnings",    "contextlib", "codecs",      "io",
    "locale",    "struct",  "time",        "unicodedata", "weakref",    "keyword",     "reprlib",
    "ast",       "dis",     "linecache",   "tokenize",    "traceback",  "platform",    "tempfile",
    "gc",        "copyreg", "sre_compile", "sre_parse",   "numbers",    "bisect_",     "hashlib",
    "selectors", "asyncio", "ssl",         "zipimport",   "posix",      "nt",          "bltns",
    "stdlib_re", "decoder", "encoder",     "scanner",     "tool",       "templatelib", NULL
};
