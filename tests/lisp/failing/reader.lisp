;;;; unclosed-parenthesis
;;; type: END-OF-FILE
;;; message: ends before the form is complete
;;; frame: \(READ "\(list 1 2"\)
(list 1 2

;;;; unclosed-string
;;; type: END-OF-FILE
;;; message: not closed
(print "no end)

;;;; unclosed-block-comment
;;; type: END-OF-FILE
#| never closed

;;;; unmatched-close
;;; type: SIMPLE-READER-ERROR
;;; message: unmatched close parenthesis
(list 1))

;;;; read-time-evaluation
;;; type: SIMPLE-READER-ERROR
;;; message: \*READ-EVAL\* is NIL
#.(+ 1 2)

;;;; read-time-evaluation-inside
;;; type: SIMPLE-READER-ERROR
(list #.(sb-ext:posix-getenv "HOME"))

;;;; unknown-dispatch-character
;;; type: SIMPLE-READER-ERROR
;;; message: no dispatch function
#@foo

;;;; unknown-package
;;; type: SIMPLE-READER-PACKAGE-ERROR
;;; message: Package NOPE does not exist
(nope:function 1)

;;;; symbol-not-external
;;; type: SIMPLE-READER-PACKAGE-ERROR
;;; message: not external
(sb-impl:process-script 1)

;;;; symbol-not-found
;;; type: SIMPLE-READER-PACKAGE-ERROR
;;; message: not found
(cl:no-such-symbol-here)

;;;; too-many-colons
;;; type: .*READER.*
cl:::car

;;;; trailing-colon
;;; type: .*READER.*
foo:

;;;; only-dots
;;; type: .*READER.*
(list ..)

;;;; dot-context
;;; type: .*READER.*
;;; message: (?i)before \.
( . 1)

;;;; more-than-one-object-after-dot
;;; type: .*READER.*
'(1 . 2 3)

;;;; nothing-before-dot-in-vector
;;; type: .*READER.*
#(1 . 2)

;;;; comma-not-in-backquote
;;; type: .*READER.*
;;; message: (?i)comma not inside
(list ,x)

;;;; unknown-character-name
;;; type: .*READER.*
;;; message: (?i)nosuchname
#\NoSuchName

;;;; bad-radix-digit
;;; type: .*READER.*
#b102

;;;; bad-radix
;;; type: .*READER.*
#99r10

;;;; undefined-structure-literal
;;; type: .*READER.*
#S(no-such-structure :a 1)

;;;; vector-too-long
;;; type: .*READER.*
#2(1 2 3)

;;;; bad-complex
;;; type: .*READER.*
#C(1)

;;;; undefined-label
;;; type: .*READER.*
(list #1#)

;;;; unreadable-object
;;; type: .*READER.*
#<FUNCTION CAR>

;;;; ratio-by-zero
;;; type: (.*READER.*|DIVISION-BY-ZERO)
(list 1/0)

;;;; float-out-of-range
;;; type: .*READER.*
(list 1e999)

;;;; forms-before-a-reader-error-are-evaluated
;;; type: SIMPLE-READER-ERROR
;;; stdout: before
(princ "before") )
