#!/usr/bin/env python3
"""Every failing program of the corpus gives a condition report, and the session lives on.

    corpus_test.py CORE SBCL MISHAP [NAME…]

The report is rendered by the dialect (`mishap render`), checked by it (`mishap check`), and read by the seed's own parser in
SBCL."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from worker import Died, Worker

HERE = pathlib.Path(__file__).parent


def entries():
    for path in sorted((HERE / "failing").glob("*.lisp")):
        for part in re.split(r"^;;;; ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            name, _, rest = part.partition("\n")
            members = {}
            lines = rest.split("\n")
            while lines and lines[0].startswith(";;; "):
                key, _, value = lines.pop(0)[4:].partition(": ")
                members[key] = value
            yield f"{path.stem}/{name}", members, "\n".join(lines).strip()


def lisp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def render(mishap, failure):
    """The failure as the dialect writes it, and what the dialect's own check says of it."""
    done = subprocess.run([mishap, "render", "--dialect", "condition-report"], input=json.dumps(failure).encode(),
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError("not rendered: " + done.stdout.decode()[:500] + done.stderr.decode()[:500])
    text = done.stdout.decode("utf-8")
    checked = subprocess.run([mishap, "check", "--dialect", "condition-report"], input=text.encode(), capture_output=True,
                             check=False)
    return text, None if checked.returncode == 0 else checked.stdout.decode()[:500]


def problems_of(message, members, mishap, texts, name):
    if "failure" not in message:
        return [f"did not fail: {message.get('text')!r}"[:300]]
    failure, found = message["failure"], []
    for key, value in (("type", failure["type"]), ("message", failure["message"]), ("frame", failure["backtrace"][0]),
                       ("stdout", failure.get("stdout", ""))):
        expected = members.get(key)
        match = re.fullmatch if key == "type" else re.search
        if expected and not match(expected, value, re.S):
            found.append(f"{key} is {value[:300]!r}, not {expected!r}")
    if "\n" in failure["message"]:
        found.append("the message has several lines")
    if not 1 <= len(failure["backtrace"]) <= 21:
        found.append(f"{len(failure['backtrace'])} frames")
    for frame in failure["backtrace"]:
        if "MISHAP-PRELUDE::" in frame and "prelude" not in name or "SIMPLE-EVAL-IN-LEXENV" in frame:
            found.append(f"a frame of the evaluator: {frame[:200]}")
    text, finding = render(mishap, failure)
    if finding:
        found.append("the dialect finds fault: " + finding)
    texts.append((name, text))
    return found


def main():
    core, sbcl, mishap, *wanted = sys.argv[1:]
    count, failures, texts = 0, 0, []
    worker = Worker(core, sbcl)
    for name, members, code in entries():
        if wanted and not any(word in name for word in wanted):
            continue
        count += 1
        try:
            message = worker.evaluate(code, **({"timeout": int(members["limit"]) / 1000} if "limit" in members else {}))
            found = problems_of(message, members, mishap, texts, name)
            after = worker.evaluate("(+ 1 2)")
            if not after.get("text", "").endswith("=> 3"):
                found.append(f"the next request is answered with {json.dumps(after)[:300]}")
            if "dies" in members:
                found.append("it was to die")
        except Died as death:
            found = [] if "dies" in members else [f"the worker died: {str(death)[-1500:]}"]
            worker.close()
            worker = Worker(core, sbcl)
            if worker.evaluate("(+ 1 2)").get("text") != "=> 3":
                found.append("a fresh worker does not answer")
        except TimeoutError as silence:
            found = [str(silence)]
            worker.process.kill()
            worker.close()
            worker = Worker(core, sbcl)
        if wanted:
            print(f"== {name}\n{texts[-1][1][:3000] if texts else ''}")
        if found:
            failures += 1
            print(f"not ok {name}: " + "; ".join(found))
    worker.close()
    with tempfile.NamedTemporaryFile("w", suffix=".lisp", encoding="utf-8") as responses:
        for name, text in texts:
            responses.write(f"({lisp_string(name)} t {lisp_string(text)})\n")
        responses.flush()
        parsed = subprocess.run([sbcl, "--script", str(HERE / "seed_parser.lisp"), responses.name], capture_output=True,
                                text=True, check=False)
    print(parsed.stdout + parsed.stderr, end="")
    print(f"{count} programs, {failures} with problems")
    if not wanted and count < 150:
        print("not ok: the corpus is too small")
        failures += 1
    sys.exit(1 if failures or parsed.returncode else 0)


if __name__ == "__main__":
    main()
