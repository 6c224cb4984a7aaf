#!/usr/bin/env python3
"""Write mishap/__init__.pyi, the types of the package, with the codes of catalog/codes.txt.

    bindings/python/stub.py            write it
    bindings/python/stub.py --check    fail if it is not up to date
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
CODES = HERE.parent.parent / "catalog" / "codes.txt"
STUB = HERE / "mishap" / "__init__.pyi"

TEMPLATE = '''\
# Written by bindings/python/stub.py from catalog/codes.txt. Do not edit.
from typing import Any, Callable, Final, Iterable, Literal, NamedTuple, Optional, Sequence, TypedDict, Union

CodeName = Literal[
{names}
]
Dialect = Literal[
    "condition-report", "cli-envelope", "artifact", "http-api", "tool-result", "problem", "json-rpc", "google-rpc",
    "json-api", "graphql", "canonical",
]
Category = Literal["validation", "permission", "resource", "execution", "system"]
Text = Union[str, bytes]

class _FieldName(TypedDict):
    field: str

class Field(_FieldName, total=False):
    error: str
    message: str
    expected: Any
    actual: Any
    min: Union[int, float]
    max: Union[int, float]

class Mishap(Exception):
    def __init__(
        self, code: CodeName, message: Optional[Text] = None, *, context: Optional[dict[str, Any]] = None,
        fields: Optional[Sequence[Field]] = None, suggestion: Optional[str] = None, reason: Optional[str] = None,
        docs: Optional[str] = None, retryable: Optional[bool] = None, retry_after: Optional[float] = None,
        incident: Optional[str] = None, category: Optional[Category] = None, notes: Optional[dict[str, Any]] = None,
    ) -> None: ...
    message: str
    context: dict[str, Any]
    fields: list[Field]
    suggestion: Optional[str]
    reason: Optional[str]
    docs: Optional[str]
    retryable: bool
    retry_after: Optional[float]
    incident: Optional[str]
    category: Category
    notes: dict[str, Any]
    cause: Optional[BaseException]
    @property
    def code(self) -> CodeName: ...
    @property
    def status(self) -> int: ...
    @property
    def exit_code(self) -> int: ...
    @property
    def title(self) -> str: ...
    def render(self, dialect: Dialect = "problem") -> str: ...

class Finding(NamedTuple):
    rule: str
    severity: Literal["warning", "error", "fatal"]
    place: str
    sentence: str

class ParseError(Mishap, ValueError):
    findings: list[Finding]

class Code(NamedTuple):
    name: CodeName
    title: str
    message: str
    suggestion: str
    category: Category
    retry: Literal["never", "fix", "yes"]
    status: int
    exit_code: int
    rpc_code: int
    retry_after: Optional[float]
    masked: bool

class Answer(NamedTuple):
    status: int
    body: bytes
    headers: list[tuple[str, str]]
    incident: Optional[str]
    mishap: Mishap

def parse(document: Text, dialect: Dialect = "problem") -> Mishap: ...
def translate(document: Text, source: Dialect, target: Dialect) -> str: ...
def verify(document: Text, dialect: Dialect = "problem", strict: bool = False) -> list[Finding]: ...
def guard(text: Text, strict: bool = False, known: Iterable[Text] = ()) -> str: ...
def describe(code: CodeName) -> Code: ...
def code_for_status(status: int) -> CodeName: ...
def media_type(dialect: Dialect) -> str: ...
def new_incident() -> str: ...
def answer(
    exception: BaseException, dialect: Dialect = "problem", *, strict: bool = False,
    known: Optional[Callable[[], Iterable[Text]]] = None, status: Optional[int] = None,
) -> Answer: ...
def set_sink(sink: Optional[Callable[[dict[str, Any]], Any]]) -> None: ...

codes: tuple[CodeName, ...]
dialects: tuple[Dialect, ...]
version: str
__version__: str

{constants}
'''


def stub():
    names = re.findall(r"^([A-Z][A-Z0-9_]+)\s+(?:validation|permission|resource|execution|system)\s", CODES.read_text(encoding="utf-8"), re.M)
    return TEMPLATE.format(names="\n".join(f'    "{name}",' for name in names),
                           constants="\n".join(f'{name}: Final = "{name}"' for name in names))


if sys.argv[1:] == ["--check"]:
    if not STUB.exists() or STUB.read_text(encoding="utf-8") != stub():
        sys.exit("mishap/__init__.pyi is not what catalog/codes.txt says: run bindings/python/stub.py")
else:
    STUB.write_text(stub(), encoding="utf-8")
