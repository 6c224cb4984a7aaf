;;;; undefined-function
;;; type: UNDEFINED-FUNCTION
;;; message: ^The function NONEXISTENT-FN is undefined\.$
;;; frame: ^\(NONEXISTENT-FN 1 2\)$
(nonexistent-fn 1 2)

;;;; undefined-function-inside-a-function
;;; type: UNDEFINED-FUNCTION
;;; frame: ^\(NOT-THERE 7\)$
(defun calls-nothing (x) (list (not-there x))) (calls-nothing 7)

;;;; undefined-function-by-name
;;; type: UNDEFINED-FUNCTION
(funcall 'not-there-either 1)

;;;; undefined-function-object
;;; type: UNDEFINED-FUNCTION
#'no-function

;;;; undefined-setf-function
;;; type: UNDEFINED-FUNCTION
;;; message: SETF
(let ((x (list 1))) (setf (no-accessor x) 2))

;;;; undefined-variable
;;; type: UNBOUND-VARIABLE
;;; message: The variable NO-VARIABLE is unbound
no-variable

;;;; undefined-variable-in-a-function
;;; type: UNBOUND-VARIABLE
(defun uses-nothing () (+ 1 no-such-thing)) (uses-nothing)

;;;; makunbound
;;; type: UNBOUND-VARIABLE
(defvar *gone* 1) (makunbound '*gone*) *gone*

;;;; symbol-value-of-nothing
;;; type: UNBOUND-VARIABLE
(symbol-value 'nothing-at-all)

;;;; call-of-a-number
;;; type: COMPILED-PROGRAM-ERROR
;;; message: illegal function call
(1 2 3)

;;;; funcall-of-a-string
;;; type: (TYPE-ERROR|.*-ERROR)
(funcall "not a function" 1)

;;;; funcall-of-a-macro
;;; type: UNDEFINED-FUNCTION
(funcall 'when t 1)

;;;; setq-of-a-constant
;;; type: .*ERROR
(setq pi 3)

;;;; setq-of-t
;;; type: .*ERROR
(setq t 1)

;;;; unknown-package-argument
;;; type: .*PACKAGE.*
(in-package :no-such-package)

;;;; intern-into-nothing
;;; type: .*PACKAGE.*
(intern "X" "NO-SUCH-PACKAGE")

;;;; package-made-twice
;;; type: .*PACKAGE.*
(make-package "TWICE") (make-package "TWICE")

;;;; use-package-conflict
;;; type: NAME-CONFLICT
(defpackage :has-foo (:export #:foo)) (defpackage :has-foo-too (:export #:foo))
(defpackage :wants-both (:use :has-foo :has-foo-too))

;;;; import-conflict
;;; type: NAME-CONFLICT
(defpackage :other-car (:export #:bar)) (defpackage :importer) (intern "BAR" :importer) (import (find-symbol "BAR" :other-car) :importer)

;;;; export-of-what-is-not-accessible
;;; type: .*PACKAGE.*
(export (make-symbol "LOOSE") (make-package "EXPORTER"))

;;;; delete-package-that-is-used
;;; type: .*PACKAGE.*
(defpackage :used-one) (defpackage :using-one (:use :used-one)) (delete-package :used-one)

;;;; deleted-package
;;; type: .*
(let ((p (make-package "SOON-GONE"))) (delete-package p) (intern "X" p))

;;;; redefining-car
;;; type: SYMBOL-PACKAGE-LOCKED-ERROR
;;; message: Lock on package COMMON-LISP violated
(defun car (x) x)

;;;; binding-a-function-of-the-language
;;; type: (COMPILED-PROGRAM-ERROR|.*LOCK.*)
(flet ((cons (a b) (list a b))) (cons 1 2))

;;;; fmakunbound-of-the-language
;;; type: .*LOCK.*
(fmakunbound 'cons)

;;;; interning-in-the-language
;;; type: .*LOCK.*
(intern "BRAND-NEW" "COMMON-LISP")

;;;; redefining-the-prelude
;;; type: .*LOCK.*
(defun mishap-prelude::evaluate-form (form) form)

;;;; fmakunbound-of-the-prelude
;;; type: .*LOCK.*
(fmakunbound 'mishap-prelude::answer-call)

;;;; deleting-the-prelude
;;; type: .*PACKAGE.*
(delete-package "MISHAP-PRELUDE")
