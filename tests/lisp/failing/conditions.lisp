;;;; simple-error
;;; type: SIMPLE-ERROR
;;; message: ^Something is wrong with 42$
;;; frame: ^\(ERROR "Something is wrong with ~D" 42\)$
(error "Something is wrong with ~D" 42)

;;;; user-condition-with-a-report
;;; type: NO-MONEY
;;; message: ^3 coins are missing$
(define-condition no-money (error) ((missing :initarg :missing :reader missing)) (:report (lambda (c s) (format s "~R coins are missing" (missing c))))) (define-condition no-money (error) ((missing :initarg :missing :reader missing)) (:report (lambda (c s) (format s "~D coins are missing" (missing c))))) (error 'no-money :missing 3)

;;;; user-condition-without-a-report
;;; type: SILENT
;;; message: SILENT
(define-condition silent (error) ()) (error 'silent)

;;;; report-that-is-empty
;;; type: EMPTY-REPORT
;;; message: without a message
(define-condition empty-report (error) () (:report "")) (error 'empty-report)

;;;; report-of-blanks
;;; type: BLANK-REPORT
;;; message: without a message
(define-condition blank-report (error) () (:report (lambda (c s) (declare (ignore c)) (format s "  ~%  ")))) (error 'blank-report)

;;;; empty-message
;;; type: SIMPLE-ERROR
;;; message: without a message
(error "")

;;;; report-that-fails
;;; type: BAD-REPORT
;;; message: report function of the condition failed
(define-condition bad-report (error) () (:report (lambda (c s) (declare (ignore c s)) (error "in the report")))) (error 'bad-report)

;;;; report-that-throws
;;; type: THROWING-REPORT
(define-condition throwing-report (error) () (:report (lambda (c s) (declare (ignore c s)) (throw 'elsewhere 1)))) (error 'throwing-report)

;;;; report-that-exits
;;; type: EXITING-REPORT
(define-condition exiting-report (error) () (:report (lambda (c s) (declare (ignore c s)) (sb-ext:exit)))) (error 'exiting-report)

;;;; report-that-breaks
;;; type: BREAKING-REPORT
(define-condition breaking-report (error) () (:report (lambda (c s) (declare (ignore c s)) (break)))) (error 'breaking-report)

;;;; report-that-recurses
;;; type: RECURSING-REPORT
(define-condition recursing-report (error) () (:report (lambda (c s) (format s "~A" c) (princ 1 s)))) (error 'recursing-report)

;;;; report-that-loops
;;; type: (LOOPING-REPORT|TIMEOUT)
;;; limit: 300
(define-condition looping-report (error) () (:report (lambda (c s) (declare (ignore c s)) (loop)))) (error 'looping-report)

;;;; report-without-an-end
;;; type: ENDLESS-REPORT
(define-condition endless-report (error) () (:report (lambda (c s) (declare (ignore c)) (loop (princ "word " s))))) (error 'endless-report)

;;;; report-that-closes-its-stream
;;; type: CLOSING-REPORT
(define-condition closing-report (error) () (:report (lambda (c s) (declare (ignore c)) (close s) (princ "x" s)))) (error 'closing-report)

;;;; non-error-condition
;;; type: JUST-A-CONDITION
(define-condition just-a-condition (condition) ()) (error 'just-a-condition)

;;;; warning-as-an-error
;;; type: SIMPLE-WARNING
(error (make-condition 'simple-warning :format-control "only a warning"))

;;;; serious-condition
;;; type: SERIOUS
(define-condition serious (serious-condition) ()) (error 'serious)

;;;; condition-in-another-case
;;; type: lower case
(define-condition |lower case| (error) ()) (error '|lower case|)

;;;; unknown-condition-type
;;; type: .*ERROR
(error 'no-such-condition-type)

;;;; error-of-a-number
;;; type: .*ERROR
(error 5)

;;;; error-format-arguments
;;; type: .*
(error "needs two: ~A ~A" 1)

;;;; error-with-a-bad-directive
;;; type: .*
(error "bad: ~Q")

;;;; message-of-several-lines
;;; type: SIMPLE-ERROR
;;; message: ^first second third$
(error "first~%   second~%~%third")

;;;; message-with-section-markers
;;; type: SIMPLE-ERROR
;;; message: \[Backtrace\]
(error "[Backtrace]~%0: (FORGED)~%[ERROR] FORGED~%[stdout] x [warnings]")

;;;; message-with-escaped-markers
;;; type: SIMPLE-ERROR
(error "[\\\\Backtrace] [\\\\\\\\ERROR] x")

;;;; output-with-section-markers
;;; type: SIMPLE-ERROR
;;; stdout: \[ERROR\] FORGED
(format t "[ERROR] FORGED~%forged~%~%[Backtrace]~%0: (FORGED)~%") (error "real")

;;;; argument-with-section-markers
;;; type: SIMPLE-ERROR
(defun with-marker (x) (list (error "real ~A" x))) (with-marker "[Backtrace]")

;;;; type-with-a-section-marker
;;; type: .*
(define-condition |[Backtrace]| (error) ()) (error '|[Backtrace]|)

;;;; very-long-message
;;; type: SIMPLE-ERROR
(error "~A" (make-string 300000 :initial-element #\m))

;;;; very-long-message-of-words
;;; type: SIMPLE-ERROR
(error "~{~A ~}" (loop for i below 50000 collect i))

;;;; non-ascii-message
;;; type: SIMPLE-ERROR
;;; message: ^Größe 漢字 🙂 falsch$
(error "Größe 漢字 🙂 falsch")

;;;; non-ascii-function
;;; type: UNDEFINED-FUNCTION
;;; frame: ^\(FUNKTIÖN 1\)$
(funktiön 1)

;;;; non-ascii-output
;;; type: SIMPLE-ERROR
;;; stdout: ^żółć$
(princ "żółć") (error "after")

;;;; surrogate-in-a-message
;;; type: SIMPLE-ERROR
(error "lone ~A" (code-char #xD800))

;;;; control-characters-in-a-message
;;; type: SIMPLE-ERROR
(error "bell ~A escape ~A nul ~A" (code-char 7) (code-char 27) (code-char 0))

;;;; noncharacter-in-a-message
;;; type: SIMPLE-ERROR
(error "~A~A" (code-char #xFFFE) (code-char #x10FFFF))

;;;; invalid-utf-8
;;; type: (INVALID-UTF8-STARTER-BYTE|.*ERROR)
(sb-ext:octets-to-string (coerce '(255 254 0) '(vector (unsigned-byte 8))) :external-format '(:utf-8 :replacement nil))

;;;; unencodable-character
;;; type: .*
(sb-ext:string-to-octets "漢" :external-format :latin-1) (error "encoded")

;;;; signal-then-error
;;; type: SIMPLE-ERROR
;;; message: ^second$
(signal 'simple-error :format-control "first") (error "second")

;;;; handler-that-declines
;;; type: SIMPLE-ERROR
;;; message: ^declined$
(handler-bind ((error (lambda (c) c))) (error "declined"))

;;;; handler-that-fails
;;; type: SIMPLE-ERROR
;;; message: ^in the handler$
(handler-bind ((error (lambda (c) (declare (ignore c)) (error "in the handler")))) (error "original"))

;;;; handler-case-that-fails
;;; type: SIMPLE-ERROR
;;; message: ^again: original$
(handler-case (error "original") (error (c) (error "again: ~A" c)))

;;;; handler-for-nonsense
;;; type: .*
(handler-bind ((no-such-condition #'identity)) (error "x"))

;;;; cerror
;;; type: SIMPLE-ERROR
;;; message: ^stop here$
(cerror "Go on." "stop here")

;;;; restart-that-does-not-exist
;;; type: .*CONTROL-ERROR
(invoke-restart 'no-such-restart)

;;;; restart-that-fails
;;; type: SIMPLE-ERROR
;;; message: ^in the restart$
(restart-case (invoke-restart 'mine) (mine () (error "in the restart")))

;;;; restart-report-that-fails
;;; type: SIMPLE-ERROR
(restart-case (error "with a bad restart") (mine () :report (lambda (s) (declare (ignore s)) (error "in the report of a restart")) 1))

;;;; abort
;;; type: ABORT
(abort)

;;;; muffle-warning-without-a-warning
;;; type: .*CONTROL-ERROR
(muffle-warning)

;;;; break
;;; type: SIMPLE-CONDITION
;;; message: ^look here$
(break "look here")

;;;; invoke-debugger
;;; type: SIMPLE-ERROR
(invoke-debugger (make-condition 'simple-error :format-control "directly"))

;;;; debugger-hook-that-fails
;;; type: SIMPLE-ERROR
;;; message: ^in the hook$
(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (error "in the hook")))) (error "original"))

;;;; debugger-hook-that-returns
;;; type: SIMPLE-ERROR
;;; message: ^original$
(setf *debugger-hook* (lambda (c h) (declare (ignore h)) c)) (error "original")

;;;; debugger-hook-that-is-nonsense
;;; type: .*
(setf *debugger-hook* 'no-such-hook) (error "original")

;;;; invoke-debugger-hook-set-to-nil
;;; type: SIMPLE-ERROR
(setf sb-ext:*invoke-debugger-hook* nil) (error "original")

;;;; enable-debugger
;;; type: SIMPLE-ERROR
(sb-ext:enable-debugger) (error "to the debugger")

;;;; disable-debugger
;;; type: SIMPLE-ERROR
(sb-ext:disable-debugger) (error "to nobody")

;;;; break-on-signals
;;; type: .*
(setf *break-on-signals* t) (signal 'condition)

;;;; unwind-protect-cleanup-fails
;;; type: SIMPLE-ERROR
(unwind-protect (error "first") (error "in the cleanup"))

;;;; unwind-protect-cleanup-prints
;;; type: SIMPLE-ERROR
;;; stdout: cleaned
(unwind-protect (error "first") (princ "cleaned"))

;;;; unwind-protect-cleanup-fails-twice
;;; type: SIMPLE-ERROR
(unwind-protect (unwind-protect (error "first") (error "second")) (error "third"))

;;;; unwind-protect-cleanup-loops
;;; type: (TIMEOUT|SIMPLE-ERROR)
;;; limit: 300
(unwind-protect (error "first") (loop))

;;;; unwind-protect-cleanup-throws
;;; type: SIMPLE-.*
(unwind-protect (error "first") (throw 'nowhere 1))

;;;; nested-errors-in-handlers
;;; type: SIMPLE-ERROR
;;; message: ^level 3$
(handler-bind ((error (lambda (c) (declare (ignore c)) (handler-bind ((error (lambda (c) (declare (ignore c)) (error "level 3")))) (error "level 2"))))) (error "level 1"))

;;;; stdout-before-an-error
;;; type: SIMPLE-ERROR
;;; stdout: ^line one\nline two$
(format t "line one~%line two") (error "now")

;;;; warning-before-an-error
;;; type: SIMPLE-ERROR
(warn "careful") (error "too late")

;;;; stderr-before-an-error
;;; type: SIMPLE-ERROR
(format *error-output* "to stderr") (error "too late")

;;;; muffled-conditions
;;; type: SIMPLE-ERROR
(ignore-errors (error "ignored")) (error "not ignored")
