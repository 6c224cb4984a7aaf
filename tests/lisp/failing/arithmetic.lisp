;;;; division-by-zero
;;; type: DIVISION-BY-ZERO
;;; message: DIVISION-BY-ZERO
;;; frame: ^\(/ 1 0\)$
(/ 1 0)

;;;; float-division-by-zero
;;; type: DIVISION-BY-ZERO
;;; untrapped: ^=> #\.SINGLE-FLOAT-POSITIVE-INFINITY$
(/ 1.0 0.0)

;;;; mod-by-zero
;;; type: DIVISION-BY-ZERO
(mod 5 0)

;;;; floor-by-zero
;;; type: DIVISION-BY-ZERO
(floor 1 0)

;;;; float-overflow
;;; type: FLOATING-POINT-OVERFLOW
;;; untrapped: ^=> #\.DOUBLE-FLOAT-POSITIVE-INFINITY$
(let ((x 1d308)) (* x 10))

;;;; exp-overflow
;;; type: (FLOATING-POINT-OVERFLOW|.*ERROR)
;;; untrapped: ^=> #\.DOUBLE-FLOAT-POSITIVE-INFINITY$
(* most-positive-double-float most-positive-double-float)

;;;; float-invalid
;;; type: (FLOATING-POINT-INVALID-OPERATION|DIVISION-BY-ZERO)
;;; untrapped: ^=> #<.* NaN>$
(let ((zero 0.0)) (/ zero zero))

;;;; sqrt-of-a-string
;;; type: TYPE-ERROR
(sqrt "four")

;;;; expt-of-a-symbol
;;; type: .*ERROR
(expt 'a 2)

;;;; compare-of-nil
;;; type: TYPE-ERROR
(< 1 nil)

;;;; logand-of-a-float
;;; type: TYPE-ERROR
(logand 1.5 2)

;;;; ash-too-far
;;; type: .*
(ash 1 (expt 10 15))

;;;; factorial-of-a-negative
;;; type: CONTROL-STACK-EXHAUSTED
(defun factorial (n) (if (= n 0) 1 (* n (factorial (1- n))))) (factorial -1)

;;;; random-of-zero
;;; type: .*ERROR
(random 0)

;;;; log-of-zero
;;; type: DIVISION-BY-ZERO
;;; untrapped: ^=> #\.SINGLE-FLOAT-NEGATIVE-INFINITY$
;;; checked: 2.4.6
(log 0)

;;;; float-too-large
;;; type: (FLOATING-POINT-OVERFLOW|.*ERROR)
(float (expt 10 400) 1.0)

;;;; integer-of-infinity
;;; type: .*
(sb-int:with-float-traps-masked (:divide-by-zero :overflow :invalid) (round (/ 1.0 0.0)))
