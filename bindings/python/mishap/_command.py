"""What the adapters for commands share: how a failure is shown, and how the program ends."""
import sys

from mishap._answer import answer


def sentence(text):
    text = str(text).strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def show(exception, dialect="cli-envelope"):
    """Show the failure to the user of a command. The result is the exit code."""
    made = answer(exception, dialect)
    if sys.stdout is not None and not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(made.body + b"\n")
        sys.stdout.flush()
    else:
        show_lines(made)
    return made.mishap.exit_code


def show_lines(made):
    """For people: what went wrong, each wrong field, what to try, and the id for the operator."""
    import json
    error = json.loads(made.body).get("error") or {}
    print(f"error {error.get('code')}  {error.get('message')}", file=sys.stderr)
    for field in error.get("errors") or []:
        print(f"    {field.get('param')}: {field.get('message') or field.get('code')}", file=sys.stderr)
    if error.get("suggestion"):
        print(f"    try: {error['suggestion']}", file=sys.stderr)
    if made.incident:
        print(f"    incident: {made.incident}", file=sys.stderr)


def run(main, *args, dialect="cli-envelope", **keywords):
    """Run `main` and end the program: with its result as the exit code, or with the failure and its code."""
    try:
        result = main(*args, **keywords)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as exception:
        sys.exit(show(exception, dialect))
    sys.exit(result)
