"""Round trips of one form after the other: the core of the Lisp service against a bare read, eval and print in SBCL.

    LISP_CORE=… SBCL=… python3 bench/lisp/round_trip.py

Both are driven from here, so both figures have the cost of this side in them. The best of five runs counts.
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "lisp"))
from worker import SBCL, Worker  # noqa: E402

BARE = """(let ((*standard-output* (sb-sys:make-fd-stream 1 :output t :buffering :full)))
  (loop (prin1 (handler-case (eval (read)) (error (c) (substitute #\\Space #\\Newline (princ-to-string c))))) (terpri) (finish-output)))"""
FORMS = {"(+ 1 2)": 5000, '(+ 1 "hello")': 1000, "(nonexistent-fn 1 2)": 300, "(let ((x 1)) (+ x 2))": 300}


def best(run, count):
    def once():
        start = time.perf_counter()
        for _ in range(count):
            run()
        return (time.perf_counter() - start) / count * 1e6
    return min(once() for _ in range(5))


def main():
    bare = subprocess.Popen([SBCL, "--noinform", "--no-sysinit", "--no-userinit", "--eval", BARE], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with Worker() as worker:
        for form, count in FORMS.items():
            call = b"=" + json.dumps({"id": 1, "operation": "lisp.evaluate", "arguments": {"code": form}}).encode()

            def ours():
                worker.ours.send(call)
                worker.ours.recv(65536)

            def theirs():
                bare.stdin.write(form.encode() + b"\n")
                bare.stdin.flush()
                bare.stdout.readline()
            mine, plain = best(ours, count), best(theirs, count)
            print("%-24s %8.1f us, bare %8.1f us, %.2f times" % (form, mine, plain, mine / plain))
    bare.kill()
    bare.wait()


if __name__ == "__main__":
    main()
