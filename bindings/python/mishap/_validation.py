"""Validation errors of pydantic, versions 1 and 2, as fields of a mishap."""
from mishap import Mishap

PLACES = ("body", "query", "path", "header", "cookie")
MALFORMED = ("json_invalid", "value_error.jsondecode")

# The types of JSON by the words that pydantic has for them.
TYPES = {"int": "integer", "integer": "integer", "str": "string", "string": "string", "bool": "boolean",
         "float": "number", "decimal": "number", "list": "array", "tuple": "array", "set": "array", "dict": "object",
         "model": "object", "dataclass": "object", "date": "date", "datetime": "date-time", "time": "time",
         "uuid": "uuid", "bytes": "string", "none": "null"}
LENGTHS = ("too_short", "too_long", "min_length", "max_length", "min_items", "max_items")
RANGES = ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "not_gt", "not_ge", "not_lt", "not_le")


def mishap_of(errors):
    """One mishap for all errors: MALFORMED_INPUT if the body could not be read, else VALIDATION_ERROR."""
    for error in errors:
        if error.get("type") in MALFORMED:
            return Mishap("MALFORMED_INPUT", "The body is not valid JSON.")
    return Mishap("VALIDATION_ERROR", fields=[field_of(error) for error in errors])


def path_of(place):
    """("body", "items", 2, "name") is items[2].name."""
    parts = list(place)
    if len(parts) > 1 and parts[0] in PLACES:
        parts = parts[1:]
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path or "body"


def field_of(error):
    kind, said = str(error.get("type", "")), error.get("ctx") or {}
    last = kind.rpartition(".")[2]
    field = {"field": path_of(error.get("loc", ()))}
    message = str(error.get("msg", "")).strip()
    if message:
        field["message"] = message[0].upper() + message[1:] + ("" if message[-1] in ".!?" else ".")
    if last == "missing":
        field["error"] = "field_required"
    elif kind.startswith("type_error") or kind.endswith(("_type", "_parsing", "_from_float")):
        field["error"] = "invalid_type"
        word = last if kind.startswith("type_error") else kind.partition("_")[0]
        if word in TYPES:
            field["expected"] = TYPES[word]
    elif last.endswith(LENGTHS):
        field["error"] = "invalid_length"
        field.update(bounds_of(last, said))
    elif last in RANGES:
        field["error"] = "value_out_of_range"
        field.update(bounds_of(last, said))
    elif last in ("string_pattern_mismatch", "regex"):
        field["error"] = "pattern_mismatch"
        pattern = said.get("pattern")
        if isinstance(pattern, str):
            field["expected"] = pattern
    else:
        field["error"] = "invalid_value"
    return field


def bounds_of(last, said):
    """`min` or `max`, whichever was not kept."""
    for name in ("min_length", "max_length", "gt", "ge", "lt", "le", "limit_value"):
        value = said.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            lower = last.endswith(("too_short", "min_length", "min_items")) or last.startswith(("greater", "not_g"))
            return {"min" if lower else "max": value}
    return {}
