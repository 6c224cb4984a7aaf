;;;; The prelude of the Lisp service: a program that evaluates forms for one session and reports every
;;;; failure as a condition report. It runs from a core that the build saves (build.lisp).
;;;;
;;;;     json.lisp      messages as JSON text
;;;;     wire.lisp      packets on descriptor 3
;;;;     streams.lisp   what the code writes, captured up to a limit
;;;;     printing.lisp  values and arguments as text, safe from their print methods
;;;;     report.lisp    a condition as type, message, backtrace and restarts
;;;;     guard.lisp     running code that may fail, exit, loop or exhaust the stack
;;;;     evaluate.lisp  reading and evaluating forms, the state that lasts between calls
;;;;     tools.lisp     the operations
;;;;     serve.lisp     the loop: one call after the other
;;;;
;;;; Code of the user runs in the same image. The package is locked against accidents; against malice there is
;;;; only the sandbox around the process, and the server, which takes each message as the code's once code has begun
;;;; (mishap_foreign_code).

(defpackage "MISHAP-PRELUDE"
  (:use "COMMON-LISP")
  (:export "MAIN"))

(in-package "MISHAP-PRELUDE")

(declaim (optimize (speed 1) (safety 1) (debug 1)))

(defstruct (limits (:copier nil))
  "What `configure-limits` may change for a session."
  (timeout 30 :type real)                ; seconds that an evaluation has
  (output 65000 :type fixnum)            ; characters of captured output, for each stream
  (value 65000 :type fixnum)             ; characters of one printed value
  (frames 20 :type fixnum))              ; frames of a backtrace

(defvar *limits* (make-limits))

(defconstant +frames-kept+ 100 "Frames of the last error that get-backtrace can show.")
(defconstant +argument-limit+ 80 "Characters of one argument in a frame.")
(defconstant +frame-limit+ 500 "Characters of one frame.")
(defconstant +message-limit+ 70000 "Characters of a message; the report cuts it at 65,536 bytes.")

;;; SBCL's internal names move between versions: a name that is not there must not stop the build.
(defun internal (package name)
  (let ((found (find-package package)))
    (and found (find-symbol name found))))
