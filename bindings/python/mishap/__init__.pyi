# Written by bindings/python/stub.py from catalog/codes.txt. Do not edit.
from typing import Any, Callable, Final, Iterable, Literal, NamedTuple, Optional, Sequence, TypedDict, Union

CodeName = Literal[
    "VALIDATION_ERROR",
    "ARG_ERROR",
    "INVALID_ARGUMENT",
    "MISSING_ARGUMENT",
    "INVALID_TYPE",
    "FIELD_REQUIRED",
    "INVALID_LENGTH",
    "VALUE_OUT_OF_RANGE",
    "PATTERN_MISMATCH",
    "VALUE_ERROR",
    "INPUT_REQUIRED",
    "BAD_REQUEST",
    "MALFORMED_INPUT",
    "UNKNOWN_COMMAND",
    "METHOD_NOT_FOUND",
    "UNKNOWN_OPTION",
    "METHOD_NOT_ALLOWED",
    "NOT_ACCEPTABLE",
    "LENGTH_REQUIRED",
    "CONTENT_TOO_LARGE",
    "URI_TOO_LONG",
    "UNSUPPORTED_MEDIA_TYPE",
    "RANGE_NOT_SATISFIABLE",
    "EXPECTATION_FAILED",
    "MISDIRECTED_REQUEST",
    "UNPROCESSABLE_CONTENT",
    "UPGRADE_REQUIRED",
    "REQUEST_HEADER_FIELDS_TOO_LARGE",
    "NOT_AUTHORIZED",
    "NOT_OWNER",
    "PERMISSION_DENIED",
    "FORBIDDEN",
    "INSUFFICIENT_FUNDS",
    "PAYMENT_REQUIRED",
    "AUTH_REQUIRED",
    "AUTH_TOKEN_EXPIRED",
    "UNAUTHORIZED",
    "PROXY_AUTHENTICATION_REQUIRED",
    "NETWORK_AUTHENTICATION_REQUIRED",
    "UNAVAILABLE_FOR_LEGAL_REASONS",
    "NOT_FOUND",
    "GONE",
    "ALREADY_EXISTS",
    "ALREADY_LISTED",
    "CONFLICT",
    "LOCKED",
    "FAILED_DEPENDENCY",
    "PRECONDITION",
    "PRECONDITION_FAILED",
    "PRECONDITION_REQUIRED",
    "TOO_EARLY",
    "REDIRECTED",
    "TIMEOUT",
    "REQUEST_TIMEOUT",
    "RUNTIME_ERROR",
    "SYNTAX_ERROR",
    "IMPORT_ERROR",
    "GENERAL_ERROR",
    "PARTIAL_FAILURE",
    "CANCELLED",
    "NONCONFORMING",
    "TYPE_ERROR",
    "UNDEFINED_FUNCTION",
    "UNBOUND_VARIABLE",
    "DIVISION_BY_ZERO",
    "SIMPLE_ERROR",
    "PROGRAM_ERROR",
    "PACKAGE_ERROR",
    "READER_ERROR",
    "END_OF_FILE",
    "INTERNAL_ERROR",
    "NOT_CONFIGURED",
    "NOT_IMPLEMENTED",
    "UNAVAILABLE",
    "SERVICE_UNAVAILABLE",
    "RATE_LIMITED",
    "TOO_MANY_REQUESTS",
    "CONNECTION_REFUSED",
    "CONNECTION_TIMEOUT",
    "HOST_NOT_FOUND",
    "HOST_UNREACHABLE",
    "BAD_GATEWAY",
    "GATEWAY_TIMEOUT",
    "INPUT_UNREADABLE",
    "OUTPUT_FAILED",
    "HTTP_VERSION_NOT_SUPPORTED",
    "INSUFFICIENT_STORAGE",
    "LOOP_DETECTED",
    "VARIANT_ALSO_NEGOTIATES",
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

VALIDATION_ERROR: Final = "VALIDATION_ERROR"
ARG_ERROR: Final = "ARG_ERROR"
INVALID_ARGUMENT: Final = "INVALID_ARGUMENT"
MISSING_ARGUMENT: Final = "MISSING_ARGUMENT"
INVALID_TYPE: Final = "INVALID_TYPE"
FIELD_REQUIRED: Final = "FIELD_REQUIRED"
INVALID_LENGTH: Final = "INVALID_LENGTH"
VALUE_OUT_OF_RANGE: Final = "VALUE_OUT_OF_RANGE"
PATTERN_MISMATCH: Final = "PATTERN_MISMATCH"
VALUE_ERROR: Final = "VALUE_ERROR"
INPUT_REQUIRED: Final = "INPUT_REQUIRED"
BAD_REQUEST: Final = "BAD_REQUEST"
MALFORMED_INPUT: Final = "MALFORMED_INPUT"
UNKNOWN_COMMAND: Final = "UNKNOWN_COMMAND"
METHOD_NOT_FOUND: Final = "METHOD_NOT_FOUND"
UNKNOWN_OPTION: Final = "UNKNOWN_OPTION"
METHOD_NOT_ALLOWED: Final = "METHOD_NOT_ALLOWED"
NOT_ACCEPTABLE: Final = "NOT_ACCEPTABLE"
LENGTH_REQUIRED: Final = "LENGTH_REQUIRED"
CONTENT_TOO_LARGE: Final = "CONTENT_TOO_LARGE"
URI_TOO_LONG: Final = "URI_TOO_LONG"
UNSUPPORTED_MEDIA_TYPE: Final = "UNSUPPORTED_MEDIA_TYPE"
RANGE_NOT_SATISFIABLE: Final = "RANGE_NOT_SATISFIABLE"
EXPECTATION_FAILED: Final = "EXPECTATION_FAILED"
MISDIRECTED_REQUEST: Final = "MISDIRECTED_REQUEST"
UNPROCESSABLE_CONTENT: Final = "UNPROCESSABLE_CONTENT"
UPGRADE_REQUIRED: Final = "UPGRADE_REQUIRED"
REQUEST_HEADER_FIELDS_TOO_LARGE: Final = "REQUEST_HEADER_FIELDS_TOO_LARGE"
NOT_AUTHORIZED: Final = "NOT_AUTHORIZED"
NOT_OWNER: Final = "NOT_OWNER"
PERMISSION_DENIED: Final = "PERMISSION_DENIED"
FORBIDDEN: Final = "FORBIDDEN"
INSUFFICIENT_FUNDS: Final = "INSUFFICIENT_FUNDS"
PAYMENT_REQUIRED: Final = "PAYMENT_REQUIRED"
AUTH_REQUIRED: Final = "AUTH_REQUIRED"
AUTH_TOKEN_EXPIRED: Final = "AUTH_TOKEN_EXPIRED"
UNAUTHORIZED: Final = "UNAUTHORIZED"
PROXY_AUTHENTICATION_REQUIRED: Final = "PROXY_AUTHENTICATION_REQUIRED"
NETWORK_AUTHENTICATION_REQUIRED: Final = "NETWORK_AUTHENTICATION_REQUIRED"
UNAVAILABLE_FOR_LEGAL_REASONS: Final = "UNAVAILABLE_FOR_LEGAL_REASONS"
NOT_FOUND: Final = "NOT_FOUND"
GONE: Final = "GONE"
ALREADY_EXISTS: Final = "ALREADY_EXISTS"
ALREADY_LISTED: Final = "ALREADY_LISTED"
CONFLICT: Final = "CONFLICT"
LOCKED: Final = "LOCKED"
FAILED_DEPENDENCY: Final = "FAILED_DEPENDENCY"
PRECONDITION: Final = "PRECONDITION"
PRECONDITION_FAILED: Final = "PRECONDITION_FAILED"
PRECONDITION_REQUIRED: Final = "PRECONDITION_REQUIRED"
TOO_EARLY: Final = "TOO_EARLY"
REDIRECTED: Final = "REDIRECTED"
TIMEOUT: Final = "TIMEOUT"
REQUEST_TIMEOUT: Final = "REQUEST_TIMEOUT"
RUNTIME_ERROR: Final = "RUNTIME_ERROR"
SYNTAX_ERROR: Final = "SYNTAX_ERROR"
IMPORT_ERROR: Final = "IMPORT_ERROR"
GENERAL_ERROR: Final = "GENERAL_ERROR"
PARTIAL_FAILURE: Final = "PARTIAL_FAILURE"
CANCELLED: Final = "CANCELLED"
NONCONFORMING: Final = "NONCONFORMING"
TYPE_ERROR: Final = "TYPE_ERROR"
UNDEFINED_FUNCTION: Final = "UNDEFINED_FUNCTION"
UNBOUND_VARIABLE: Final = "UNBOUND_VARIABLE"
DIVISION_BY_ZERO: Final = "DIVISION_BY_ZERO"
SIMPLE_ERROR: Final = "SIMPLE_ERROR"
PROGRAM_ERROR: Final = "PROGRAM_ERROR"
PACKAGE_ERROR: Final = "PACKAGE_ERROR"
READER_ERROR: Final = "READER_ERROR"
END_OF_FILE: Final = "END_OF_FILE"
INTERNAL_ERROR: Final = "INTERNAL_ERROR"
NOT_CONFIGURED: Final = "NOT_CONFIGURED"
NOT_IMPLEMENTED: Final = "NOT_IMPLEMENTED"
UNAVAILABLE: Final = "UNAVAILABLE"
SERVICE_UNAVAILABLE: Final = "SERVICE_UNAVAILABLE"
RATE_LIMITED: Final = "RATE_LIMITED"
TOO_MANY_REQUESTS: Final = "TOO_MANY_REQUESTS"
CONNECTION_REFUSED: Final = "CONNECTION_REFUSED"
CONNECTION_TIMEOUT: Final = "CONNECTION_TIMEOUT"
HOST_NOT_FOUND: Final = "HOST_NOT_FOUND"
HOST_UNREACHABLE: Final = "HOST_UNREACHABLE"
BAD_GATEWAY: Final = "BAD_GATEWAY"
GATEWAY_TIMEOUT: Final = "GATEWAY_TIMEOUT"
INPUT_UNREADABLE: Final = "INPUT_UNREADABLE"
OUTPUT_FAILED: Final = "OUTPUT_FAILED"
HTTP_VERSION_NOT_SUPPORTED: Final = "HTTP_VERSION_NOT_SUPPORTED"
INSUFFICIENT_STORAGE: Final = "INSUFFICIENT_STORAGE"
LOOP_DETECTED: Final = "LOOP_DETECTED"
VARIANT_ALSO_NEGOTIATES: Final = "VARIANT_ALSO_NEGOTIATES"
