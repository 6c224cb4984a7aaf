;;;; open-a-file-that-is-not-there
;;; type: FILE-DOES-NOT-EXIST
(open "/no/such/file")

;;;; open-a-folder
;;; type: (FILE-EXISTS|.*ERROR)
(with-open-file (s "/tmp/" :direction :output) s)

;;;; delete-a-file-that-is-not-there
;;; type: .*FILE-ERROR|DELETE-FILE-ERROR
(delete-file "/no/such/file")

;;;; rename-a-file-that-is-not-there
;;; type: .*ERROR
(rename-file "/no/such/file" "other")

;;;; write-where-nobody-may
;;; type: .*ERROR
(with-open-file (s "/proc/no/such" :direction :output) (print 1 s))

;;;; load-a-file-that-is-not-there
;;; type: .*ERROR
(load "/no/such/file.lisp")

;;;; require-of-nothing
;;; type: (EXTENSION-FAILURE|.*ERROR)
(require :no-such-module)

;;;; run-program
;;; type: .*ERROR
(sb-ext:run-program "/no/such/program" '())

;;;; read-from-standard-input
;;; type: END-OF-FILE
(read)

;;;; read-line-from-standard-input
;;; type: END-OF-FILE
(read-line)

;;;; y-or-n-p
;;; type: END-OF-FILE
(y-or-n-p "really?")

;;;; read-beyond-the-end
;;; type: END-OF-FILE
(with-input-from-string (s "a") (read-char s) (read-char s))

;;;; read-from-an-output-stream
;;; type: .*ERROR
(read-char (make-string-output-stream))

;;;; write-to-an-input-stream
;;; type: .*ERROR
(write-char #\a (make-string-input-stream "x"))

;;;; write-a-byte-to-characters
;;; type: .*ERROR
(write-byte 1 *standard-output*)

;;;; closed-stream
;;; type: .*ERROR
(let ((s (make-string-input-stream "x"))) (close s) (read-char s))

;;;; close-standard-output
;;; type: CLOSED-STREAM-ERROR
(close *standard-output*) (print 1)

;;;; close-standard-error
;;; type: CLOSED-STREAM-ERROR
(close *error-output*) (format *error-output* "x")

;;;; close-standard-input
;;; type: .*ERROR
(close *standard-input*) (read-char *standard-input*)

;;;; close-terminal-io
;;; type: .*ERROR
(close *terminal-io*) (format *terminal-io* "x") (read-char *terminal-io*)

;;;; close-every-descriptor
;;; type: SIMPLE-ERROR
(dolist (fd '(0 1 2)) (sb-unix:unix-close fd)) (error "descriptors closed")

;;;; standard-output-set-to-a-number
;;; type: TYPE-ERROR
(setf *standard-output* 5)

;;;; standard-output-set-to-a-number-behind-the-compiler
;;; type: .*ERROR
(set '*standard-output* 5) (print 1)

;;;; standard-output-bound-to-a-closed-stream
;;; type: .*
(let ((*standard-output* (make-string-output-stream))) (close *standard-output*) (print 1) (error "printed"))

;;;; format-to-nonsense
;;; type: (CASE-FAILURE|.*ERROR)
(format 5 "x")

;;;; print-to-nonsense
;;; type: .*ERROR
(print 1 "not a stream")

;;;; print-readably
;;; type: PRINT-NOT-READABLE
(let ((*print-readably* t)) (prin1-to-string #'car))

;;;; print-base
;;; type: TYPE-ERROR
(setf *print-base* 99)

;;;; print-base-behind-the-compiler
;;; type: .*
(set '*print-base* 99) (error "base")

;;;; print-case
;;; type: .*
(set '*print-case* :sideways) (error "case")

;;;; print-pprint-dispatch
;;; type: .*
(set '*print-pprint-dispatch* 5) (error "dispatch")

;;;; package-set-to-nonsense
;;; type: .*
(set '*package* 5) (error "package")

;;;; readtable-set-to-nonsense
;;; type: .*
(set '*readtable* 5) (error "readtable")

;;;; read-base-set-to-nonsense
;;; type: .*
(set '*read-base* 1000) (error "base")

;;;; macroexpand-hook-set-to-nonsense
;;; type: .*
(set '*macroexpand-hook* 'no-such-hook) (when t (error "hook"))

;;;; features-set-to-nonsense
;;; type: .*
(set '*features* 5) (error "features")

;;;; random-state-set-to-nonsense
;;; type: .*
(set '*random-state* 5) (random 10)

;;;; gensym-counter-set-to-nonsense
;;; type: .*ERROR
(set '*gensym-counter* :x) (gensym)

;;;; default-pathname-set-to-nonsense
;;; type: .*
(set '*default-pathname-defaults* 5) (probe-file "x")

;;;; evaluator-mode
;;; type: .*
(let ((sb-ext:*evaluator-mode* :interpret)) (eval '(let ((x 1)) (+ x "a"))))

;;;; current-package-deleted
;;; type: .*
(make-package "SHORT-LIVED" :use '("CL")) (in-package "SHORT-LIVED") (delete-package "SHORT-LIVED") (error "no package")

;;;; bad-pathname
;;; type: .*ERROR
(open (make-pathname :name :wild :type "x"))

;;;; logical-pathname
;;; type: .*ERROR
(translate-logical-pathname (make-pathname :host "NOHOST" :name "X"))

;;;; bad-element-type
;;; type: .*ERROR
(open "/dev/null" :element-type 'no-such-type)

;;;; directory-of-nonsense
;;; type: .*ERROR
(directory 5)

;;;; string-stream-bounds
;;; type: .*ERROR
(make-string-input-stream "abc" 5)

;;;; peek-char-at-the-end
;;; type: END-OF-FILE
(peek-char t (make-string-input-stream "   "))

;;;; file-position-of-a-number
;;; type: .*ERROR
(file-position 5)

;;;; read-sequence-of-a-list
;;; type: .*ERROR
(read-sequence 5 *standard-input*)
