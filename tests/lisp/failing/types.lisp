;;;; plus-of-a-string
;;; type: TYPE-ERROR
;;; message: ^The value "hello" is not of type NUMBER\.$
;;; frame: ^\(\+ 1 "hello"\)$
(+ 1 "hello")

;;;; plus-of-a-string-compiled
;;; type: TYPE-ERROR
;;; message: ^The value "hello" is not of type NUMBER\.$
(let ((x "hello")) (+ 1 x))

;;;; plus-in-a-function
;;; type: TYPE-ERROR
;;; message: is not of type NUMBER
(defun add-one (x) (+ x 1)) (add-one "two")

;;;; car-of-a-number
;;; type: TYPE-ERROR
;;; message: ^The value 5 is not of type LIST\.$
;;; frame: ^\(CAR 5\)$
(car 5)

;;;; cdr-of-a-string
;;; type: TYPE-ERROR
(cdr "abc")

;;;; length-of-a-symbol
;;; type: TYPE-ERROR
;;; message: SEQUENCE
(length 'abc)

;;;; length-of-a-dotted-list
;;; type: TYPE-ERROR
(length '(1 2 . 3))

;;;; length-of-a-circular-list
;;; type: .*
;;; limit: 300
(let ((l (list 1))) (setf (cdr l) l) (list-length 5))

;;;; nth-of-a-negative
;;; type: TYPE-ERROR
(nth -1 '(1 2))

;;;; symbol-name-of-a-string
;;; type: TYPE-ERROR
(symbol-name "foo")

;;;; string-upcase-of-a-list
;;; type: (SIMPLE-)?TYPE-ERROR
(string-upcase '(1))

;;;; char-code-of-a-number
;;; type: TYPE-ERROR
(char-code 65)

;;;; code-char-out-of-range
;;; type: TYPE-ERROR
(code-char (expt 2 30))

;;;; hash-table-expected
;;; type: TYPE-ERROR
(gethash 1 '((1 . 2)))

;;;; mapcar-over-a-vector
;;; type: TYPE-ERROR
(mapcar #'1+ #(1 2 3))

;;;; mapcar-with-an-error-inside
;;; type: TYPE-ERROR
;;; frame: (LAMBDA|CAR)
(mapcar (lambda (x) (car x)) '((1) 2))

;;;; sort-of-mixed-values
;;; type: TYPE-ERROR
;;; message: REAL
(sort (list 1 "a" 2) #'<)

;;;; reduce-of-symbols
;;; type: TYPE-ERROR
(reduce #'+ '(1 2 a))

;;;; apply-of-a-number
;;; type: (VALUES-LIST-ARGUMENT-ERROR|TYPE-ERROR)
(apply #'+ 1)

;;;; the-with-a-wrong-value
;;; type: TYPE-ERROR
(defun promise (x) (the fixnum x)) (promise "no")

;;;; declared-argument
;;; type: TYPE-ERROR
;;; message: FIXNUM
(defun declared (x) (declare (type fixnum x)) x) (declared 1.5)

;;;; check-type
;;; type: SIMPLE-TYPE-ERROR
;;; message: The value of X is 5, which is not of type STRING
(let ((x 5)) (check-type x string) x)

;;;; coerce-impossible
;;; type: .*ERROR
(coerce "abc" 'integer)

;;;; coerce-character
;;; type: .*ERROR
(coerce "ab" 'character)

;;;; ecase
;;; type: CASE-FAILURE
;;; message: fell through ECASE
(ecase 3 (1 'one) (2 'two))

;;;; etypecase
;;; type: CASE-FAILURE
(etypecase "s" (number 1) (symbol 2))

;;;; ccase
;;; type: CASE-FAILURE
(let ((x 5)) (ccase x (1 'one)))

;;;; struct-slot-type
;;; type: TYPE-ERROR
(defstruct typed-slot (n 0 :type fixnum)) (make-typed-slot :n "x")

;;;; struct-accessor-of-another
;;; type: TYPE-ERROR
(defstruct first-kind a) (defstruct second-kind b) (first-kind-a (make-second-kind :b 1))

;;;; parse-integer
;;; type: SIMPLE-PARSE-ERROR
;;; message: (junk in string|not an integer string)
(parse-integer "12x")

;;;; parse-integer-of-nothing
;;; type: SIMPLE-PARSE-ERROR
(parse-integer "")

;;;; read-from-an-empty-string
;;; type: END-OF-FILE
(read-from-string "")

;;;; read-from-a-broken-string
;;; type: END-OF-FILE
(read-from-string "(1 2")

;;;; make-string-of-a-number
;;; type: TYPE-ERROR
(make-string 3 :initial-element 65)

;;;; concatenate-type
;;; type: .*ERROR
(concatenate 'integer '(1) '(2))

;;;; unknown-type
;;; type: .*ERROR
(typep 1 'no-such-type)

;;;; type-error-of-a-long-list
;;; type: TYPE-ERROR
;;; message: is not of type NUMBER
(1+ (loop for i below 100000 collect i))

;;;; type-error-of-a-long-string
;;; type: TYPE-ERROR
(1+ (make-string 1000000 :initial-element #\x))

;;;; type-error-of-a-circular-list
;;; type: TYPE-ERROR
(let ((l (list 1 2))) (setf (cddr l) l) (1+ l))
