"""The symbolic engine as a worker, and what Python itself says of the same code: for tests, the fuzzer and the benchmark."""
import ast
import dis
import functools
import inspect
import itertools
import json
import math
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import warnings

warnings.simplefilter("ignore")

PROGRAM = os.environ.get("SYMBOLIC_PROGRAM", "")

# `make test` asks every eighth question of the long lists, `make test-all` each of them.
EVERY = int(os.environ.get("SYMBOLIC_EVERY", "1"))


def sample(rows):
    """The rows of a list that this run asks about."""
    return rows[::EVERY]


class Engine:
    """One process of mishap-symbolic, spoken to over descriptor 3."""

    def __init__(self, program=None, *options, pool="late"):
        """`pool`: with "first" typical inputs are called before the paths are explored, which hides what the paths would say."""
        self.words = [program or PROGRAM, "--pool", pool, *options]
        self.id = 0
        self.start()

    def start(self):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.said = tempfile.TemporaryFile()
        held = theirs.fileno()
        self.process = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" "$@" 3<&%d' % held, *self.words], pass_fds=[held], stdin=subprocess.DEVNULL,
                                        stderr=self.said)
        theirs.close()
        assert self.read() == {"ready": 1}

    def is_ended_by_solver(self):
        """Z3 4.8 and cvc5 1.0 may end the process when the time limit interrupts them. The service starts another one then, too."""
        self.process.wait(120)
        self.said.seek(0)
        said = self.said.read()
        sys.stderr.write(said.decode("utf-8", "replace"))
        return b"cadical: fatal error" in said or b"a fault inside of lib" in said

    def read(self):
        text = b""
        while True:
            packet = self.socket.recv(65536)
            if not packet:
                raise EOFError("the engine ended")
            if packet[:1] in b"=<":
                text = b""
            text += packet[1:]
            if packet[:1] in b"=>":
                return json.loads(text)

    def send(self, message):
        text = json.dumps(message).encode()
        pieces = [text[i:i + 65535] for i in range(0, len(text), 65535)]
        for i, piece in enumerate(pieces):
            last = i == len(pieces) - 1
            kind = b"=" if len(pieces) == 1 else b"<" if i == 0 else b">" if last else b"-"
            self.socket.send(kind + piece)

    def call(self, tool, **arguments):
        """The answer; a failure has its type and message beside the members of the tool."""
        self.id += 1
        reply = {"log": None}
        try:
            self.send({"id": self.id, "operation": "symbolic." + tool, "arguments": arguments})
            while "log" in reply:  # which is for the operator
                reply = self.read()
                assert reply["id"] == self.id, reply
        except (EOFError, ConnectionError) as error:
            if not self.is_ended_by_solver():
                raise EOFError("the engine ended with %s" % self.process.returncode) from error
            self.start()
            return {"status": "error", "error_type": "TimeoutError", "message": "A solver ended the engine.", "code": "TIMEOUT"}
        if "failure" in reply:
            failure = reply["failure"]
            return dict({"status": "error", **failure["context"]}, error_type=failure["type"], message=failure["message"], code=failure["code"])
        return reply["answer"]

    def processor_seconds(self):
        """What the engine and its replays have used of processors."""
        with open("/proc/%d/stat" % self.process.pid, "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def patient(self, tool, seconds, **arguments):
        """Ask with so many seconds of processor time. The engine counts by the clock: if its time was over before it had them, since
        other programs used the processors, it is asked again with as much time as it needs to get them."""
        wait = seconds
        for last in (False, False, False, True):
            begun, used = time.monotonic(), self.processor_seconds()
            answer = self.call(tool, timeout_seconds=wait, **arguments)
            took, used = time.monotonic() - begun, self.processor_seconds() - used
            if last or not ran_out_of_time(answer) or used >= 0.9 * seconds:
                return answer
            if used > 0:  # another process may have taken the place of one that a solver ended
                wait = 1.5 * seconds / min(max(used / max(took, 0.001), 0.05), 1)

    def close(self):
        self.socket.close()
        self.process.wait(120)


def ran_out_of_time(answer):
    """… and not into another limit, which more time does not change."""
    words = ("The time was over", "The solver could not decide", "A solver ended the engine")
    return answer.get("error_type") == "TimeoutError" and answer["message"].startswith(words)


# ---- What Python says --------------------------------------------------------------------------------------------------

@functools.lru_cache(64)
def compiled(code):
    return compile(code, "<code>", "exec")


def loaded(code):
    space = {"__name__": "__case__"}
    exec(compiled(code), space)
    return space


def contract(function):
    lines = [line.strip() for line in (function.__doc__ or "").splitlines()]
    found = {word: [line[len(word) + 1:].strip() for line in lines if line.startswith(word + ":")] for word in ("pre", "post", "raises")}
    found["raises"] = [name for line in found["raises"] for name in line.replace(",", " ").split()]
    return found


@functools.lru_cache(64)
def leading_asserts(code, name):
    """The lines of the asserts that a function begins with."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            lines = set()
            for i, statement in enumerate(node.body):
                if isinstance(statement, ast.Assert):
                    lines.update(range(statement.lineno, statement.end_lineno + 1))
                elif not (i == 0 and isinstance(statement, ast.Expr)):
                    break
            return lines
    return set()


def line_of(error):
    line, trace = 0, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "<code>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class Old:
    pass


class Given(list):
    """Arguments in the order in which they are given, and how."""

    def __init__(self, places, keywords):
        super().__init__([*places, *keywords.values()])
        self.places, self.keywords = places, keywords


def has_rest(function):
    """Does it take *args or **kwargs?"""
    return getattr(function, "__wrapped__", function).__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def parameters(function):
    """The names of all parameters, keyword-only ones and **kwargs last."""
    code = getattr(function, "__wrapped__", function).__code__
    count = code.co_argcount + code.co_kwonlyargcount
    stars = [bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)]
    names = code.co_varnames[:count + sum(stars)]
    return (*names[:code.co_argcount], *names[count:count + stars[0]], *names[code.co_argcount:count], *names[count + stars[0]:])


def given_to(function, arguments):
    """The arguments of a function with *args or **kwargs, from one for each parameter."""
    if isinstance(arguments, Given):
        return arguments
    places, keywords = [], {}
    for value, p in zip(arguments, inspect.signature(function).parameters.values()):
        if p.kind == p.VAR_POSITIONAL:
            places += value
        elif p.kind == p.VAR_KEYWORD:
            keywords.update(value)
        elif p.kind == p.KEYWORD_ONLY:
            keywords[p.name] = value
        else:
            places.append(value)
    return Given(places, keywords)


def named(function, arguments):
    """What each parameter gets, by its name."""
    if not has_rest(function):
        return dict(zip(parameters(function), arguments))
    given = given_to(function, arguments)
    bound = inspect.signature(function).bind(*given.places, **given.keywords)
    bound.apply_defaults()
    return dict(bound.arguments)


def called(function, arguments):
    if has_rest(function):
        given = given_to(function, arguments)
        return function(*given.places, **given.keywords)
    places = getattr(function, "__wrapped__", function).__code__.co_argcount
    return function(*arguments[:places], **dict(zip(parameters(function)[places:], arguments[places:])))


class Slow(BaseException):
    """Python itself takes too long for a call: raised by a timer of the fuzzer."""


def violated(code, name, make):
    """Does this call break the contract? `make(space)` gives fresh arguments. None: it does not, or is not meant by it."""
    space = loaded(code)
    function = space[name]
    agreed = contract(function)
    known = named(function, make(space))
    try:
        if not all(eval(words, {**space, **known}) for words in agreed["pre"]):
            return None
    except Exception:
        return None
    arguments = make(space)
    try:
        result = called(function, arguments)
    except BaseException as error:
        if isinstance(error, Slow):
            raise
        if isinstance(error, AssertionError) and line_of(error) in leading_asserts(code, name):
            return None
        if any(c.__name__ in agreed["raises"] for c in type(error).__mro__):
            return None
        return type(error).__name__
    old = Old()
    for key, value in named(function, make(space)).items():
        setattr(old, key, value)
    after = dict(named(function, arguments), _=result, __return__=result, __old__=old)
    for words in agreed["post"]:
        try:
            if not eval(words, {**space, **after}):
                return "post"
        except Exception:
            return "post"
    return None


def outcome(code, name, make):
    space = loaded(code)
    try:
        return "returned", called(space[name], make(space))
    except BaseException as error:
        if isinstance(error, Slow):
            raise
        return "raised", type(error).__name__, [c.__name__ for c in type(error).__mro__]


COPY, POP_EXCEPT, RERAISE = (dis.opmap.get(name) for name in ("COPY", "POP_EXCEPT", "RERAISE"))


def is_cleanup(code, at):
    """Whether Python raises an exception again there. It does so under the number of the last line of a `finally` block, which may not have run. If
    the block has a `return`, the exception before is restored first."""
    return code.co_code[at] == RERAISE or list(code.co_code[at:at + 6:2]) == [COPY, POP_EXCEPT, RERAISE]


def lines_of(code, name, make):
    """The lines of a function that a call runs."""
    space, ran = loaded(code), set()
    function = space[name]

    def local(frame, event, argument):
        if event == "line" and not is_cleanup(frame.f_code, frame.f_lasti):
            ran.add(frame.f_lineno)
        return local

    def trace(frame, event, argument):
        return local if frame.f_code is function.__code__ else None
    arguments = make(space)
    sys.settrace(trace)
    try:
        called(function, arguments)
    except Exception:
        pass  # the lines until then
    finally:
        sys.settrace(None)
    return ran


def same(a, b):
    """Are two outcomes the same to a caller? None: not known, as with two functions. The engine compares in pairs; this
    compares what both look like, written down."""
    if a[0] != b[0] or a[0] != "returned":
        return a[:2] == b[:2]
    left, right = shape(a[1], ()), shape(b[1], ())
    return True if left == right else None if "function " in left and "function " in right else False


def shape(v, around):
    """A value as text: equal for values that are the same."""
    if isinstance(v, complex):
        return repr(v)
    if isinstance(v, (int, float)):
        if v != v or v in (math.inf, -math.inf):
            return repr(float(v))
        return repr(int(v)) if v == int(v) else repr(v)
    if v is None or isinstance(v, (str, bytes)):
        return repr(v)
    if id(v) in around:
        return "loop %d" % around.index(id(v))
    around = around + (id(v),)

    def of(*parts):
        return "(" + ", ".join(shape(part, around) for part in parts) + ")"

    def pairs(mapping):
        return "{" + ", ".join(sorted(of(*item) for item in mapping.items())) + "}"
    name = "%s " % type(v).__qualname__
    if hasattr(v, "__next__"):
        items = []
        try:
            for item in itertools.islice(v, 10000):
                items.append(shape(item, around))
        except Exception as error:
            items.append("raises " + type(error).__qualname__)
        return "iterator [%s]" % ", ".join(items)
    if isinstance(v, range):
        return "range " + (of(v[0], v[-1], v.step if v[0] != v[-1] else 0) if v else "()")
    if isinstance(v, (list, tuple)):
        return ("list " if isinstance(v, list) else "tuple ") + of(*v)
    if isinstance(v, dict):
        return "dict " + pairs(v)
    if isinstance(v, (set, frozenset)):
        return "set {%s}" % ", ".join(sorted(shape(item, around) for item in v))
    if name in ("dict_keys ", "dict_items "):
        return name + ", ".join(sorted(shape(item, around) for item in v))
    if name == "dict_values ":
        return name + of(*v)
    if isinstance(v, type):
        return "class " + v.__qualname__
    if hasattr(v, "__code__"):
        cells = [cell.cell_contents for cell in v.__closure__ or ()]
        return "function %s %d %s" % (v.__qualname__, v.__code__.co_firstlineno, of(v.__defaults__, v.__kwdefaults__, cells))
    if hasattr(v, "__self__"):
        return "function of %s %s" % (v.__name__, "" if type(v.__self__) is type(math) else of(v.__self__))
    if isinstance(v, BaseException):
        return name + of(*v.args) + pairs(vars(v))
    equals = getattr(type(v).__eq__, "__code__", None)
    if equals and equals.co_filename == "<string>" and hasattr(v, "__dataclass_fields__"):  # it looks at the declared fields
        return name + pairs({f.name: getattr(v, f.name, "missing") for f in v.__dataclass_fields__.values() if f.compare})
    return name + (pairs(vars(v)) if hasattr(v, "__dict__") else repr(v))


# ---- A small domain ----------------------------------------------------------------------------------------------------

INTS = [-7, -3, -2, -1, 0, 1, 2, 3, 5, 10, 11, 42, 100, -100, 1000, 2 ** 31, -2 ** 63 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e308, 5e-324, math.inf, -math.inf, math.nan, 3.25]
STRINGS = ["", "a", "b", "ab", "abc", "hello", "A", " ", "0", "12", "-", "x=1", "\u00e9", "aa", "zz"]
BYTES = [b"", b"a", b"\x00", b"\xff", b"ab", b"\x01\x02", b"\xc3\xa9", b"abc", b"12", b"\x80\x00", b"\x7fELF", b"aa"]


def texts(annotation, depth=0):
    """Values of a type, as Python writes them."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if annotation is None:
        return [repr(i) for i in INTS]
    words = ast.unparse(annotation)
    if words == "int":
        return [repr(i) for i in (INTS if depth == 0 else [-1, 0, 1, 2, 7])]
    if words == "bool":
        return ["False", "True"]
    if words == "float":
        return ["float(%r)" % repr(f) for f in (FLOATS if depth == 0 else FLOATS[:4])]
    if words == "str":
        return [repr(s) for s in (STRINGS if depth == 0 else STRINGS[:4])]
    if words == "bytes":
        return [repr(b) for b in (BYTES if depth == 0 else BYTES[:4])]
    if words == "None":
        return ["None"]
    if isinstance(annotation, ast.BinOp):
        return texts(annotation.left, depth) + texts(annotation.right, depth)
    if isinstance(annotation, ast.Subscript):
        name = ast.unparse(annotation.value).split(".")[-1].lower()
        parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        if name == "optional":
            return ["None"] + texts(parts[0], depth)
        if name == "union":
            return [t for part in parts for t in texts(part, depth)]
        if name == "literal":
            return [ast.unparse(part) for part in parts]
        inner = texts(parts[0], depth + 1)
        if name == "tuple" and not (len(parts) == 2 and ast.unparse(parts[1]) == "..."):
            return ["(" + "".join(t + "," for t in each) + ")" for each in itertools.islice(
                itertools.product(*(texts(part, depth + 1) for part in parts)), 200)]
        if name == "dict":
            pairs = ["%s: %s" % each for each in itertools.product(inner[:3], texts(parts[1], depth + 1)[:3])]
            return ["{%s}" % ", ".join(each) for size in range(3) for each in itertools.combinations(pairs, size)]
        signs = {"list": "[%s]", "sequence": "[%s]", "set": "set([%s])", "frozenset": "frozenset([%s])", "tuple": "tuple([%s])"}
        if name in signs:
            return [signs[name] % ", ".join(each) for size in range(4) for each in itertools.product(inner[:4], repeat=size)]
    if words in ("list", "tuple", "set"):
        return ["%s([%s])" % (words, ", ".join(each)) for size in range(3) for each in itertools.product(["-1", "0", "1", "2"], repeat=size)]
    return None


def domain(code, name, most=400, seed=1):
    """Calls of a function over a small domain: argument lists as Python writes them."""
    tree = ast.parse(code)
    function = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]
    every = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def of(annotation):
        words = ast.unparse(annotation) if annotation is not None else ""
        if words in classes and any("Enum" in ast.unparse(base) for base in classes[words].bases):
            return ["%s.%s" % (words, ast.unparse(n.targets[0])) for n in classes[words].body if isinstance(n, ast.Assign)]
        if words in classes:
            fields = [texts(f.annotation, 1) for f in classes[words].body if isinstance(f, ast.AnnAssign)]
            return ["%s(%s)" % (words, ", ".join(each)) for each in itertools.islice(itertools.product(*fields), 300)]
        return texts(annotation)
    def rest(arg, keyword):
        """Several arguments, or none."""
        each = of(arg.annotation)
        signs = ["x=%s", "y=%s", "limit=%s"] if keyword else ["%s"] * 3
        return each and [", ".join(sign % words for sign, words in zip(signs, given)) for size in range(4) for given in itertools.product(each[:4], repeat=size)]
    stars = function.args.vararg, function.args.kwarg
    lists = [of(arg.annotation) for arg in every]
    if any(stars) and all(lists):
        places = len(every) - len(function.args.kwonlyargs)
        lists = [*lists[:places], *([rest(stars[0], False)] if stars[0] else []),
                 *(["%s=%s" % (arg.arg, words) for words in values] for arg, values in zip(every[places:], lists[places:])), *([rest(stars[1], True)] if stars[1] else [])]
    if any(values is None for values in lists):
        return None
    total = math.prod(len(values) for values in lists)
    if total <= most:
        return [", ".join(filter(None, each)) for each in itertools.product(*lists)]
    picker = random.Random(seed)
    return [", ".join(filter(None, [picker.choice(values) for values in lists])) for _ in range(most)]


def maker(words):
    """Fresh arguments, in the names of the code."""
    def make(space):
        return Given(*eval("(lambda *args, **kwargs: (args, kwargs))(" + words + ")", space))
    return make
