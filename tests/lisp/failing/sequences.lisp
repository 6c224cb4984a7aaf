;;;; aref-beyond-the-end
;;; type: INVALID-ARRAY-INDEX-ERROR
;;; message: Invalid index 5
;;; frame: ^\(AREF #\(1 2\) 5\)$
(aref (vector 1 2) 5)

;;;; aref-negative
;;; type: .*ERROR
(aref (vector 1 2) -1)

;;;; aref-dimensions
;;; type: .*ERROR
(aref (make-array '(2 2)) 1)

;;;; aref-in-a-function
;;; type: INVALID-ARRAY-INDEX-ERROR
(defun third-of (v) (aref v 2)) (third-of (vector 1))

;;;; char-beyond-the-end
;;; type: INVALID-ARRAY-INDEX-ERROR
(char "abc" 10)

;;;; elt-of-a-list
;;; type: INDEX-TOO-LARGE-ERROR
(elt '(1 2 3) 9)

;;;; elt-of-a-vector
;;; type: .*INDEX.*
(elt #(1 2 3) 3)

;;;; subseq-bounds
;;; type: BOUNDING-INDICES-BAD-ERROR
(subseq "hello" 3 20)

;;;; subseq-reversed
;;; type: BOUNDING-INDICES-BAD-ERROR
(subseq "hello" 4 2)

;;;; setf-nth-beyond
;;; type: .*ERROR
(let ((l (list 1))) (setf (nth 5 l) 2))

;;;; vector-push-without-a-fill-pointer
;;; type: .*ERROR
;;; message: fill pointer
(vector-push 1 (make-array 3))

;;;; vector-pop-of-nothing
;;; type: .*ERROR
(vector-pop (make-array 3 :fill-pointer 0))

;;;; make-array-of-a-negative
;;; type: .*ERROR
(make-array -1)

;;;; make-array-rank
;;; type: .*ERROR
(make-array '(1 2 x))

;;;; replace-type
;;; type: TYPE-ERROR
(replace (make-string 3) '(1 2 3))

;;;; constant-index-out-of-range
;;; type: .*ERROR
(let ((v (vector 1 2 3))) (svref v 3))

;;;; adjust-array-rank
;;; type: .*ERROR
(adjust-array (make-array 3) '(2 2))

;;;; bad-initial-contents
;;; type: .*ERROR
(make-array 2 :initial-contents '(1 2 3))

;;;; destructuring-too-few
;;; type: ARG-COUNT-ERROR
(destructuring-bind (a b c) '(1 2) (list a b c))

;;;; destructuring-too-many
;;; type: ARG-COUNT-ERROR
(destructuring-bind (a) '(1 2) a)

;;;; getf-of-an-odd-list
;;; type: .*ERROR
(getf '(:a 1 :b) :c)

;;;; pairlis-lengths
;;; type: .*ERROR
(pairlis '(1 2) '(1))

;;;; nreverse-of-a-number
;;; type: TYPE-ERROR
(nreverse 5)

;;;; map-into-a-constant
;;; type: .*
(map 'string #'identity '(1 2))

;;;; assoc-of-a-bad-alist
;;; type: TYPE-ERROR
(assoc 1 '((2 . 3) 4))
