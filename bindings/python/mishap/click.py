"""click: errors of a command in one shape, with exit codes that say what failed.

    import mishap.click
    mishap.click.install(command)

On a terminal an error is a few lines on stderr; a pipe gets the error object of the cli-envelope on stdout, as one line.
"""
import functools
import sys

import click

from mishap import Mishap, _command


class Failed(Exception):
    """A failure on its way through click, which would show its own errors itself."""


def mishap_of(exception):
    """The mishap for an error of click; any other exception as it is."""
    if not isinstance(exception, click.ClickException):
        return exception
    message = _command.sentence(exception.format_message())
    if isinstance(exception, click.NoSuchOption):
        return Mishap("UNKNOWN_OPTION", message, context={"option": exception.option_name})
    if isinstance(exception, click.MissingParameter):
        return Mishap("MISSING_ARGUMENT", message)
    if isinstance(exception, click.UsageError):
        return Mishap("ARG_ERROR", message)
    if isinstance(exception, click.FileError):
        return Mishap("INPUT_UNREADABLE", message)
    return Mishap("GENERAL_ERROR", message)


def passed(function):
    """The function, whose failures pass through click. What ends a command by click's own rules does so."""
    @functools.wraps(function)
    def call(*args, **keywords):
        try:
            return function(*args, **keywords)
        except (click.exceptions.Exit, click.Abort, BrokenPipeError, EOFError, Failed):
            raise
        except Exception as exception:
            raise Failed from exception
    return call


def install(command, *, dialect="cli-envelope"):
    """Show the failures of this command, and of its sub-commands, and exit with their codes."""
    main, make_context, invoke = command.main, command.make_context, command.invoke

    def shown(args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        if not standalone_mode:  # the caller handles the exceptions of click
            return main(args, prog_name, complete_var, standalone_mode=False, **extra)
        command.make_context, command.invoke = passed(make_context), passed(invoke)
        try:
            return main(args, prog_name, complete_var, standalone_mode=True, **extra)
        except Failed as failed:
            sys.exit(_command.show(mishap_of(failed.__cause__), dialect))
        finally:
            command.make_context, command.invoke = make_context, invoke

    command.main = shown
    return command
