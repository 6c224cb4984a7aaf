"""One use of every command of the packages, as an operator would type it: words, the exit code, and a part of what it prints.

    python3 tests/package/used.py FOLDER >uses.sh

`script` makes one shell script of them. It needs a network of its own, starts a server and nginx in it, and ends them. `outcomes` reads what it
has printed.
"""
import re
import shlex
import sys
from collections import namedtuple

PORT, BEHIND = "8099", "8098"
SERVER = "http://127.0.0.1:" + PORT
DIVIDE = "def divide(a: int, b: int):\n    return a // b\n"
TWICE = "def old(n: int):\n    return n + n\n\ndef new(n: int):\n    return 2 * n\n"
SIGN = "def sign(n: int):\n    if n < 0:\n        return -1\n    return 1\n"
PROBLEM = '{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no book 7.","code":"NOT_FOUND","category":"resource","retryable":false}'
CANONICAL = '{"code":"NOT_FOUND","message":"There is no book 7.","category":"resource","retryable":false}'
GREETING = "".join(line + "\n" for line in (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain_code","arguments":{"cod":"NOT_FOUND"}}}'))

# `words` stand behind the name of the command; `$` stays for the shell if there is no quote: $GROUP and $INCIDENT are those of `mishap chaos fail`,
# $TASK is that of `mishap todos clear`.
Use = namedtuple("Use", "words status shows given", defaults=("", 0, '"ok":true', ""))
USES = {
    # The program alone.
    "mishap help": Use("users create", 0, "Usage: mishap users create"),
    "mishap manifest": Use("", 0, '"users.create"'),
    "mishap completion": Use("bash", 0, "__complete"),
    "mishap manual": Use("", 0, ".TH"),
    "mishap render": Use("--dialect problem", 0, '"status":404', CANONICAL),
    "mishap translate": Use("--from problem --to http-api", 0, '"error":"not_found"', PROBLEM),
    "mishap check": Use("--dialect problem", 0, '"ok":true', PROBLEM),
    "mishap scan": Use("-", 79, "traceback", 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in read\nKeyError: 7\n'),
    "mishap catalog": Use("--category resource", 0, "NOT_FOUND"),
    "mishap explain": Use("not_found", 0, "NOT_FOUND"),
    "mishap doctor": Use("--trial-seconds 60", 0, '"works"'),
    "mishap wrap": Use("-- ls /absent", 2, "NOT_FOUND"),
    "mishap mcp": Use("", 0, "did you mean code", GREETING),
    "mishap mcp-gateway": Use("-- mishap mcp", 0, "did you mean code", GREETING),
    "mishap audit cli": Use("-- mishap", 0, '"score"'),
    # A server of it, which runs meanwhile.
    "mishap serve": Use("--listen 127.0.0.1:80,x", 2, "ARG_ERROR"),
    "mishap connect": Use("--host 127.0.0.1 --port " + PORT),
    "mishap health": Use("--port " + PORT, 0, '"healthy":true'),
    "mishap audit http": Use(SERVER + " --fail-under 80", 0, '"score"'),
    "mishap audit mcp": Use(SERVER + "/mcp", 0, '"score"'),
    # The service with users and todos.
    "mishap users create": Use("--name Grace --email grace@example.com", 0, '"Grace"'),
    "mishap users list": Use("", 0, '"Grace"'),
    "mishap users get": Use("1", 0, '"Grace"'),
    "mishap users update": Use("1 --age 85", 0, '"age":85'),
    "mishap todos create": Use("--title 'Buy milk' --user-id 1 && mishap todos create --title 'Sell milk' --user-id 1", 0, '"Sell milk"'),
    "mishap todos list": Use("", 0, '"Buy milk"'),
    "mishap todos get": Use("1", 0, '"Buy milk"'),
    "mishap todos update": Use("1 --done", 0, '"done":true'),
    "mishap todos plan": Use("--user-id 1 --minutes 30", 0, "I have 30 minutes"),
    "mishap todos clear": Use("--done --detach", 0, '"operation":"todos.clear"'),
    "mishap tasks list": Use("", 0, '"operation":"todos.clear"'),
    "mishap tasks show": Use("$TASK", 0, '"operation":"todos.clear"'),
    "mishap tasks wait": Use("$TASK", 2, "Delete 1 todo"),
    "mishap tasks reply": Use("$TASK --answers '{\"confirm\":{\"sure\":true}}' && mishap tasks wait $TASK", 0, '"deleted":1'),
    "mishap tasks answer": Use("$TASK", 0, '"deleted":1'),
    "mishap tasks cancel": Use("$TASK", 6, "The task has ended."),
    "mishap todos delete": Use("2"),
    "mishap users delete": Use("1"),
    "mishap premium report": Use("", 9, "PAYMENT_REQUIRED"),
    # Lisp.
    "mishap lisp evaluate": Use("'(+ 1 2)'", 0, '"values":["3"]'),
    "mishap lisp validate": Use("'(+ 1'", 0, '"valid":false'),
    "mishap lisp compile": Use("'(defun f (x) (* 2 x))'"),
    "mishap lisp macroexpand": Use("'(when a b)'", 0, "(IF A"),
    "mishap lisp describe": Use("car"),
    "mishap lisp apropos": Use("multiple-value-b", 0, "MULTIPLE-VALUE-BIND"),
    "mishap lisp last-error": Use(),
    "mishap lisp backtrace": Use(),
    "mishap lisp definitions": Use(),
    "mishap lisp reset": Use(),
    "mishap lisp limits": Use("--timeout 5"),
    "mishap lisp time": Use("'(loop repeat 10)'"),
    "mishap lisp load": Use("start.lisp --lisp-folder $FOLDER"),
    "mishap lisp repl": Use("", 0, "42", "(* 6 7)\n"),
    # Artifacts and proofs.
    "mishap artifacts invoke": Use("genesis_ledger balance --args '[\"alice\"]' --caller alice", 0, '"success":true'),
    "mishap artifacts events": Use("--limit 10"),
    "mishap symbolic check": Use("@divide.py divide", 0, '"b":0'),
    "mishap symbolic find": Use("@divide.py divide ZeroDivisionError", 0, '"b":0'),
    "mishap symbolic compare": Use("@twice.py old new"),
    "mishap symbolic branches": Use("@sign.py sign"),
    "mishap symbolic health": Use(),
    "mishap symbolic security": Use(),
    "mishap symbolic server": Use(),
    "mishap symbolic capabilities": Use(),
    "mishap symbolic plan-check": Use("@divide.py divide", 0, "symbolic_check"),
    "mishap symbolic plan-find": Use("@divide.py divide", 0, "find_path_to_exception"),
    "mishap symbolic plan-compare": Use("@twice.py old new", 0, "compare_functions"),
    "mishap symbolic plan-branches": Use("@sign.py sign", 0, "analyze_branches"),
    # Keys, and failures of the past.
    "mishap keys add": Use("--name ci", 0, '"key"'),
    "mishap keys list": Use("", 0, '"ci"'),
    "mishap keys block": Use("ci"),
    "mishap keys unblock": Use("ci"),
    "mishap keys remove": Use("--name ci"),
    "mishap keys disable": Use(),
    "mishap keys import": Use("--file $FOLDER/no-keys --cluster postgresql://127.0.0.1:1/none", 5, "NOT_FOUND"),
    "mishap chaos fail": Use("crash", 1, "INTERNAL_ERROR"),
    "mishap incidents list": Use("", 0, "chaos.fail"),
    "mishap incidents show": Use("$INCIDENT", 0, "chaos.fail"),
    "mishap incidents groups": Use("", 0, "chaos.fail"),
    "mishap incidents group": Use("$GROUP", 0, "chaos.fail"),
    "mishap incidents mute": Use("$GROUP"),
    "mishap incidents resolve": Use("$GROUP"),
    "mishap incidents stats": Use("--from 7d --step day", 0, "chaos.fail"),
    "mishap incidents tail": Use("--seconds 1", 0, ""),
    "mishap incidents export": Use("--format csv", 0, "chaos.fail"),
    # The other programs.
    "mishap-catalog": Use("codes.txt --header codes.h --source codes.c --include codes.h", 0, ""),
}
# The script itself begins and ends these, and does with them what they are for.
RUN_BY_THE_SCRIPT = {"mishap serve": "healthy", "mishap gateway": "not_found"}

FILES = {"divide.py": DIVIDE, "twice.py": TWICE, "sign.py": SIGN, "start.lisp": "(defvar *started* t)\n",
         "codes.txt": "catalog shelf\n\nBOOK_LENT  resource  409  6  -  never  none\n    message  The book is lent.\n\n"}
BEGIN = """FOLDER=%s
export FOLDER MISHAP_DATA="$FOLDER/data"
mkdir -p "$FOLDER"
cd "$FOLDER"
ip link set lo up
end() { kill $server 2>/dev/null || :; wait; }
trap end EXIT
mishap serve --listen 127.0.0.1:%s >serve.log 2>&1 & server=$!
until mishap health --port %s >health.log 2>&1; do kill -0 $server || exit 1; sleep 0.1; done
echo 'USE mishap serve'; cat health.log; echo 'STATUS 0'
"""
# In front of that server, until it has answered what the server does not have.
GATEWAY = """mishap gateway --to %s --listen 127.0.0.1:%s >gateway.log 2>&1 & gateway=$!
until ask_for_nothing >absent.log 2>/dev/null; do kill -0 $gateway || exit 1; sleep 0.1; done
echo 'USE mishap gateway'; cat absent.log
kill -TERM $gateway; wait $gateway && echo 'STATUS 0' || echo "STATUS $?"
"""
ABSENT = """ask_for_nothing() { python3 -c '
import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1])
except urllib.error.HTTPError as error:
    print(error.read().decode())
' http://127.0.0.1:%s/absent; }
"""
KEEP = """case $1 in
'mishap todos clear') TASK=$(sed -n 's/.*"data":{"id":"\\([^"]*\\)".*/\\1/p' out.log);;
'mishap chaos fail') INCIDENT=$(sed -n 's/.*"incident":"\\([^"]*\\)".*/\\1/p' out.log);;
'mishap incidents groups') GROUP=$(grep -o '"group":"[^"]*","operation":"chaos.fail"' out.log | cut -d '"' -f 4);;
esac
"""


def script(folder, names=tuple(USES)):
    """A script for sh that does these uses, with a server and a gateway beside them."""
    lines = ["set -u\nGROUP=\nINCIDENT=\nTASK=\n", BEGIN % (folder, PORT, PORT), ABSENT % BEHIND, "keep() {\n" + KEEP + "}\n"]
    lines += ["printf %%s %s >%s\n" % (shlex.quote(text), name) for name, text in FILES.items()]
    for name in names:
        use = USES[name]
        line = "%s %s" % (name, use.words)
        lines.append("echo %s\nprintf %%s %s | %s >out.log 2>&1; status=$?\ncat out.log; echo; echo \"STATUS $status\"\nkeep %s\n" % (
            shlex.quote("USE " + name), shlex.quote(use.given), line, shlex.quote(name)))
    return "".join(lines) + GATEWAY % (SERVER, BEHIND)


def outcomes(printed):
    """What each use has printed, and its exit code: (name, text, status)."""
    return [(name, text, int(status)) for name, text, status in re.findall(r"^USE (.*)\n((?:.*\n)*?)STATUS (\d+)$", printed, re.M)]


def wrong(printed):
    """What is not as it should be, a sentence for each use."""
    found, seen = [], {}
    for name, text, status in outcomes(printed):
        use = USES.get(name)
        if name in RUN_BY_THE_SCRIPT and (not use or name not in seen and status == 0):
            use = Use("", 0, RUN_BY_THE_SCRIPT[name])
        seen[name] = True
        if status != use.status or use.shows not in text:
            found.append("%s exits with %d (not %d) or does not print %s: %s" % (name, status, use.status, use.shows, text[-600:]))
    return found + ["%s was not used" % name for name in [*USES, *RUN_BY_THE_SCRIPT] if name not in seen]


def missing(commands, programs):
    """Programs, and commands of the manifest of `mishap`, that have no use; and uses of what does not exist."""
    names = {"mishap " + name.replace(".", " ") for name in commands} | (programs - {"mishap"})
    uses = {*USES, *RUN_BY_THE_SCRIPT}
    return ["%s is not used" % name for name in sorted(names - uses)] + ["%s is used, and is no command" % name for name in sorted(uses - names)]


if __name__ == "__main__":
    sys.stdout.write(script(sys.argv[1]))
