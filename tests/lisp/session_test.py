"""A session of the Lisp service: values, output, warnings, state, interruption, restarts, the other operations.

    LISP_CORE=… SBCL=… python3 tests/lisp/session_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import pathlib
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = pathlib.Path("/usr/share/common-lisp/source")
sys.path.insert(0, str(HERE.parent / "cli"))
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from corpus import FLOATS_TRAP, TRAPS_ASKED  # noqa: E402
from worker import Died, Worker, wait_until  # noqa: E402

# ---- Answers -------------------------------------------------------------------------------------

TEXTS = {
    "a value": ("(+ 1 2)", "=> 3"),
    "a string": ('"a"', '=> "a"'),
    "several values": ('(values 1 :two "three")', '=> 1\n=> :TWO\n=> "three"'),
    "no values": ("(values)", "; No values"),
    "no code": ("", "; No values"),
    "only a comment": ("; nothing", "; No values"),
    "the last of several forms": ("1 2 3", "=> 3"),
    "nil": ("nil", "=> NIL"),
    "output": ('(princ "hello") 5', "[stdout]\nhello\n\n=> 5"),
    "output of several lines": ('(format t "a~%b~%") 5', "[stdout]\na\nb\n\n\n=> 5"),
    "standard error": ('(princ "oops" *error-output*) 5', "[stderr]\noops\n\n=> 5"),
    "a warning": ('(warn "careful") 5', "[warnings]\nSIMPLE-WARNING: careful\n\n=> 5"),
    "everything": ('(princ "o") (princ "e" *error-output*) (warn "w") (values 1 2)',
                   "[stdout]\no\n\n[stderr]\ne\n\n[warnings]\nSIMPLE-WARNING: w\n\n=> 1\n=> 2"),
    "a warning of the compiler": ("(defun calls-later () (not-yet-defined 1))",
                                  "[warnings]\nSIMPLE-STYLE-WARNING: undefined function: NOT-YET-DEFINED\n\n=> CALLS-LATER"),
    "no warning for what the next form defines": ("(defun first-one () (second-one)) (defun second-one () 2)",
                                                  "=> SECOND-ONE"),
    "no warning for what is defined anew": ("(defun again () 1) (defun again () 2) (again)", "=> 2"),
    "a condition that is handled": ('(handler-case (error "x") (error (c) (princ-to-string c)))', '=> "x"'),
    "a signal that nothing handles": ("(signal 'simple-error)", "=> NIL"),
    "a restart that is chosen": ("(handler-bind ((error #'continue)) (cerror \"go on\" \"x\") 7)", "=> 7"),
    "a debugger hook that throws": ("(catch 'out (let ((*debugger-hook* (lambda (c h) c h (throw 'out 8)))) (error \"x\")))",
                                    "=> 8"),
    "a circular list": ("(let ((l (list 1 2))) (setf (cddr l) l) l)", "=> #1=(1 2 . #1#)"),
    "a list that contains itself": ("(let ((l (list 1))) (setf (car l) l))", "=> #1=(#1#)"),
    "a shared list": ("(let ((l (list 1))) (list l l))", "=> ((1) (1))"),
    "a circular structure": ("(defstruct node next) (let ((n (make-node))) (setf (node-next n) n))", "=> #1=#S(NODE :NEXT #1#)"),
    "a marker in the output": ('(princ "[ERROR] X [\\\\Backtrace]") 1', "[stdout]\n[\\ERROR] X [\\\\Backtrace]\n\n=> 1"),
    "a marker in a value": ('"[stdout]"', '=> "[\\stdout]"'),
    "non-ASCII text": ('(princ "żółć 漢字 🙂") "ü"', '[stdout]\nżółć 漢字 🙂\n\n=> "ü"'),
    "standard input is empty": ("(read-char *standard-input* nil :end)", "=> :END"),
    "a function of one's own": ("(defun twice (x) (* 2 x)) (twice 21)", "=> 42"),
    "a package made by the form before": ('(defpackage :fresh (:use :cl) (:export #:f)) (defun fresh:f () 9) (fresh:f)', "=> 9"),
    "unwind-protect": ('(catch \'x (unwind-protect (throw \'x 1) (princ "cleaned")))', "[stdout]\ncleaned\n\n=> 1"),
    "a loop of a million": ("(loop for i below 1000000 sum i)", "=> 499999500000"),
    "a tail call a million deep": ("(defun down (n) (if (= n 0) :bottom (down (1- n)))) (down 1000000)", "=> :BOTTOM"),
}


@tests_of(TEXTS)
def text_of_an_answer(code, expected):
    with Worker() as worker:
        equal(worker.evaluate(code).get("text"), expected, "the text")


# What depends on the processor: as docs/lisp.md has it. With traps: the code and the type of the failure. Without: the text.
FLOATS = {
    "(/ 1.0 0.0)": (("DIVISION_BY_ZERO", "DIVISION-BY-ZERO"), "=> #.SINGLE-FLOAT-POSITIVE-INFINITY"),
    "(* 1d308 10)": (("SIMPLE_ERROR", "FLOATING-POINT-OVERFLOW"), "=> #.DOUBLE-FLOAT-POSITIVE-INFINITY"),
}


@tests_of({code: (code, *row) for code, row in FLOATS.items()})
def exceptions_of_floats_fail_where_the_processor_can_trap_them(code, failure, text):
    with Worker() as worker:
        message = worker.evaluate(code)
        if FLOATS_TRAP:
            expect("failure" in message, message)
            equal((message["failure"]["code"], message["failure"]["type"]), failure, "the failure")
        else:
            equal(message.get("text"), text, "the text")
        traps = worker.evaluate("(getf (sb-int:get-floating-point-modes) :traps)")["text"]
        equal(traps, "=> (:OVERFLOW :INVALID :DIVIDE-BY-ZERO)" if TRAPS_ASKED else "=> NIL", "the traps")
        for integers in "(/ 1 0)", "(mod 5 0)", "(floor 1 0)", "(truncate 1 0)", "(rem -1 0)":
            equal(worker.evaluate(integers)["failure"]["code"], "DIVISION_BY_ZERO", integers)


@test
def an_answer_has_the_same_as_members():
    with Worker() as worker:
        answer = worker.evaluate('(princ "o") (princ "e" *error-output*) (warn "w") (values 1 "two")')["answer"]
        equal(answer, {"values": ["1", '"two"'], "stdout": "o", "stderr": "e", "warnings": ["SIMPLE-WARNING: w"]}, "the answer")


@test
def a_failure_has_everything_as_members():
    with Worker() as worker:
        failure = worker.evaluate('(princ "o") (princ "e" *error-output*) (warn "w") (cerror "Go on." "stop ~D" 1)')["failure"]
        equal(failure, {"code": "SIMPLE_ERROR", "type": "SIMPLE-ERROR", "message": "stop 1", "stdout": "o",
                        "backtrace": ['(CERROR "Go on." "stop ~D" 1)'],
                        "context": {"restarts": [{"name": "CONTINUE", "description": "Go on."},
                                                 {"name": "ABORT", "description": "End this evaluation."}],
                                    "stderr": "e", "warnings": ["SIMPLE-WARNING: w"]}}, "the failure")


@test
def a_backtrace_ends_after_twenty_frames():
    with Worker() as worker:
        worker.evaluate("(defun count-down (n) (if (= n 0) (car :bottom) (1+ (count-down (1- n)))))")
        frames = worker.evaluate("(count-down 100)")["failure"]["backtrace"]
        equal(len(frames), 21, "the number of lines")
        equal(frames[0], "(CAR :BOTTOM)" if "CAR" in frames[0] else "(COUNT-DOWN 0)", "frame 0")
        equal(frames[20], "...", "the last line")
        exactly = worker.evaluate("(count-down 5)")["failure"]["backtrace"]
        expect(exactly[-1] != "..." and exactly[-1] == "(COUNT-DOWN 5)", exactly)


@test
def long_arguments_are_cut():
    with Worker() as worker:
        worker.evaluate("(defun take (a b c) (list (error \"taken: ~D\" (length (list a b c)))))")
        frame = worker.evaluate("(take (make-string 500 :initial-element #\\x) (loop for i below 500 collect i) "
                                "(make-hash-table))")["failure"]["backtrace"][0]
        expect(len(frame) < 300, "the frame has", len(frame), "characters")
        expect('"xxxxx' in frame and "xxx..." in frame and "(0 1 2 3 4 5 6 7 8 9 ...)" in frame, frame)


@test
def large_messages_travel_in_pieces():
    with Worker() as worker:
        code = "(list " + " ".join('"%s"' % ("x" * 100) for _ in range(3000)) + ")"
        text = worker.evaluate("(length " + "'" + code + ")")["text"]
        equal(text, "=> 3001", "the text")
        text = worker.evaluate("(make-string 60000 :initial-element #\\漢)")["text"]
        equal(len(text), 60000 + 5, "the length")


@test
def output_and_values_are_cut_at_their_limits():
    with Worker() as worker:
        answer = worker.evaluate("(dotimes (i 100000) (write-string \"0123456789\")) (make-string 1000000)")["answer"]
        expect(answer["stdout"].endswith("... (cut)") and len(answer["stdout"]) < 65100, len(answer["stdout"]))
        expect(answer["values"][0].endswith("... (cut)") and len(answer["values"][0]) < 65100, len(answer["values"][0]))


# ---- State ---------------------------------------------------------------------------------------

@test
def state_persists_from_call_to_call():
    with Worker() as worker:
        for code, expected in (("(defvar *count* 0)", "=> *COUNT*"), ("(incf *count*)", "=> 1"), ("(incf *count*)", "=> 2"),
                               ("(defmacro twice (x) `(* 2 ,x))", "=> TWICE"), ("(twice *count*)", "=> 4"),
                               ("(list * ** +)", "=> (4 TWICE (TWICE *COUNT*))"),
                               ("(defpackage :mine (:use :cl))", '=> #<PACKAGE "MINE">'),
                               ("(in-package :mine)", '=> #<PACKAGE "MINE">'), ("'x", "=> X"),
                               ("(symbol-package 'x)", '=> #<PACKAGE "MINE">'), ("cl-user::*count*", "=> 2"),
                               ("(setf *print-base* 16)", "=> 10"), ("255", "=> FF"), ("(setf *print-base* 10)", "=> 10"),
                               ("(in-package :cl-user)", '=> #<PACKAGE "COMMON-LISP-USER">')):
            equal(worker.evaluate(code).get("text"), expected, code)


@test
def state_survives_a_failure():
    with Worker() as worker:
        worker.evaluate("(defvar *kept* 5)")
        expect("failure" in worker.evaluate("(setf *kept* 6) (error \"after\")"))
        equal(worker.evaluate("*kept*")["text"], "=> 6", "the value")


@test
def a_call_may_name_its_package():
    with Worker() as worker:
        worker.evaluate("(defpackage :other (:use :cl))")
        equal(worker.evaluate("(symbol-package 'y)", package="OTHER")["text"], '=> #<PACKAGE "OTHER">', "named")
        equal(worker.evaluate("(symbol-package 'y)", package="other")["text"], '=> #<PACKAGE "OTHER">', "in small letters")
        equal(worker.evaluate("(symbol-package 'y)")["text"], '=> #<PACKAGE "COMMON-LISP-USER">', "not named")
        failure = worker.evaluate("1", package="NO-SUCH")["failure"]
        equal((failure["code"], failure["message"]), ("PACKAGE_ERROR", 'There is no package named "NO-SUCH".'), "unknown")


NONSENSE = ["(set '*package* 5)", "(set '*readtable* 5)", "(set '*print-base* 99)", "(set '*print-case* 5)",
            "(set '*standard-output* 5)", "(set '*features* 5)", "(set '*read-base* 99)", "(makunbound '*package*)",
            "(makunbound '*standard-output*)", "(set '*print-length* :x)", "(set '*default-pathname-defaults* 5)",
            "(set '*gensym-counter* :x)", "(set '*random-state* 5)", "(set '*read-default-float-format* 5)",
            "(set '*debugger-hook* 5)", "(set 'sb-ext:*invoke-debugger-hook* 5)", "(set '*break-on-signals* t)",
            "(set 'sb-ext:*evaluator-mode* 5)", "(set '*print-pprint-dispatch* 5)", "(set '*read-eval* 5)"]


@tests_of({code: (code,) for code in NONSENSE})
def a_variable_without_sense_does_not_end_the_session(code):
    with Worker() as worker:
        worker.evaluate(code)
        equal(worker.evaluate("(when t (list 1 (gensym) (random 5) (format nil \"~A\" 1.5)) (+ 1 2))")["answer"]["values"], ["3"],
              "the next value")
        equal(worker.evaluate("(car 5)")["failure"]["type"], "TYPE-ERROR", "the next failure")


@tests_of({"a hook": ("(set '*macroexpand-hook* 'nothing)", "*MACROEXPAND-HOOK*"),
           "the package": ("(delete-package *package*)", "*PACKAGE*")})
def a_variable_is_reset_with_a_warning(code, name):
    with Worker() as worker:
        equal(worker.evaluate(code)["answer"]["warnings"], [name + " had no usable value and was reset."], "the warnings")
        equal(worker.evaluate("(when t (+ 1 2))")["text"], "=> 3", "the next answer")


@test
def twelve_exhausted_stacks_in_a_row():
    with Worker() as worker:
        worker.evaluate("(defun deeper (n) (1+ (deeper (1+ n))))")
        for _ in range(12):
            equal(worker.evaluate("(deeper 0)")["failure"]["type"], "CONTROL-STACK-EXHAUSTED", "the type")
            equal(worker.evaluate("(+ 1 2)")["text"], "=> 3", "the next answer")


@test
def a_collection_that_falls_into_the_report_of_an_exhausted_stack():
    """Small collections and garbage of different sizes: one comes at every point of the report."""
    with Worker() as worker:
        worker.evaluate("(setf (sb-ext:bytes-consed-between-gcs) 200000)")
        worker.evaluate("(defvar *a* (list 1)) (defvar *b* (list 1)) (setf (car *a*) *a* (car *b*) *b*)")
        for i in range(300):
            equal(worker.evaluate("(progn (make-string %d) (equal *a* *b*))" % (i * 7919 % 8000))["failure"]["type"],
                  "CONTROL-STACK-EXHAUSTED", "the type")


@test
def a_thread_that_collects_never_waits_for_ever_for_an_exhausted_stack():
    """SBCL itself may end if another thread collects at such a moment. It must answer or end: a session that hangs costs its time."""
    with Worker() as worker:
        worker.evaluate("(defun deeper (n) (1+ (deeper (1+ n))))")
        worker.evaluate("(sb-thread:make-thread (lambda () (loop repeat 100000 do (sb-ext:gc :gen 0) (sleep 0.001))))")
        try:
            for _ in range(60):
                expect("failure" in worker.evaluate("(deeper 0)"), "no failure")
            equal(worker.evaluate("(sb-ext:gc :full t)").get("text"), "=> NIL", "a collection")
        except Died as death:
            expect("fatal error" in str(death), "an end without a word:", death)


# At the very end of its stack, with less room than the frame of a signal needs, a thread waits until it has learned that another one
# collects. The collection itself is put off, as the prelude does for its report: it would read a protected page of the stack. The other
# thread collects at no other time, since SBCL itself may end if that is done while a stack is about to be exhausted.
AT_THE_END = """
(defvar *wanted* nil)
(defun deeper (n) (1+ (deeper (1+ n))))
(defun room-left ()
  (- (sb-sys:sap-int (sb-kernel:current-sp)) (sb-kernel:get-lisp-obj-address sb-vm:*control-stack-start*)
     (sb-alien:extern-alien "os_vm_page_size" sb-alien:unsigned-long)))
(defun wait-at-the-end ()
  (if (> (room-left) 1500)
      (1+ (wait-at-the-end))
      (progn
        (setf *wanted* t)
        (loop until sb-kernel:*stop-for-gc-pending*)
        0)))
(defun exhaust ()
  (handler-bind ((storage-condition (lambda (c)
                                      (declare (ignore c))
                                      (let ((sb-kernel:*gc-inhibit* t) (sb-kernel:*gc-pending* nil))
                                        (wait-at-the-end)))))
    (deeper 0)))
(sb-thread:make-thread (lambda ()
                         (loop (loop until *wanted* do (sleep 0.001))
                               (setf *wanted* nil)
                               (sb-ext:gc :gen 0))))
"""


@test
def a_thread_at_the_very_end_of_its_stack_learns_that_another_collects():
    """The kernel cannot write the frame of a signal there. On arm64 the stack of signals is another one."""
    if os.uname().machine != "x86_64":
        raise Skipped("signals have a stack of their own here")
    with Worker() as worker:
        expect("answer" in worker.evaluate(AT_THE_END), "the code is wrong")
        for _ in range(10):
            equal(worker.evaluate("(exhaust)")["failure"]["type"], "CONTROL-STACK-EXHAUSTED", "the type")
        equal(worker.evaluate("(sb-ext:gc :full t)").get("text"), "=> NIL", "a collection")


@tests_of({"and do not handle it": "(deeper 0)", "and handle it": "(handler-case (deeper 0) (storage-condition () :handled))"})
def threads_that_exhaust_their_stacks_leave_nothing_broken(code):
    """SBCL gives the stack of a thread that has ended to the next one."""
    with Worker() as worker:
        worker.evaluate("(defun deeper (n) (1+ (deeper (1+ n))))")
        for _ in range(4):
            ended = worker.evaluate("(sb-thread:join-thread (sb-thread:make-thread (lambda () %s)) :default :failed)" % code)
            equal(ended.get("answer", ended).get("values", [""])[0], ":HANDLED" if "handled" in code else ":FAILED", "the thread")
            equal(worker.evaluate("(sb-thread:join-thread (sb-thread:make-thread #'+ :arguments '(1 2)))")["text"], "=> 3", "the next thread")
            worker.begin("evaluate", code="(loop)")
            worker.interrupt()
            equal(worker.finish()["failure"]["type"], "INTERRUPTED", "the main thread")


@test
def a_thread_can_be_ended_and_the_main_thread_interrupted_by_another():
    with Worker() as worker:
        for body in "(loop)", "(sleep 600)", "(loop (setf * (make-list 1000)))":
            ended = worker.evaluate("(let ((x (sb-thread:make-thread (lambda () %s)))) (sb-thread:terminate-thread x) "
                                    "(values (sb-thread:join-thread x :default :ended)))" % body)
            equal(ended.get("text"), "=> :ENDED", body)
            failure = worker.evaluate('(let ((main sb-thread:*current-thread*)) (sb-thread:make-thread (lambda () (sb-thread:interrupt-thread '
                                      'main (lambda () (error "from a thread"))))) %s)' % body, timeout=600)["failure"]
            equal((failure["type"], failure["message"]), ("SIMPLE-ERROR", "from a thread"), body)


@test
def a_thread_that_fails_is_a_warning():
    with Worker() as worker:
        text = worker.evaluate('(ignore-errors (sb-thread:join-thread (sb-thread:make-thread (lambda () (error "in it")) '
                               ':name "mine"))) 1')["text"]
        equal(text, '[warnings]\nThe thread "mine" ended with SIMPLE-ERROR: in it\n\n=> 1', "the text")


# ---- Interruption --------------------------------------------------------------------------------

@test
def an_interrupt_stops_the_evaluation_and_the_session_lives():
    with Worker() as worker:
        worker.evaluate("(defvar *turns* 0)")
        turns = 0
        for seconds in 0.1, 0.1, 0.1, 3, 30:  # on a busy machine it may be stopped before it runs
            if turns > 0 and seconds > 0.1:
                break
            worker.begin("evaluate", code="(loop (incf *turns*))", timeout=600)
            time.sleep(seconds)
            worker.interrupt()
            failure = worker.finish()["failure"]
            equal((failure["code"], failure["type"]), ("CANCELLED", "INTERRUPTED"), "the failure")
            turns = int(worker.evaluate("*turns*")["answer"]["values"][0])
        expect(turns > 0, "nothing ran")


@test
def an_interrupt_when_the_time_is_over_is_a_timeout():
    with Worker() as worker:
        failure = worker.call("evaluate", limit_ms=100, code="(loop)")["failure"]
        equal((failure["code"], failure["type"]), ("TIMEOUT", "TIMEOUT"), "the failure")
        equal(failure["message"], "The evaluation took longer than 0.100 seconds.", "the message")


@test
def an_interrupt_for_another_call_is_ignored():
    with Worker() as worker:
        worker.begin("evaluate", code="(sleep 0.5) :slept")
        time.sleep(0.1)
        worker.interrupt(value=worker.id - 1)
        equal(worker.finish()["text"], "=> :SLEPT", "the answer")


@test
def an_interrupt_between_calls_is_ignored():
    with Worker() as worker:
        for _ in range(50):
            worker.process.send_signal(signal.SIGINT)
            equal(worker.evaluate("(+ 1 2)").get("text"), "=> 3", "the answer")


@test
def interrupts_at_any_time_are_survived():
    with Worker() as worker:
        outcomes = set()
        for turn in range(150):
            worker.begin("evaluate", code="(progn (dotimes (i 3000) (list i (format nil \"~A\" i))) (compile nil '(lambda (x) x)) 1)")
            time.sleep(turn % 30 / 4000)
            worker.interrupt()
            message = worker.finish()
            outcomes.add(message["failure"]["type"] if "failure" in message else message["text"])
            equal(worker.evaluate("(+ 1 2)")["text"], "=> 3", "the next answer")
        expect(outcomes <= {"INTERRUPTED", "=> 1"}, outcomes)


@test
def a_cleanup_form_that_loops_is_interrupted_as_well():
    with Worker() as worker:
        failure = worker.evaluate("(unwind-protect (loop) (loop))", timeout=0.2)["failure"]
        equal(failure["type"], "TIMEOUT", "the type")
        equal(worker.evaluate("(+ 1 2)")["text"], "=> 3", "the next answer")


# ---- Restarts ------------------------------------------------------------------------------------

def restart_names(failure):
    return [restart["name"] for restart in failure["context"]["restarts"]]


@test
def a_suspended_evaluation_goes_on_with_a_restart():
    with Worker() as worker:
        failure = worker.evaluate("(list 1 (restart-case (error \"choose\") (use-this (x) x)) 3)", suspend=True)["failure"]
        equal(failure["context"]["suspended"], True, "suspended")
        equal(restart_names(failure), ["USE-THIS", "ABORT"], "the restarts")
        # Between the failure and the choice, other calls are answered.
        equal(worker.evaluate("(+ 1 2)")["text"], "=> 3", "an answer meanwhile")
        equal(worker.call("restart", index=0, values="(* 6 7)")["text"], "=> (1 42 3)", "the answer")


@test
def a_suspended_evaluation_can_fail_again_and_be_aborted():
    with Worker() as worker:
        worker.evaluate("(defun ask () (restart-case (error \"first\") (again () (error \"second\"))))")
        equal(worker.evaluate("(ask)", suspend=True)["failure"]["message"], "first", "the message")
        second = worker.call("restart", index=0)["failure"]
        equal(second["message"], "second", "the message")
        aborted = worker.call("restart", index=restart_names(second).index("ABORT"))
        equal(aborted["failure"]["type"], "ABORT", "the type")
        equal(worker.call("restart", index=0)["failure"]["code"], "PRECONDITION", "nothing is suspended")
        equal(worker.evaluate("(+ 1 2)")["text"], "=> 3", "the next answer")


@test
def a_missing_function_can_be_defined_and_called_again():
    with Worker() as worker:
        failure = worker.evaluate("(list (missing 20))", suspend=True)["failure"]
        worker.evaluate("(defun missing (x) (1+ x))")
        equal(worker.call("restart", index=restart_names(failure).index("CONTINUE"))["text"].split("\n")[-1], "=> (21)", "the answer")


@test
def a_restart_that_is_not_there_leaves_the_evaluation_suspended():
    with Worker() as worker:
        worker.evaluate("(cerror \"go on\" \"stop\") 5", suspend=True)
        equal(worker.call("restart", index=99)["failure"]["code"], "INVALID_ARGUMENT", "the code")
        equal(worker.call("restart", index=0)["text"], "=> 5", "the answer")


# ---- The other operations ------------------------------------------------------------------------

@test
def validate_finds_where_code_is_wrong():
    with Worker() as worker:
        equal(worker.call("validate", code="(a (b)) no-package:c #.(d)")["answer"]["valid"], False, "#. is refused")
        equal(worker.call("validate", code="(a (b)) no-package:c")["answer"], {"valid": True, "forms": 2}, "valid")
        wrong = worker.call("validate", code="(a)\n  (b (c)\n")["answer"]
        equal((wrong["valid"], wrong["type"], wrong["line"], wrong["column"]), (False, "END-OF-FILE", 2, 3), "unclosed")
        wrong = worker.call("validate", code="(a)\n (b))")["answer"]
        equal((wrong["valid"], wrong["line"], wrong["column"], wrong["forms"]), (False, 2, 5, 2), "one too many")
        equal(worker.evaluate("(find-symbol \"NO-PACKAGE\")")["text"], "=> NIL\n=> NIL", "nothing was interned")


@test
def compile_warns_and_does_not_run():
    with Worker() as worker:
        message = worker.call("compile", code="(princ \"ran\") (let ((unused 1)) (not-there 2))")
        equal(message["answer"]["failed"], False, "failed")
        expect(any("UNUSED" in warning for warning in message["answer"]["warnings"]), message)
        expect(message["text"].startswith("[warnings]\n"), message["text"])
        equal(worker.call("compile", code="(+ 1 2)")["text"], "; Compiled", "without warnings")
        expect(worker.call("compile", code="(let ((x \"a\")) (+ 1 x))")["answer"]["failed"], "a type that cannot be right")


@test
def macroexpand_shows_the_expansion():
    with Worker() as worker:
        worker.evaluate("(defmacro outer (x) `(inner ,x)) (defmacro inner (x) `(list ,x))")
        equal(worker.call("macroexpand", code="(outer 1)", depth="1")["text"], "(INNER 1)", "once")
        equal(worker.call("macroexpand", code="(outer 1)")["text"], "(LIST 1)", "in full")
        equal(worker.call("macroexpand", code="(progn (outer 1))", depth="all")["text"], "(PROGN (LIST 1))", "everywhere")


@test
def describe_and_apropos_know_the_symbols():
    with Worker() as worker:
        worker.evaluate("(defun area-of-circle (r) \"The area.\" (* pi r r))")
        text = worker.call("describe", symbol="area-of-circle")["text"]
        expect("The area." in text and "AREA-OF-CIRCLE" in text, text)
        failure = worker.call("describe", symbol="no-such-symbol")["failure"]
        equal(failure["message"], "There is no symbol NO-SUCH-SYMBOL.", "the message")
        found = worker.call("apropos", text="area-of")["answer"]
        equal(found, {"symbols": [{"name": "AREA-OF-CIRCLE", "kinds": ["function"]}], "total": 1}, "the symbols")
        expect("STRING-UPCASE (function)" in worker.call("apropos", text="string-up")["text"])
        equal(worker.call("apropos", text="nothing-has-this-name")["text"], 'No symbol contains "nothing-has-this-name".', "none")


@test
def the_last_error_is_kept():
    with Worker() as worker:
        equal(worker.call("last-error")["answer"]["found"], False, "none yet")
        equal(worker.call("backtrace")["answer"]["found"], False, "none yet")
        worker.evaluate("(defun count-down (n) (if (= n 0) (car :bottom) (1+ (count-down (1- n)))))")
        worker.evaluate("(count-down 60)")
        worker.evaluate("(+ 1 2)")
        last = worker.call("last-error")["answer"]
        equal((last["type"], last["message"], last["form"]), ("TYPE-ERROR", "The value :BOTTOM is not of type LIST.",
                                                             "(COUNT-DOWN 60)"), "the last error")
        equal(last["restarts"][-1]["name"], "ABORT", "the last restart")
        frames = worker.call("backtrace", max_frames=50)["answer"]["backtrace"]
        equal((len(frames), frames[-1]), (51, "..."), "the frames")
        equal(len(worker.call("backtrace", max_frames=3)["answer"]["backtrace"]), 4, "three and three dots")
        expect(worker.call("backtrace", max_frames=100)["answer"]["backtrace"][-1] == "(COUNT-DOWN 60)", "all of them")


@test
def definitions_are_those_of_the_session():
    with Worker() as worker:
        equal(worker.call("definitions")["text"], "Nothing is defined.", "at the start")
        worker.evaluate("(defun f (x) x) (defvar *v* 1) (defmacro m () 1) (defstruct s a) (defclass c () ()) (defconstant +k+ 5) "
                        "(defgeneric g (x)) (define-condition e (error) ()) (list 'only-read)")
        rows = {row["name"]: row["kinds"] for row in worker.call("definitions")["answer"]["definitions"]}
        for name, kinds in {"F": ["function"], "*V*": ["variable"], "M": ["macro"], "S": ["structure"], "C": ["class"],
                            "+K+": ["constant"], "G": ["generic function"], "E": ["condition"]}.items():
            equal(rows.get(name), kinds, name)
        expect("ONLY-READ" not in rows and "CAR" not in rows, rows)


@test
def limits_can_be_changed_for_a_session():
    with Worker() as worker:
        equal(worker.call("limits", timeout=0.2, frames=5, stdout=20)["answer"],
              {"timeout": 0.2, "stdout": 20, "value": 65000, "frames": 5}, "the limits")
        equal(worker.evaluate("(loop)")["failure"]["type"], "TIMEOUT", "the type")
        equal(worker.call("limits", timeout=60)["answer"], {"timeout": 60, "stdout": 20, "value": 65000, "frames": 5}, "one of them")
        equal(worker.evaluate('(dotimes (i 10) (princ "12345")) 1')["answer"]["stdout"], "12345" * 4 + "... (cut)", "the output")
        worker.evaluate("(defun down (n) (if (= n 0) (car 5) (1+ (down (1- n)))))")
        equal(len(worker.evaluate("(down 10)")["failure"]["backtrace"]), 6, "five frames and three dots")


@test
def time_measures_an_evaluation():
    with Worker() as worker:
        message = worker.call("time", code="(length (make-list 100000))")
        equal(message["answer"]["values"], ["100000"], "the values")
        expect(message["answer"]["bytes"] >= 1000000, message)
        expect(message["answer"]["real_us"] > 0 and "=> 100000\n\n; " in message["text"], message)


@test
def reset_ends_the_process_after_its_answer():
    with Worker() as worker:
        message = worker.call("reset")
        equal((message["answer"], message["last"]), ({"reset": True}, True), "the answer")
        expect(wait_until(lambda: worker.process.poll() is not None), "the process is still there")
        equal(worker.process.returncode, 0, "the status")


@test
def files_are_loaded_from_allowed_folders_only():
    with tempfile.TemporaryDirectory() as folder:
        inside, outside = pathlib.Path(folder, "in"), pathlib.Path(folder, "inner")
        for place in (inside, outside):
            place.mkdir()
            (place / "code.lisp").write_text('(defpackage :loaded (:use :cl))\n(in-package :loaded)\n(defun answer () 42)\n'
                                             '(princ "loading")\n', encoding="utf-8")
        (inside / "link.lisp").symlink_to(outside / "code.lisp")
        (inside / "wrong.lisp").write_text("(defun f ())\n(car 5)\n", encoding="utf-8")
        with Worker(options=("--folder", str(inside))) as worker:
            equal(worker.call("load", file=str(inside / "code.lisp"))["text"], "[stdout]\nloading\n\n=> T", "inside")
            equal(worker.evaluate("(list (loaded::answer) (package-name *package*))")["text"], '=> (42 "COMMON-LISP-USER")', "loaded")
            for path in (outside / "code.lisp", inside / "link.lisp", inside / ".." / "inner" / "code.lisp"):
                failure = worker.call("load", file=str(path))["failure"]
                expect(failure["message"].endswith("is not in the folders that files may be loaded from."), failure)
            failure = worker.call("load", file=str(inside / "nothing.lisp"))["failure"]
            equal(failure["message"], 'There is no file "%s/nothing.lisp" in the folders that files may be loaded from. '
                  "A path may be relative to one of them." % inside, "none there")
            expect(failure["backtrace"][-1].startswith("(LOAD "), "the frames", failure)
            equal(worker.call("load", file="code.lisp")["text"], "[stdout]\nloading\n\n=> T", "by its path in the folder")
            failure = worker.call("load", file="../inner/code.lisp")["failure"]
            expect(failure["message"].endswith("is not in the folders that files may be loaded from."), failure)
            equal(worker.call("load", file=str(inside / "wrong.lisp"))["failure"]["backtrace"], ["(CAR 5)"], "the frames")


@test
def what_fails_before_a_form_is_read_has_a_frame_as_well():
    with Worker() as worker:
        for operation, arguments, frame in (("evaluate", {"code": "1", "package": "nowhere"}, '(IN-PACKAGE "nowhere")'),
                                            ("load", {"file": "/nowhere.lisp"}, '(LOAD "/nowhere.lisp")'),
                                            ("describe", {"symbol": "nothing-of-this-name"}, '(DESCRIBE "nothing-of-this-name")'),
                                            ("apropos", {"text": "x", "in": "nowhere"}, '(APROPOS "x" "nowhere")')):
            equal(worker.call(operation, **arguments)["failure"]["backtrace"], [frame], operation)


@test
def asdf_loads_a_library_of_debian():
    if not (SOURCES / "rt").is_dir():
        raise Skipped("cl-rt is not installed")
    with Worker(options=("--folder", str(SOURCES))) as worker:
        expect("answer" in worker.evaluate("(require :asdf)"), "ASDF")
        home = worker.evaluate("(sb-ext:native-namestring (user-homedir-pathname))")["answer"]["values"]
        equal(home, ['"%s/"' % os.getcwd().rstrip("/")], "home is where the process was started")
        with tempfile.TemporaryDirectory() as folder:
            done = worker.evaluate("""(asdf:initialize-output-translations '(:output-translations (t "%s/") :ignore-inherited-configuration))
                                      (asdf:load-system :rt) (fboundp (find-symbol "DO-TESTS" :rt))""" % folder)
        expect(done.get("answer", {}).get("values", [""])[0].startswith("#<FUNCTION"), "the library", done)


# ---- Memory --------------------------------------------------------------------------------------

@test
def words_that_sbcl_uses_for_foreign_types_can_be_defined():
    with Worker() as worker:
        for name in ("double", "single-float-p", "addr", "slot", "cast", "void"):
            equal(worker.evaluate("(progn (defun %s (x) (* 2 x)) (%s 4))" % (name, name)).get("text"), "=> 8", name)


@test
def an_idle_session_gives_its_memory_back():
    with Worker(heap="512MB") as worker:
        worker.evaluate("(progn (defvar *kept* (make-list 3000000)) 1)")
        expect(worker.private_kb() > 20000, worker.private_kb())
        worker.evaluate("(progn (setf *kept* nil) 1)")
        expect(wait_until(lambda: worker.private_kb() <= 5000), worker.private_kb(), "KB are private")


@test
def packets_are_whole_whatever_other_threads_collect():
    """The kernel writes a packet while the collector moves objects and protects pages."""
    with Worker(heap="256MB") as worker:
        expect("answer" in worker.evaluate("""
            (defvar *collecting* t) (defvar *counter* (list 0))
            (defvar *threads*
              (loop for full in '(t nil nil)
                    collect (let ((full full))
                              (sb-thread:make-thread (lambda ()
                                                       (loop while *collecting*
                                                             do (setf ** (make-list 20000))
                                                                (sb-ext:gc :full full)
                                                                (sb-ext:atomic-incf (car *counter*))
                                                                (sleep 0.001)))))))
            """), "the threads")
        for turn, size in enumerate([10, 60000, 65535, 65536, 70000, 131070, 131071, 200000, 400000, 700000] * 3):
            letters = "".join(chr(33 + (turn + i * i) % 90) for i in range(97)).replace("\\", "/").replace('"', "'")
            text = (letters * (size // len(letters) + 1))[:size]
            answer = worker.evaluate('(loop for c across "%s" for i from 1 sum (* i (char-code c)))' % text, timeout=600)
            equal(answer.get("answer", answer).get("values"), [str(sum(i * ord(c) for i, c in enumerate(text, 1)))],
                  "the sum of %d characters" % size)
        counted = worker.evaluate("(setf *collecting* nil) (mapc #'sb-thread:join-thread *threads*) (car *counter*)")
        expect(int(counted["answer"]["values"][0]) > 30, "collections:", counted)


@test
def a_full_heap_is_told_by_the_session_which_keeps_its_state():
    with Worker(heap="96MB") as worker:
        worker.evaluate("(defvar *kept* nil) (defvar *mine* 5)")
        for _ in range(3):
            failure = worker.evaluate("(loop (push (make-array 1000) *kept*))")["failure"]
            equal((failure["type"], failure["message"]),
                  ("HEAP-EXHAUSTED", "The heap is exhausted: the code keeps more than fits into it."), "the failure")
            equal(worker.evaluate("(progn (setf *kept* nil) (sb-ext:gc :full t) *mine*)")["text"], "=> 5", "its state")


@tests_of({"that the code asks for": ("(dotimes (i 3) (sb-ext:gc))", 3),
           "that the runtime makes": ("(loop repeat 4 do (setf * (make-list (floor (sb-ext:bytes-consed-between-gcs) 16))))", 2)})
def after_each_collection_the_heap_is_looked_at(code, least):
    with Worker() as worker:
        counted = worker.evaluate("(let ((before mishap-prelude::*collections*)) %s (- mishap-prelude::*collections* before))" % code)
        expect(int(counted["answer"]["values"][0]) >= least, counted)
        equal(worker.evaluate("(+ 1 2)")["text"], "=> 3", "the next answer")


@test
def nothing_grows_over_many_evaluations():
    with Worker() as worker:
        codes = ["(+ 1 2)", "(car 5)", "(nonexistent-fn 1 2)", "(let ((x 1)) (+ x 2))", "(princ 1)", "(list 1 2", "(warn \"x\")"]
        def used():
            return int(worker.evaluate("(progn (sb-ext:gc :full t) (sb-kernel:dynamic-usage))")["answer"]["values"][0])
        for _ in range(100):
            for code in codes:
                worker.evaluate(code)
        before = used()
        for _ in range(20000):
            worker.evaluate("(+ 1 2)")
        for _ in range(200):
            for code in codes:
                worker.evaluate(code)
        expect(used() - before < 200000, "bytes more:", used() - before)


@test
def a_worker_that_dies_says_why_to_its_parent():
    with Worker() as worker:
        try:
            worker.evaluate('(sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void)))')
            raise AssertionError("it lives")
        except Died:
            expect(wait_until(lambda: worker.process.poll() is not None))
            expect(os.WIFSIGNALED(worker.process.returncode) or worker.process.returncode != 0)


if __name__ == "__main__":
    main()
