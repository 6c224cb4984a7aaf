"""What the adapters for HTTP share: errors of frameworks as mishaps, and answers of applications that have another shape."""
import json
from urllib.parse import parse_qsl, unquote

from mishap import Mishap, code_for_status, guard

# The most that is read of an error answer of an application; a longer one is replaced by its status alone.
MOST_READ = 256 * 1024
MOST_NOTED = 4096


def of_status(status, detail=None):
    """The mishap for an error that the application or its framework describes by a status and a text.

    The text of a server error is private: it becomes a note.
    """
    code = code_for_status(status)
    if status >= 500:
        return Mishap(code, notes={"detail": detail} if detail else None)
    message = sentence_of(detail, status) if isinstance(detail, str) else None
    context = None if detail is None or isinstance(detail, str) else {"detail": detail}
    return Mishap(code, message, context=context)


def sentence_of(text, status):
    """The text as a sentence; None for a text that only repeats the status, such as "Not Found"."""
    from http import HTTPStatus
    text = text.strip()
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    if not text or text.rstrip(".").lower() == phrase.lower():
        return None
    return text if text[-1] in ".!?" else text + "."


def known_of(path, query):
    """The texts of a request that an error may repeat."""
    texts = [path, unquote(path), query]
    for name, value in parse_qsl(query, keep_blank_values=True):
        texts += [name, value]
    return [text for text in texts if text]


# -- answers of an application in another shape --------------------------------------------------------------

def of_answer(status, fields, body, strict=False, known=None):
    """The mishap that replaces an error answer, or None if the answer may stay as it is.

    `fields` has header fields by their names in lower case, `body` is None if it could not be read. Pages and plain
    text are replaced. JSON with a text or a list of errors as `detail`, as frameworks write it, is converted. Other
    JSON stays, unless it leaks or is that of a server error. The operator's record has what was replaced. `known` is a
    function that returns the texts that the caller sent: they are no leak.
    """
    mishap = judged(status, fields.get("content-type", ""), None if "content-encoding" in fields else body, strict, known)
    if mishap is not None:
        if status >= 500 and body:
            mishap.notes["body"] = body[:MOST_NOTED]
        advice = fields.get("retry-after", "")
        if advice.isdigit() and len(advice) < 9:
            mishap.retry_after = int(advice)
    return mishap


def leaks(text, strict, known):
    """Whether the guard would replace something, apart from what the caller sent."""
    return guard(text, strict=strict) != text and (known is None or guard(text, strict=strict, known=known()) != text)


def judged(status, content_type, body, strict, known):
    if body is None:
        return of_status(status)
    kind = content_type.partition(";")[0].strip().lower()
    text = body.decode("utf-8", "replace")
    if kind != "application/json" and not kind.endswith("+json"):
        return of_status(status, text if kind == "text/plain" and len(text) <= 500 else None)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return of_status(status)
    if isinstance(document, dict) and set(document) == {"detail"}:
        return of_detail(status, document["detail"])
    if leaks(text, strict, known):
        return Mishap(code_for_status(status), text)  # the guard replaces the message, and the record has it
    return of_status(status) if status >= 500 and kind != "application/problem+json" else None


def of_detail(status, detail):
    from mishap import _validation
    if isinstance(detail, list) and detail and all(isinstance(item, dict) and "loc" in item for item in detail):
        return _validation.mishap_of(detail)
    return of_status(status, detail)
