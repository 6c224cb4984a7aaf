"""What a person at a terminal sees: tables, progress, log lines, groups of commands.

Programs run on a pseudo-terminal of some width, and a small model of a terminal says what is on the screen.
"""
import concurrent.futures
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import journal
import leaks
from blackbox import PATIENCE, equal, expect, main, open_terminal, parsed, run_program, test, tests_of

MISHAP, SHOWN = os.environ["MISHAP_PROGRAM"], os.environ["SHOWN_PROGRAM"]
FOLDER = tempfile.TemporaryDirectory()
LOG = os.path.join(FOLDER.name, "log")
PLAIN = {"NO_COLOR": "1", "TERM": "xterm", "SHOWN_LOG": LOG, "MISHAP_LOG": LOG,
         "MISHAP_DATA": os.path.join(FOLDER.name, "data"), "SHOWN_TOKEN": "open-sesame-4711"}
BAR, ERASED = "[█░]+", b"\r\x1b[K"


# ---- A terminal ----------------------------------------------------------------------------------

def width_of(character):
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """Lines without end, as wide as the terminal. `drawn` has every line as it was when it was overwritten."""

    def __init__(self, width):
        self.width, self.lines, self.column, self.drawn = width, [""], 0, []

    def put(self, text):
        for piece in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\s\S]", text):
            self.put_one(piece)
        return self

    def put_one(self, piece):
        if piece == "\n":
            self.lines.append("")
        elif piece == "\r":
            if self.lines[-1]:
                self.drawn.append(self.lines[-1])
            self.column = 0
        elif piece == "\x1b[K":
            self.lines[-1] = self.lines[-1][:self.column]
        elif piece.startswith("\x1b"):
            expect(piece.endswith("m"), "an escape sequence that nobody needs:", piece)
        else:
            expect(piece >= " " and not "\x7f" <= piece < "\xa0", "a control character:", piece)
            line = self.lines[-1]
            self.lines[-1] = line[:self.column] + piece + line[self.column + 1:]
            self.column += 1

    def text(self):
        return "\n".join(self.lines)


class Terminal:
    """A program on a terminal; with `control` it is its controlling one, so that Ctrl-C works."""

    def __init__(self, *words, width=80, stdout=None, env=None, control=False):
        self.width, self.bytes = width, b""
        self.end, other = open_terminal()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        settings = termios.tcgetattr(other)  # at Ctrl-C a terminal drops what it has not shown yet: that could be all of the answer
        settings[3] |= termios.NOFLSH
        termios.tcsetattr(other, termios.TCSANOW, settings)
        words = ["setsid", "--ctty", *words] if control else words
        self.process = subprocess.Popen(words, stdin=other, stdout=stdout or other, stderr=other,
                                        env=dict(os.environ, **dict(PLAIN, **(env or {}))))
        os.close(other)

    def read(self):
        try:
            piece = os.read(self.end, 65536)
        except OSError:  # the other end is closed
            piece = b""
        self.bytes += piece
        return piece

    def read_until(self, pattern):
        while not re.search(pattern, self.bytes.decode("utf-8", "replace")):
            expect(self.read(), "it ended before", pattern, "came:", self.bytes)

    def finish(self):
        while self.read():
            pass
        status = self.process.wait(PATIENCE)
        os.close(self.end)
        text = self.bytes.decode("utf-8").replace("\r\n", "\n")
        leaks.check(text, text)
        return status, Screen(self.width).put(text)


def on_terminal(*words, **how):
    return Terminal(*words, **how).finish()


pool = concurrent.futures.ThreadPoolExecutor(20)


def ahead(function, *arguments, **more):
    """Work that takes time begins before the tests and side by side. A test calls what this returns for the result."""
    return pool.submit(function, *arguments, **more).result


def work_now(*words, **how):
    """(bytes, exit, screen) of a command on a terminal."""
    began = time.monotonic()
    terminal = Terminal(SHOWN, *words, **how)
    status, screen = terminal.finish()
    screen.seconds = time.monotonic() - began
    return terminal.bytes, status, screen


def work_ahead(*words, **how):
    return ahead(work_now, *words, **how)


def shown(*words, **how):
    status, screen = on_terminal(SHOWN, *words, **how)
    equal(status, 0, "exit")
    return screen.text()


# ---- Answers -------------------------------------------------------------------------------------

LIST = '[{"id":"1","name":"山田太郎","size":7,"tags":["a","b"]},{"id":"2","name":"Zoë \\u001b[31mred","size":1234}]'


@tests_of({"80": (80, "ID  NAME          SIZE  TAGS\n1   山田太郎         7  a, b\n2   Zoë ?[31mred  1234  -\n"),
           "24": (24, "ID  NAME      SIZE  TAGS\n1   山田太郎     7  a, b\n2   Zoë ?[3…  1234  -\n"),
           "20": (20, "id    1\nname  山田太郎\nsize  7\ntags  a, b\n\nid    2\nname  Zoë ?[31mred\nsize  1234\n")})
def a_list_of_objects_fits_the_terminal(width, expected):
    equal(shown("show", LIST, width=width), expected, "the screen")


@test
def what_is_no_terminal_gets_the_envelope_or_an_uncut_table():
    answer = run_program(SHOWN, "show", LIST, env=PLAIN)
    equal((answer.status, parsed(answer.out)["data"][1]["size"], answer.err), (0, 1234, b""), "the envelope")
    answer = run_program(SHOWN, "show", LIST, "--output", "text", env=dict(PLAIN, COLUMNS="20"))
    equal(answer.out.decode(), "ID  NAME          SIZE  TAGS\n1   山田太郎         7  a, b\n2   Zoë ?[31mred  1234  -\n",
          "a table")
    status, screen = on_terminal(SHOWN, "show", LIST, "--output", "json", width=20)
    equal((status, parsed(screen.text().encode())["ok"]), (0, True), "JSON on a terminal")


@tests_of({"bold": ({"NO_COLOR": "", "TERM": "xterm"}, b"\x1b[1mA\x1b[0m\r\n1\r\n"),
           "NO_COLOR": ({"NO_COLOR": "1", "TERM": "xterm"}, b"A\r\n1\r\n"),
           "a dumb terminal": ({"NO_COLOR": "", "TERM": "dumb"}, b"A\r\n1\r\n")})
def headers_are_bold_where_that_is_wanted(env, expected):
    terminal = Terminal(SHOWN, "show", '[{"a":1}]', env=env)
    terminal.finish()
    equal(terminal.bytes, expected, "the bytes")


@test
def the_next_page_is_offered_and_works():
    text = shown("things", "list", "--named", "a b")
    equal(text, "ID  SIZE\n1      7\n2     12\nNext page: shown things list --named 'a b' --after 2\n", "the page")
    words = re.search("Next page: shown (.*)", text)[1]
    again = subprocess.run(["sh", "-c", "%s %s --output json" % (SHOWN, words)], stdout=subprocess.PIPE, check=True,
                           env=dict(os.environ, **PLAIN))
    expect(parsed(again.stdout)["ok"], again)


@test
def remarks_about_a_list_are_no_part_of_it():
    answer = run_program(SHOWN, "things", "list", "--output", "text", env=PLAIN)
    equal((answer.out, answer.err), (b"ID  SIZE\n1      7\n2     12\n", b"Next page: shown things list --output text --after 2\n"),
          "both")
    answer = run_program(SHOWN, "show", "[]", "--output", "text", env=PLAIN)
    equal((answer.status, answer.out, answer.err), (0, b"", b"The list is empty.\n"), "an empty list")


@test
def a_document_is_shown_as_it_is_without_escape_sequences():
    equal(shown("document", "# A\n\n- *b*\x1b[2J\n"), "# A\n\n- *b*?[2J\n", "on a terminal")
    equal(shown("document", "# A"), "# A\n", "one whose last line does not end, on a terminal")
    equal(run_program(SHOWN, "document", "# A\n\x1b[2J", env=PLAIN).out, b"# A\n\x1b[2J", "elsewhere")


@test
def the_manifest_stays_json():
    expect('"commands": {' in shown("manifest"), "the manifest")


@tests_of({"80 columns": 80, "40 columns": 40})
def todos_are_a_table(width):
    for number in range(3):
        run_program(MISHAP, "todos", "create", "--title", "Buy milk and %d other things that we need" % number, env=PLAIN)
    status, screen = on_terminal(MISHAP, "todos", "list", "--limit", "2", width=width)
    equal(status, 0, "exit")
    expect(re.match(r"ID  TITLE +DONE   USER ID  CREATED AT *\n1   Buy mil", screen.text()), screen.text())
    for line in screen.lines[:3]:
        expect(sum(map(width_of, line)) <= width, "too wide:", line)
    expect("Next page: mishap todos list --limit 2 --after 2\n" in screen.text(), screen.text())


# ---- Groups --------------------------------------------------------------------------------------

@tests_of({"one word": (["things"], ["things list", "things old list", "things old clear_out"]),
           "two words": (["things", "old"], ["things old list", "things old clear_out"]),
           "with a flag": (["things", "--verbose"], ["things list", "things old list", "things old clear_out"]),
           "behind a flag": (["--timeout-ms", "5", "things"], ["things list", "things old list", "things old clear_out"])})
def a_group_without_a_command_lists_its_commands(words, commands):
    status, screen = on_terminal(SHOWN, *words)
    equal((status, re.findall("^  (things.*?)  ", screen.text(), re.M)), (2, commands), "exit and commands")
    expect("List the things that are old" in screen.text(), "a summary of each:", screen.text())
    answer = run_program(SHOWN, *words, "--output", "text", env=PLAIN)
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(commands[0].encode() in answer.err, answer.err)


@test
def a_program_that_leaves_out_the_command_is_told_so():
    answer = run_program(SHOWN, "things", env=PLAIN)
    equal((answer.status, parsed(answer.out)["error"]["code"]), (2, "UNKNOWN_COMMAND"), "exit and code")
    for words in (["things", "lst"], ["things", "--after", "1"], ["thing"]):
        status, screen = on_terminal(SHOWN, *words)
        equal(status, 2, "exit")
        expect(screen.text().startswith("error UNKNOWN_COMMAND"), screen.text())


# ---- Progress ------------------------------------------------------------------------------------

WORK = ["work", "--steps", "40", "--pause-ms", "40"]
SHORT_WORK = ["work", "--steps", "10", "--pause-ms", "60"]


@tests_of({"80 columns": (work_ahead(*WORK), 80), "40 columns": (work_ahead(*WORK, width=40), 40)})
def long_work_has_a_bar_with_percent_and_time_left(worked, width):
    written, status, screen = worked()
    equal((status, screen.text()), (0, "steps  40\n"), "exit and what stays")
    equal(written.count(ERASED), 1, "erased once, in the end")
    bars = screen.drawn
    expect(3 <= len(bars) <= 10 * screen.seconds + 2, "drawn", len(bars), "times in", screen.seconds)
    for bar in bars:
        expect(re.fullmatch(BAR + r" +\d+%(  \d:\d\d left)?  working", bar), "a bar:", bar)
        expect(len(bar) < width, "too wide:", bar)
    percents = [int(re.search(r"(\d+)%", bar)[1]) for bar in bars]
    equal(percents, sorted(percents), "percents")
    expect("left" in bars[-1], "no time left in", bars)


at_once = work_ahead("work", "--steps", "3")


@test
def what_is_done_at_once_has_no_bar():
    _, status, screen = at_once()
    equal((status, screen.text()), (0, "steps  3\n"), "exit and what stays")
    expect(not screen.drawn or screen.seconds >= 0.3, "drawn within", screen.seconds, "seconds:", screen.drawn)


unknown_length = work_ahead(*SHORT_WORK, "--no-total", "--words", "a\x1b[2J\n山")


@test
def work_of_unknown_length_has_a_count_and_a_time():
    _, _, screen = unknown_length()
    equal(screen.text(), "steps  10\n", "what stays")
    expect(screen.drawn, "nothing was drawn")
    for line in screen.drawn:
        expect(re.fullmatch(r"\d+  0:\d\d  a\?\[2J 山", line), "a line:", line)


def work_in_silence():
    terminal = Terminal(SHOWN, "work", "--steps", "1", "--no-total", "--for-ever", "--words", "", "--timeout-ms", "600000")
    terminal.read_until(r"0  (\d:\d\d)[\s\S]*0  (?!\1)\d:\d\d")
    os.kill(terminal.process.pid, signal.SIGTERM)
    return terminal.finish()[0], terminal.bytes


silent_work = ahead(work_in_silence)


@test
def time_goes_by_while_the_handler_says_nothing():
    status, written = silent_work()
    times = re.findall(rb"0  (\d:\d\d)", written)
    equal((status, times), (143, sorted(times)), "exit, and the times")
    expect(len(set(times)) > 1, "time stands still:", times)


@tests_of({"narrow": (14, r" *\d+%(  work…|  working)?", work_ahead(*SHORT_WORK, width=14)),
           "very narrow": (6, r" *\d+%", work_ahead(*SHORT_WORK, width=6)),
           "hopeless": (3, r"", work_ahead(*SHORT_WORK, width=3))})
def a_narrow_terminal_gets_what_fits(width, expected, worked):
    _, status, screen = worked()
    equal((status, screen.lines[-2:]), (0, ["steps  10", ""]), "exit and what stays")
    for line in screen.drawn:
        expect(re.fullmatch(expected, line) and len(line) < width, "a line:", line)


on_dumb_terminal = work_ahead(*SHORT_WORK, env={"TERM": "dumb"})
elsewhere = ahead(run_program, SHOWN, *SHORT_WORK, env=PLAIN)


@test
def other_places_than_a_terminal_have_no_bar():
    written, _, screen = on_dumb_terminal()
    equal(screen.text(), "steps  10\n", "a dumb terminal")
    expect(b"\x1b" not in written, written)
    equal((elsewhere().status, elsewhere().err), (0, b""), "no terminal")


answer_file = open(os.path.join(FOLDER.name, "answer"), "w+b")
answered_elsewhere = work_ahead(*SHORT_WORK, stdout=answer_file)


@test
def the_bar_is_on_stderr_while_the_answer_goes_elsewhere():
    _, status, screen = answered_elsewhere()
    answer_file.seek(0)
    equal((status, parsed(answer_file.read())["data"]), (0, {"steps": 10}), "the answer")
    expect(screen.text() == "" and screen.drawn, "the screen:", screen.text(), screen.drawn)


def clean_end(ended, screen, status, pattern):
    equal(ended, status, "exit")
    expect(re.fullmatch(pattern, screen.text()), "the screen:", screen.text())


@test
def ctrl_c_leaves_the_terminal_clean():
    terminal = Terminal(SHOWN, "work", "--steps", "50", "--pause-ms", "10", "--for-ever", control=True)
    terminal.read_until("%  ")
    os.write(terminal.end, b"\x03")
    clean_end(*terminal.finish(), 130, r"error CANCELLED  The command was terminated by SIGINT\.\n(    try: .*\n)?")


@test
def another_signal_leaves_the_terminal_clean():
    terminal = Terminal(SHOWN, "work", "--steps", "50", "--pause-ms", "10", "--for-ever")
    terminal.read_until("%  ")
    os.kill(terminal.process.pid, signal.SIGTERM)
    clean_end(*terminal.finish(), 143, r"error CANCELLED .*\n(    try: .*\n)?")


LONG_ENOUGH = ["work", "--steps", "12", "--pause-ms", "50"]


def work_to_its_time():
    """On a machine that is busy its time may be up before a bar is drawn: then it gets more."""
    for ms in ("2500", "10000", "40000"):
        worked = work_now(*LONG_ENOUGH, "--for-ever", "--timeout-ms", ms)
        if worked[2].drawn:
            break
    return worked


@tests_of({"its time is up": (ahead(work_to_its_time), 10,
                              r"error TIMEOUT .*\n(    try: .*\n)?     id: [0-9a-f-]{36}\n"),
           "a crash": (work_ahead(*LONG_ENOUGH, "--crash", width=300), 1,
                       r"error INTERNAL_ERROR .*\n( +incident: .*\n)( +details: .*\n)")})
def a_failure_leaves_the_terminal_clean(worked, status, pattern):
    _, ended, screen = worked()
    expect(screen.drawn, "nothing was drawn")
    clean_end(ended, screen, status, pattern)


@test
def a_failure_shows_a_short_list_that_was_told():
    _, screen = on_terminal(SHOWN, "clash", width=300, env=PLAIN)
    expect("  conflicts_with: [17,23]\n" in screen.text(), screen.text())
    expect("others" not in screen.text(), "a long list is for programs:", screen.text())


@test
def what_was_told_is_shown_if_no_finding_says_it():
    _, screen = on_terminal(SHOWN, "mismatch", width=300, env=PLAIN)
    expect("\n  line: 17\n" in screen.text(), screen.text())


@test
def a_service_that_is_broken_names_the_log():
    status, screen = on_terminal(SHOWN, "box", width=300, env={**PLAIN, "SHOWN_DATA": FOLDER.name})
    found = re.fullmatch(r"error UNAVAILABLE  The service box is not available\.\n    try: Try again later\.\n"
                         r"   incident: ([0-9a-f-]{36})\n    details: " + re.escape(LOG) + "\n", screen.text())
    expect(status == 12 and found, "exit and screen:", status, screen.text())
    with open(LOG, encoding="utf-8") as log:
        text = log.read()
    expect(found[1] in text, "the log does not have", found[1])
    expect('noted setting = "size"' in journal.shown(text), "the log")


stream = work_ahead("stream")


@test
def a_stream_takes_the_place_of_the_bar():
    _, status, screen = stream()
    equal((status, screen.text()), (0, "piece " * 8), "exit and screen")
    expect(screen.drawn and not any("streaming" in line for line in screen.drawn), screen.drawn)


# ---- Log lines -----------------------------------------------------------------------------------

SAID = r"info: a\?\[2J\n  b\nwarning: The token is \[redacted\]\.\nerror: .*removed.*\n"
said = work_ahead("say", "a\x1b[2J\nb", width=200)
said_elsewhere = ahead(run_program, SHOWN, "say", "a", env=PLAIN)
said_verbosely = ahead(run_program, SHOWN, "say", "a\x1b[2J\nb", "--verbose", env=dict(PLAIN, SHOWN_LOG=""))


@test
def log_lines_appear_on_a_terminal():
    written, status, screen = said()
    equal(status, 0, "exit")
    expect(re.fullmatch(SAID + "said  true\n", screen.text()), "the screen:", screen.text())
    expect(any(re.match(BAR, line) for line in screen.drawn), "no bar in", screen.drawn)
    expect(b"open-sesame" not in written and b"app.py" not in written, written)
    with open(LOG, encoding="utf-8") as log:
        expect("app.py" in log.read(), "the operator does not find it")


@test
def log_lines_elsewhere_need_verbose():
    equal(said_elsewhere().err, b"", "stderr")
    answer = said_verbosely()
    equal((answer.status, parsed(answer.out)["data"]), (0, {"said": True}), "the answer")
    expect(answer.err.startswith(b"debug: A detail.\ninfo: a?[2J\n  b\nwarning: The token is [redacted].\n"), answer.err)


if __name__ == "__main__":
    main()
