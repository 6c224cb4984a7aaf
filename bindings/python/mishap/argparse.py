"""argparse: errors of a command in one shape, with exit codes that say what failed.

    parser = argparse.ArgumentParser()
    mishap.argparse.install(parser)
    mishap.argparse.run(main)

On a terminal an error is a few lines on stderr; a pipe gets the error object of the cli-envelope on stdout, as one line.
"""
from mishap import Mishap, _command

run = _command.run


def install(parser):
    """Wrong arguments of this parser, and of its sub-commands, become ARG_ERROR or UNKNOWN_OPTION. `run` shows it."""
    import argparse
    import sys
    parse, words, left = parser.parse_known_args, [], []

    def parse_known_args(args=None, namespace=None):
        words[:], left[:] = sys.argv[1:] if args is None else args, ()
        parsed = parse(args, namespace)
        left[:] = parsed[1]  # of sub-commands, too
        return parsed

    def error(message):
        unknown = next((word.partition("=")[0] for word in left if word and word[0] in parser.prefix_chars), None) or first_unknown(parser, words)
        context = {"usage": " ".join(parser.format_usage().split())}
        if unknown is None:
            raise Mishap("ARG_ERROR", _command.sentence(message), context=context)
        # argparse speaks of arguments that are missing first, and does not name the option then.
        message = message if unknown in message else f"unrecognized option: {unknown}"
        raise Mishap("UNKNOWN_OPTION", _command.sentence(message), context={"option": unknown, **context})

    parser.parse_known_args, parser.error = parse_known_args, error
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in set(action.choices.values()):
                install(below)
    return parser


def first_unknown(parser, words):
    """The first word that looks like an option and is none of this parser. Behind a sub-command they are not its own."""
    import argparse
    commands = {name for action in parser._actions if isinstance(action, argparse._SubParsersAction) for name in action.choices}
    for word in words:
        if word == "--" or word in commands:
            return None
        if not isinstance(word, str) or len(word) < 2 or word[0] not in parser.prefix_chars or " " in word:
            continue
        name = word.partition("=")[0]
        if not is_number(word) and not is_known(parser, name):
            return name
    return None


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def is_known(parser, name):
    """A whole option, the beginning of one (--col), or several letters in one word (-xvf)."""
    options = parser._option_string_actions
    if name in options:
        return True
    if parser.allow_abbrev and any(option.startswith(name) for option in options):
        return True
    return name[1] not in parser.prefix_chars and name[:2] in options
