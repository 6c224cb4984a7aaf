"""MCP: errors of tools, resources and prompts in one shape.

    import mishap.mcp
    mishap.mcp.install(server)        # FastMCP, MCPServer, or the low-level Server

A tool that fails answers with `isError` and a document of the dialect `tool-result` as text, which a model can read. An
exception that is no Mishap tells nothing but INTERNAL_ERROR and the id of the incident. Wrong arguments, as pydantic
reports them, name all fields. A resource or a prompt that fails is an error of the protocol whose message is such a
document. Errors that the program itself raises as such (McpError, MCPError) go on unchanged.
"""
import functools

from mishap import Mishap, _validation
from mishap._answer import answer, text_of

PROTOCOL = ("McpError", "MCPError", "UrlElicitationRequiredError")
WRAPPERS = ("ResourceError", "PromptError", "ValueError")  # what the SDK wraps failures of resources and prompts in
SPOKEN = ("ResourceError", "ResourceNotFoundError", "PromptError")


class ToolFailure(Exception):
    """What the SDK turns into the text of a result, or into the message of an error: its text is the document."""


def is_protocol(exception):
    return any(kind.__name__ in PROTOCOL for kind in type(exception).__mro__)


def is_arguments(exception, names):
    """Was it pydantic that refused the arguments? The SDK names their model after the tool; other models are ours."""
    models = [f"{name}Arguments" for name in names]
    return type(exception).__name__ == "ValidationError" and getattr(exception, "title", None) in models


def mishap_of(exception, names=()):
    """The failure inside of what the SDK wraps it in: ToolError("Error executing tool …") has it as its cause."""
    seen = exception
    while not isinstance(seen, Mishap) and type(seen).__name__ == "ToolError" and seen.__cause__ is not None:
        seen = seen.__cause__
    if isinstance(seen, Mishap):
        return seen
    if is_arguments(seen, names):
        return _validation.mishap_of(seen.errors())
    if type(seen).__name__ == "ToolError":  # raised by the tool or the SDK for the caller: its text is meant to be read
        unknown = str(seen).startswith("Unknown tool")
        return Mishap("NOT_FOUND" if unknown else "RUNTIME_ERROR", str(seen))
    return seen


def inner_of(exception):
    """The failure of a resource or prompt inside of what the SDK wraps it in: such a text ends with that of the failure."""
    for _ in range(8):
        behind = exception.__cause__ if exception.__cause__ is not None else exception.__context__
        if behind is None or type(exception).__name__ not in WRAPPERS or isinstance(exception, Mishap):
            break
        meant = exception.__cause__ is not None and type(exception).__name__ in SPOKEN
        if not meant and not text_of(exception).endswith(text_of(behind)):
            break
        exception = behind
    return exception


def mishap_of_content(exception):
    """The mishap for a failure of a resource or prompt."""
    seen = inner_of(exception)
    if isinstance(seen, Mishap):
        return seen
    kind, text = type(seen).__name__, text_of(seen)
    if kind in WRAPPERS + SPOKEN and text.startswith(("Unknown resource", "Unknown prompt")):
        return Mishap("NOT_FOUND", text)
    if kind == "ValueError" and text.startswith("Missing required arguments"):
        return Mishap("VALIDATION_ERROR", text)
    return Mishap("RUNTIME_ERROR", text) if kind in SPOKEN else exception


def texts_of(value, most=1000):
    """The texts in the arguments of a call: a failure may repeat them."""
    texts, left = [], [value]
    while left and len(texts) < most:
        one = left.pop()
        if isinstance(one, str):
            texts.append(one)
        elif isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, (list, tuple)):
            left.extend(one)
        elif one is not None and type(one).__name__.endswith("Url"):  # pydantic's, of a resource
            texts.append(str(one))
    return texts


def names_of(manager, tool):
    """The names that the SDK may have made the model of the arguments from: that of the tool, and of its function."""
    names = [tool]
    find = getattr(manager, "get_tool", None)
    if callable(find):
        names.append(getattr(getattr(find(tool), "fn", None), "__name__", tool))
    return names


class Guarded:
    """What install() was told, and the functions that it makes of those of the server: their failures carry a document."""

    def __init__(self, dialect, strict, manager=None):
        self.dialect, self.strict, self.manager = dialect, strict, manager

    def tool(self, function):
        """The function that calls a tool."""
        return self.wrapped(function, lambda exception, name: mishap_of(exception, names_of(self.manager, name)))

    def content(self, function):
        """The function that reads a resource or makes a prompt."""
        return self.wrapped(function, lambda exception, _: mishap_of_content(exception))

    def wrapped(self, function, convert):
        @functools.wraps(function)
        async def call(*args, **keywords):
            try:
                return await function(*args, **keywords)
            except ToolFailure:
                raise
            except Exception as exception:
                if is_protocol(exception):
                    raise
                try:
                    failure = convert(exception, args[0] if args else keywords.get("name"))
                except Exception:  # a validation error that cannot list its errors
                    failure = exception
                made = answer(failure, self.dialect, strict=self.strict,
                              known=lambda: texts_of([*args, *keywords.values()]))
            raise ToolFailure(made.body.decode())
        return call

    def declared(self, declare, wrap):
        """A decorator of the low-level Server that wraps what it declares."""
        @functools.wraps(declare)
        def decorator(*args, **keywords):
            put = declare(*args, **keywords)
            return lambda function: put(wrap(function))
        return decorator


def install(server, *, dialect="tool-result", strict=False):
    """Give the failures of all tools, resources and prompts of this server one shape."""
    manager = getattr(server, "_tool_manager", None)
    guarded = Guarded(dialect, strict, manager)
    if manager is not None and callable(getattr(manager, "call_tool", None)):
        manager.call_tool = guarded.tool(manager.call_tool)
        install_content(server, guarded)
        return server
    if not callable(getattr(server, "call_tool", None)):
        raise TypeError("mishap.mcp.install() takes a FastMCP, an MCPServer or a low-level Server.")
    server.call_tool = guarded.declared(server.call_tool, guarded.tool)
    for name in CONTENT:
        if callable(getattr(server, name, None)):
            setattr(server, name, guarded.declared(getattr(server, name), guarded.content))
    make = getattr(server, "_make_error_result", None)
    if callable(make):
        server._make_error_result = lambda text: make(text_of_refusal(text, dialect, strict))
    return server


CONTENT = ("read_resource", "get_prompt")


def install_content(server, guarded):
    """Resources and prompts of a FastMCP. Its low-level server has the methods already, so it gets the wrapped ones."""
    inner = getattr(server, "_mcp_server", None)
    for name in CONTENT:
        if callable(getattr(server, name, None)):
            setattr(server, name, guarded.content(getattr(server, name)))
            if callable(getattr(inner, name, None)):
                getattr(inner, name)()(getattr(server, name))


def text_of_refusal(text, dialect, strict):
    """The text of a result that the low-level Server makes by itself: a document stays, the others become one."""
    if text.startswith("{"):
        return text
    said = text.partition("Input validation error: ")[2]
    failure = Mishap("VALIDATION_ERROR", said + ("" if said.endswith(".") else ".")) if said else RuntimeError(text)
    return answer(failure, dialect, strict=strict).body.decode()
