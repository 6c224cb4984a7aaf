"""What README and the pages of docs/ show is what the programs print: every `sh`, `shell` and `console` block is run.

    MISHAP_PROGRAM=… DIRECTORY_PROGRAM=… LOANS_PROGRAM=… python3 tests/docs/pages_test.py [PART-OF-A-NAME]

docs/index.md says how a page is written. In short:

- In a `sh` block each line is a command. The lines below it that begin with `#` are what it prints to a pipe. It must succeed.
- In a `console` block a line that begins with `$ ` is a command. The lines below it are what it prints on a terminal.
- `…` stands for any text, a time for any time, a UUID for any UUID. Line feeds and the space at the begin of a line do not count.
- A line such as `mishap serve --chaos` starts a server, and so does `make run`; `localhost:8080` is its address from there on.
- An id that is shown stands for the id that is printed: later commands of the page get that one.
- `<!-- before: COMMANDS -->` above a block is run first and not shown.
- `<!-- awaited: REASON -->` above a block: a command whose output comes later is repeated until it prints what is shown.
- `<!-- not run: REASON -->` and `<!-- run by tests/FILE -->` above a block leave it out. A block without output may need no marker:
  it is run, too.

The examples that need a program of their own to be built are run by tests/install, those of Lisp by tests/lisp.
"""
import fcntl
import glob
import itertools
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "tests", "http"))
import server  # noqa: E402
from blackbox import PATIENCE, equal, expect, main, open_terminal, parsed, read_terminal, run_agent, run_program, test, tests_of  # noqa: E402
from server import Server  # noqa: E402

if not shutil.which("curl"):
    print("1..0 # SKIP there is no curl")
    raise SystemExit

os.environ["MISHAP_ARTIFACTS_RUN_SECONDS"] = "20"  # on a busy machine the usual 5 may be over before the code has begun
PROGRAMS = {"mishap": server.PROGRAM, **{name: os.path.abspath(os.environ[name.upper() + "_PROGRAM"]) for name in ("directory", "loans")}}
BIN = os.path.join(server.FOLDER, "bin")
os.mkdir(BIN)
for name, path in PROGRAMS.items():
    os.symlink(path, os.path.join(BIN, name))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|(?<=after )\d+(?:\.\d+)? m?s\b")
BEHIND = r"(?![\w-])"
ID = re.compile(server.UUID.pattern + r"|(?<![\w-])[\w-]{43}" + BEHIND)  # that of a task has 43 characters
SHOWN = ("sh", "shell", "console")
OWN_FLAGS = ("--config", "--data", "--listen", "--workers")  # a server of this test has its own, and no file of a reader
# At the end of the input a call has two more seconds, which is little for a machine that is busy: so the input ends when it is answered.
PIPED = re.compile(r"(.*)\|\s*mishap mcp", re.S)
MARKER = re.compile(r"<!-- (not run|run by|before|awaited):? *(.*?) *-->", re.S)


# ---- Reading a page ------------------------------------------------------------------------------

class Block:
    """A fenced block of a page, and the markers above it."""

    def __init__(self, kind, line, text, above):
        self.kind, self.line, self.text = kind, line, text
        self.markers = dict((name, words) for name, words in MARKER.findall(above))

    @property
    def is_run(self):
        return self.kind in SHOWN and not {"not run", "run by"} & set(self.markers)

    def commands(self):
        """(command, what it prints or None) one after the other."""
        found = []
        for line in self.text.splitlines():
            if self.kind == "console":
                if line.startswith("$ "):
                    found.append([line[2:], None])
                else:
                    expect(found, "output before a command:", line)
                    found[-1][1] = (found[-1][1] or "") + line + "\n"
            elif line.startswith("#") and found and is_complete(found[-1][0]):
                found[-1][1] = (found[-1][1] or "") + line[1:] + "\n"
            elif found and not is_complete(found[-1][0]):
                found[-1][0] += "\n" + line
            elif line.strip():
                found.append([line, None])
        return found


def is_complete(command):
    """Whether a shell would run it, or ask for its next line."""
    if command.endswith("\\"):
        return False
    return subprocess.run(["bash", "-n", "-c", command], stderr=subprocess.DEVNULL, check=False).returncode == 0


def blocks_of(page):
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        text = file.read()
    found = []
    for fence in re.finditer(r"((?:^<!--(?:(?!-->).)*-->\n+)*)^```(\S*)\n(.*?)^```$", text, re.M | re.S):
        found.append(Block(fence[2], text[:fence.start(2)].count("\n") + 1, fence[3], fence[1]))
    equal(text.count("\n```") + text.startswith("```"), 2 * len(found), "the fences of " + page)
    return found


def pages():
    names = glob.glob(os.path.join(TREE, "docs", "*.md"))
    return ["README.md"] + ["docs/" + os.path.basename(name) for name in sorted(names)]


# ---- Running a command ---------------------------------------------------------------------------

class Place:
    """The folder in which the commands of one page are run, and its server."""

    def __init__(self, page):
        self.folder = os.path.join(server.FOLDER, re.sub(r"\W", "-", page))
        self.data = os.path.join(self.folder, "data")
        self.server = None
        self.ids = {}  # that the page shows, with those that were printed
        os.mkdir(self.folder)
        os.symlink(os.path.join(TREE, "examples"), os.path.join(self.folder, "examples"))

    def serve(self, program, flags):
        self.stop()
        own = {at for at, flag in enumerate(flags) if flag in OWN_FLAGS}
        flags = [flag for at, flag in enumerate(flags) if not {at, at - 1} & own]
        self.server = Server("--workers", "1", *flags, data=self.data, program=os.path.join(BIN, program))

    def stop(self):
        if self.server:
            self.server.stop()
        self.server = None

    def environment(self):
        log = self.server.log if self.server else os.path.join(self.folder, "log")
        return dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], MISHAP_DATA=self.data, LOANS_DATA=self.data, NO_COLOR="1", MISHAP_LOG=log)

    def own(self, command):
        """A command for this place, instead of a reader's."""
        if "localhost:8080" in command:
            expect(self.server, "no line above starts a server:", command)
            command = command.replace("localhost:8080", self.server.url.removeprefix("http://"))
        command = ID.sub(lambda found: self.ids.get(found[0], found[0]), command)
        return re.sub(r"^build/(?:examples/)?(?=\w+ )", "", command).replace("build/data", self.data).replace("/srv/todo", self.data)

    def readers(self, output):
        """What this command would have printed at a reader's."""
        if self.server:
            output = output.replace(self.server.url.removeprefix("http://"), "localhost:8080")
        return output

    def run(self, command):
        piped = PIPED.fullmatch(command)
        where = {"cwd": self.folder, "env": self.environment()}
        done = run_program("bash", "-c", piped[1] if piped else self.own(command), **where)
        if piped:
            done = run_agent([os.path.join(BIN, "mishap"), "mcp"], [done.out + b"\n"], 1, **where)
        equal(done.status, 0, "exit of %s, which said %r and %r" % (command, done.out, done.err))
        return self.readers(done.out.decode())

    def run_at_a_terminal(self, command):
        ours, theirs = open_terminal()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
        process = subprocess.Popen(["bash", "-c", self.own(command)], cwd=self.folder, env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        output = b"".join(read_terminal(ours)).decode().replace("\r\n", "\n")
        process.wait(PATIENCE)
        if command.startswith("curl "):
            output = re.sub(r"\x1b\[[01]m", "", output)  # curl shows names of header fields in bold
        return self.readers(output)


def as_pattern(text):
    text = ID.sub("…", TIME.sub("…", text))
    return "".join(line.strip() for line in text.splitlines())


def is_shown(output, shown):
    pattern = re.escape(as_pattern(shown)).replace("…", ".*")
    return re.fullmatch(pattern, as_pattern(output)) is not None


def pattern_of(words):
    return re.escape(words.replace("\n", "")).replace("…", ".*")


def ids_of(output, shown):
    """Each id that is shown, with the one that was printed in its place."""
    names, pattern, at = {}, "", 0
    output = "".join(line.strip() for line in TIME.sub("…", output).splitlines())
    shown = "\n".join(line.strip() for line in TIME.sub("…", shown).splitlines())
    for found in ID.finditer(shown):
        known = found[0] in names
        name = names.setdefault(found[0], "id%d" % len(names))
        printed = ID.pattern.replace(BEHIND, "")  # the next line follows at once
        pattern += pattern_of(shown[at:found.start()]) + ("(?P=%s)" % name if known else "(?P<%s>%s)" % (name, printed))
        at = found.end()
    fits = re.fullmatch(pattern + pattern_of(shown[at:]), output) if names else None
    return {shown_id: fits[name] for shown_id, name in names.items()} if fits else {}


def expect_output(output, shown, command):
    expect(is_shown(output, shown), command, "prints", output, "and not", shown)


SERVES = re.compile(r"(?:\./|build/(?:examples/)?)?(?:(mishap|directory|loans) serve\b(?!.*--help)|make run\b)(.*?)&?\s*(?:#.*)?")


def awaited(run, command, shown):
    """The output, once it is as shown; or the last one."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            output = run(command)
            if is_shown(output, shown) or time.monotonic() > end:
                return output
        except server.blackbox.Broken:
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def run_block(block, place):
    """Run the commands of a block."""
    for line in block.markers.get("before", "").splitlines():
        if line.strip():
            place.run(line.strip())
    for command, shown in block.commands():
        serves = SERVES.fullmatch(command)
        if serves and shown is None:
            place.serve(serves[1] or "mishap", shlex.split(serves[2]))
            continue
        run = place.run_at_a_terminal if block.kind == "console" else place.run
        output = awaited(run, command, shown) if "awaited" in block.markers and shown else run(command)
        if shown is None:
            continue
        if not is_shown(output, shown) and "NOT_CONFIGURED" in output:
            print("# not installed here: %r" % command)
            continue
        expect_output(output, shown, command)
        place.ids.update(ids_of(output, shown))


# ---- Tests ---------------------------------------------------------------------------------------

RUN = {page: [block for block in blocks_of(page) if block.is_run] for page in pages()}


@tests_of({page: (page, blocks) for page, blocks in RUN.items() if blocks})
def what_a_page_shows_is_what_is_printed(page, blocks):
    place = Place(page)
    try:
        for block in blocks:
            try:
                run_block(block, place)
            except server.blackbox.Broken as problem:
                raise server.blackbox.Broken("%s:%d: %s" % (page, block.line, problem)) from problem
    finally:
        place.stop()


@tests_of({page: page for page in pages()})
def blocks_that_are_not_run_say_why(page):
    for block in blocks_of(page):
        expect(block.kind in SHOWN or not re.search(r"^\$ ", block.text, re.M), "%s:%d has commands and is no `console` block" % (page, block.line))
        where = block.markers.get("run by")
        expect(where is None or os.path.exists(os.path.join(TREE, where)), "%s:%d is run by a file that does not exist:" % (page, block.line), where)
        expect("not run" not in block.markers or block.markers["not run"], "%s:%d is not run for no reason" % (page, block.line))


HELP = {}


def flags_of(words):
    """The flags of the command that these words begin with. If they name none, those of every command."""
    name = tuple(words[:3])
    if name not in HELP:
        done = run_program(server.PROGRAM, *name, "--help")
        HELP[name] = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", (done.out + done.err).decode()))
    return HELP[name]


def commands_of_mishap(line):
    """Each `mishap …` of a line, in words, up to what another program or the shell gets."""
    for found in re.finditer(r"(?:^|[\s|(&])(?:build/)?mishap ((?:'[^']*'|\"[^\"]*\"|[^|&#;<>])*)", line):
        words = shlex.split(found[1].replace("$(", "(").rstrip("\\"))
        yield words[:words.index("--")] if "--" in words else words


@tests_of({page: page for page in pages()})
def every_flag_that_a_page_shows_is_one_of_its_command(page):
    """Also in blocks that are not run."""
    for block in (block for block in blocks_of(page) if block.kind in SHOWN and "run by" not in block.markers):
        for words in (words for line, _ in block.commands() for words in commands_of_mishap(line)):
            flags = {word.split("=")[0] for word in words if re.match(r"--[a-z]", word)}
            named = list(itertools.takewhile(lambda word: re.fullmatch(r"[a-z][\w-]*", word), words))
            known = flags_of(named) if named and flags else flags  # elsewhere `mishap` is a name for another program
            expect(flags <= known, "%s:%d has flags that its command does not have:" % (page, block.line), flags - known, words)


@test
def a_flag_that_does_not_exist_is_found():
    equal(list(commands_of_mishap("echo x | mishap check --dialect http-api - | mishap wrap --explain -- ls --all  # --no")),
          [["check", "--dialect", "http-api", "-"], ["wrap", "--explain"]], "the commands")
    expect("--listen" in flags_of(["serve"]) and "--no-such" not in flags_of(["serve"]), "the flags of serve:", flags_of(["serve"]))
    expect("--listen" not in flags_of(["no-such-command"]), "the flags of no command:", flags_of(["no-such-command"]))


@test
def enough_is_run():
    """So that a page cannot lose its examples by a marker, or by a fence with another name, unseen."""
    counts = {page: sum(len(block.commands()) for block in blocks) for page, blocks in RUN.items()}
    least = {"README.md": 16, "docs/artifacts.md": 10, "docs/cli.md": 4, "docs/dialects.md": 3, "docs/http.md": 8, "docs/incidents.md": 3, "docs/symbolic.md": 11,
             "docs/tasks.md": 5, "docs/todo.md": 8, "docs/why.md": 4}
    for page, number in least.items():
        expect(counts[page] >= number, page, "has only", counts[page], "commands that are run")


@test
def a_wrong_output_is_found():
    expect_output('{"id":"1","at":"2030-01-01T00:00:00.000Z"}', '{"id":"1",\n "at":"2026-01-31T12:00:00.000Z"}', "")
    for shown in ['{"id":"2",…', '{"id":"1"}', '…"at":"now"}']:
        try:
            expect_output('{"id":"1","at":"2030-01-01T00:00:00.000Z"}', shown, "")
        except server.blackbox.Broken:
            continue
        expect(False, "it was taken for the same:", shown)


@test
def an_id_that_is_shown_becomes_the_one_that_was_printed():
    shown, printed = "01a1ea59-a807-7098-ae8e-22846b67e27e", "01a1f37c-b67d-723e-a98e-af1add1433ee"
    equal(ids_of("X: 1\nId: %s\nthen %s" % (printed, printed), "…\nId: %s\nthen %s" % (shown, shown)), {shown: printed}, "the ids")
    equal(ids_of("a/%s\nB" % ("p" * 43), "a/%s\nB" % ("s" * 43)), {"s" * 43: "p" * 43}, "the id of a task")
    equal(ids_of("Id: none", "Id: %s" % shown), {}, "an id that was not printed")


@test
def the_examples_of_keys_work():
    place = Place("keys")
    block, = [block for block in blocks_of("docs/http.md") if "mishap keys disable" in block.text]
    lines = [command for command, _ in block.commands()]
    equal([re.match(r"curl|mishap keys \w+", line)[0] for line in lines],
          ["mishap keys add", "mishap keys list", "mishap keys remove", "mishap keys disable", "curl"], "the examples")
    add, listed, remove, disable = [line.replace("/srv/todo", place.data) for line in lines[:4]]
    key = parsed(place.run(add).encode())["data"]["key"]
    with Server("--workers", "1", "--require-key", data=place.data) as found:
        equal(found.ask("GET", "/todos").status, 401, "without a key the status")
        place.server = found
        equal(parsed(place.run(lines[4].replace("mk_…", key)).encode())["items"], [], "the items")
        expect("ci" in place.run(listed), "the key is not listed")
        place.run(remove)
        equal(parsed(place.run(disable).encode())["data"], {"disabled": True}, "what `keys disable` says")


@test
def the_picture_of_the_readme_shows_what_is_printed():
    done = run_program(sys.executable, os.path.join(TREE, "scripts", "picture"), "--check", server.PROGRAM)
    equal(done.status, 0, "scripts/picture --check, which said %r:" % done.err)
    with open(os.path.join(TREE, "README.md"), encoding="utf-8") as file:
        expect("docs/failure.svg" in file.read(), "the README does not show it")


@test
def every_page_is_in_the_index_and_every_link_leads_somewhere():
    with open(os.path.join(TREE, "docs", "index.md"), encoding="utf-8") as file:
        index = file.read()
    for page in pages()[1:]:
        name = os.path.basename(page)
        expect(name == "index.md" or "(%s)" % name in index, "docs/index.md does not have", name)
    for page in pages():
        with open(os.path.join(TREE, page), encoding="utf-8") as file:
            text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)
        for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
            target = os.path.normpath(os.path.join(TREE, os.path.dirname(page), path)) if path else os.path.join(TREE, page)
            expect(os.path.exists(target), page, "has a link to nothing:", path)
            if anchor and target.endswith(".md"):
                with open(target, encoding="utf-8") as file:
                    titles = re.findall(r"^#+ (.*)$", file.read(), re.M)
                expect(anchor in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles],
                       page, "has a link to a title that is not there:", path + "#" + anchor)


FOLDERS = "src|tests|services|tool|scripts|include|bench|examples|catalog"
MADE_BY_THE_BUILD = re.compile(r"catalog/(mishap-codes|codes\.c)|include/mishap/codes\.h|services/lisp/mishap-lisp\.core|tests/\w+/NAME")


@tests_of({page: page for page in pages() + ["CONTRIBUTING.md"]})
def every_file_of_the_tree_that_a_page_names_is_there(page):
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        named = re.findall(r"`((?:%s)/[\w./-]+)`" % FOLDERS, file.read())
    for path in named:
        expect(MADE_BY_THE_BUILD.match(path) or os.path.exists(os.path.join(TREE, path)), page, "names a file that is not there:", path)


# Words of the glossary, as they are written in a page.
OUR_WORDS = {"keeper": "keepers?", "worker": "workers?", "loop": "loops?", "boundary": "boundar(?:y|ies)", "incident": "incidents?", "told": "told",
             "noted": "noted", "settled": "settled"}
# Pages that use one of them in its usual sense: a loop of Python, an event loop, a boundary between characters.
USUAL_SENSE = {("cli.md", "told"), ("dialects.md", "boundary"), ("portability.md", "told"), ("python.md", "loop"), ("sandbox.md", "loop"),
               ("symbolic-engine.md", "boundary"), ("symbolic-engine.md", "loop"), ("symbolic-engine.md", "noted"), ("symbolic-engine.md", "settled"),
               ("symbolic.md", "loop"), ("worker-protocol.md", "loop")}
NO_PROSE = re.compile(r"^```.*?^```$|<!--.*?-->|^#[^\n]*$|^\|[^\n]*$|^    [^\n]*$|`[^`\n]*`|\[[^\]]*\]\((?!glossary\.md)[^)]*\)", re.M | re.S)


@tests_of({page: page for page in pages() if page.startswith("docs/") and page not in ("docs/glossary.md", "docs/index.md", "docs/why.md")})
def our_words_are_linked_where_a_page_first_uses_them(page):
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        text = NO_PROSE.sub(" ", file.read())
    for word, spelling in OUR_WORDS.items():
        if (os.path.basename(page), word) in USUAL_SENSE:
            continue
        used = re.search(r"(?<![\w/.#-])(?:\[[^\]]*\]\(glossary\.md#%s\)|%s(?![\w/.-]*[\w/]))" % (word, spelling), text)
        expect(not used or used[0].startswith("["), page, "uses", word, "without a link:", text[max(0, used.start() - 60):used.end() + 20] if used else "")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
