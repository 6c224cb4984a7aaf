;;;; too-few-arguments
;;; type: SIMPLE-PROGRAM-ERROR
;;; message: invalid number of arguments: 0
(car)

;;;; too-many-arguments
;;; type: SIMPLE-PROGRAM-ERROR
;;; message: invalid number of arguments
(defun one-argument (x) x) (one-argument 1 2)

;;;; unknown-keyword
;;; type: (UNKNOWN-KEYWORD-ARGUMENT|.*PROGRAM-ERROR)
;;; message: (?i)unknown &KEY argument
(defun with-keys (&key a) a) (with-keys :b 1)

;;;; odd-keywords
;;; type: .*PROGRAM-ERROR
;;; message: odd number
(funcall (lambda (&key a) a) :a)

;;;; malformed-let
;;; type: COMPILED-PROGRAM-ERROR
(let ((x 1 2)) x)

;;;; malformed-defun
;;; type: .*ERROR
(defun)

;;;; malformed-if
;;; type: (ARG-COUNT-ERROR|COMPILED-PROGRAM-ERROR)
(if)

;;;; malformed-lambda-list
;;; type: .*ERROR
(lambda (&optional &optional x) x)

;;;; defun-with-a-bad-name
;;; type: .*ERROR
(defun "name" () 1)

;;;; go-without-a-tag
;;; type: COMPILED-PROGRAM-ERROR
;;; message: nonexistent tag
(tagbody (go nowhere))

;;;; return-from-nothing
;;; type: COMPILED-PROGRAM-ERROR
(return-from nowhere 1)

;;;; return-from-a-dead-block
;;; type: .*CONTROL-ERROR
(let ((f (block b (lambda () (return-from b 1))))) (funcall f))

;;;; throw-to-nothing
;;; type: SIMPLE-CONTROL-ERROR
;;; message: attempt to THROW to a tag that does not exist
(throw 'nowhere 1)

;;;; throw-to-sbcl's-toplevel
;;; type: .*
(throw 'sb-impl::toplevel-catcher 1)

;;;; throw-to-the-end-of-the-world
;;; type: ABORT
(throw 'sb-impl::%end-of-the-world t)

;;;; macro-that-fails
;;; type: (SIMPLE-ERROR|COMPILED-PROGRAM-ERROR)
;;; message: cannot expand this
(defmacro fails-to-expand (x) (error "cannot expand this: ~S" x)) (list (fails-to-expand 5))

;;;; macro-that-fails-at-toplevel
;;; type: .*ERROR
;;; message: cannot expand this
(fails-to-expand 6)

;;;; macro-with-too-few-arguments
;;; type: .*ERROR
(defmacro two-arguments (a b) `(list ,a ,b)) (two-arguments 1)

;;;; macro-that-expands-into-nonsense
;;; type: .*ERROR
(defmacro nonsense () '(let 5 6)) (nonsense)

;;;; macroexpansion-without-an-end
;;; type: .*
;;; limit: 300
(defmacro for-ever (x) `(for-ever (list ,x))) (for-ever 1)

;;;; compiler-macro-that-fails
;;; type: TYPE-ERROR
(define-compiler-macro slow-one (x) (error "compiler macro ~S" x)) (defun slow-one (x) (car x)) (funcall (compile nil '(lambda () (slow-one 1))))

;;;; deep-call
;;; type: TYPE-ERROR
;;; frame: ^\(CAR|LEVEL-3
(defun level-3 (x) (list (car x))) (defun level-2 (x) (list (level-3 x))) (defun level-1 (x) (list (level-2 x))) (level-1 'deep)

;;;; error-in-a-closure
;;; type: SIMPLE-ERROR
;;; message: ^closure 3$
(let ((n 3)) (funcall (lambda () (error "closure ~D" n))))

;;;; error-in-a-local-function
;;; type: SIMPLE-ERROR
(defun outer (x) (labels ((inner (y) (list (error "inner ~A" y)))) (list (inner x)))) (outer 1)

;;;; error-in-eval
;;; type: TYPE-ERROR
;;; frame: ^\(CAR 1\)$
(eval '(car 1))

;;;; error-in-nested-eval
;;; type: UNDEFINED-FUNCTION
(eval '(eval '(missing-in-eval)))

;;;; error-in-apply
;;; type: SIMPLE-PROGRAM-ERROR
(apply #'cons '(1 2 3))

;;;; multiple-value-call-of-nothing
;;; type: UNDEFINED-FUNCTION
(multiple-value-call 'no-function-here 1 (values 2 3))

;;;; loop-keyword
;;; type: .*ERROR
(loop for x from 1 until)

;;;; format-directive
;;; type: FORMAT-ERROR
(format nil "~Q" 1)

;;;; format-arguments
;;; type: FORMAT-ERROR
;;; message: (?i)no more arguments
(format nil "~A ~A" 1)

;;;; assert
;;; type: SIMPLE-ERROR
;;; message: The assertion .* failed
(assert (= 1 2))

;;;; assert-with-a-message
;;; type: SIMPLE-ERROR
;;; message: ^numbers differ: 1$
(assert (= 1 2) () "numbers differ: ~D" 1)

;;;; error-in-a-default-argument
;;; type: TYPE-ERROR
(defun with-default (&optional (x (car 5))) x) (with-default)

;;;; error-in-load-time-value
;;; type: .*
(list (load-time-value (error "at load time")))

;;;; eval-when-error
;;; type: SIMPLE-ERROR
(eval-when (:execute) (error "in eval-when"))

;;;; symbol-macro-error
;;; type: TYPE-ERROR
(symbol-macrolet ((x (car 1))) x)

;;;; declaim-nonsense
;;; type: .*ERROR
(declaim (type no-such-type-at-all *declared-as-nothing*)) (declaim (nonsense 5 6)) (proclaim 5)

;;;; ftype-mismatch
;;; type: .*ERROR
(declaim (ftype (function (fixnum) fixnum) mismatched)) (defun mismatched (x) (concatenate 'string x "a")) (mismatched "b")
