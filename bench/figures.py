"""Figures of benchmarks: what counts as a measurement, and the line that a target is printed in.

A measurement of nothing is no result. A figure that is zero, negative or not a number, fewer calls than were asked for, and responses of
another kind than the one that is measured raise Void: run() prints the reason as one sentence, and the benchmark exits with 1. A target
that is missed is a result: it is printed, and the exit code stays 0. Where other programs take more than a tenth of a core from the
beginning of a benchmark on, no target is judged: the verdict is "unsure".
"""
import math
import statistics
import sys

from void import Void

EXIT_VOID = 1
QUIET = 0.1  # of a core may go to other programs

others = None  # processes.Others of the benchmark that runs


def say(text):
    print(f"mishap: {text}", file=sys.stderr, flush=True)


def figure(what, value):
    """The value, if something was measured."""
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise Void(f"{what} is {value}: nothing was measured")
    return value


def figures(what, values, count=None):
    """The values, if there are so many (at least one), and all of them were measured."""
    values = [figure(what, value) for value in values]
    if not values or count is not None and len(values) != count:
        raise Void(f"{what}: there are {len(values)} measurements, and {count or 'at least 1'} were asked for")
    return values


def median(what, values, count=None):
    return statistics.median(figures(what, values, count))


def ratios(what, above, below):
    """The ratio within each round, smallest first: both were measured in turn."""
    return sorted(a / b for a, b in zip(figures(what, above), figures(what, below, len(above))))


def answered(what, done, asked, wrong=0, refused=0, expected=0):
    """Calls that were answered, those whose connection failed, those with an error status, and how many of these are expected."""
    if not done or done < asked or wrong or refused != expected:
        raise Void(f"{what}: {done} calls were answered, and at least {asked} were asked for; "
                   f"{refused} had an error status, not {expected}; {wrong} failed")
    return done


# ---- A line for each target ----------------------------------------------------------------------------------------------


def digits(value):
    """Decimal places for three significant digits, so that a small figure is never printed as zero."""
    return max(0, 2 - math.floor(math.log10(value)))


def shown(what, value):
    return f"{figure(what, value):,.{digits(value)}f}"


def outcome(value, at_most=None, at_least=None, sure=True):
    """Whether a target is met, judged by the figure as it is printed. "unsure": other programs took too much of the machine."""
    printed = round(value, digits(value))
    met = (at_most is None or printed <= at_most) and (at_least is None or printed >= at_least)
    return "unsure" if not sure else "met" if met else "MISSED"


def with_unit(text, unit):
    return text + ("" if unit in ("", "×") else " ") + unit


def goal(unit, at_most=None, at_least=None):
    return with_unit(f"at most {at_most:,g}" if at_least is None else f"at least {at_least:,g}", unit)


def is_quiet():
    """Whether targets can be judged. Processes that end while they are counted leave no reading: then not."""
    try:
        return not others or others.share() <= QUIET
    except Void:
        return False


def row(what, value, unit, at_most=None, at_least=None, sure=True):
    """Print a figure, its target if it has one, and the verdict. The figure as it was printed."""
    text = f"{what:<58} {with_unit(shown(what, value), unit):>12}"
    if at_most is not None or at_least is not None:
        text += f"   {goal(unit, at_most, at_least):<18} {outcome(value, at_most, at_least, sure and is_quiet())}"
    print(text, flush=True)
    return round(value, digits(value))


# ---- The end of a benchmark ----------------------------------------------------------------------------------------------


def report_others():
    try:
        share = others.share()
    except Void:
        return
    if share > QUIET:
        print(f"Other programs took {share:.2f} of a core meanwhile; more than {QUIET} are too much to judge.", flush=True)


def run(main):
    global others
    try:
        import processes  # which needs this module
        others = processes.Others()
        main()
        report_others()
    except Void as why:
        say(f"void: {why}")
        sys.exit(EXIT_VOID)
