;;;; no-class
;;; type: CLASS-NOT-FOUND-ERROR
;;; message: There is no class named
(make-instance 'no-such-class)

;;;; no-applicable-method
;;; type: NO-APPLICABLE-METHOD-ERROR
(defgeneric area (shape)) (area 5)

;;;; no-next-method
;;; type: NO-NEXT-METHOD-ERROR
(defmethod alone ((x integer)) (call-next-method)) (alone 5)

;;;; unbound-slot
;;; type: UNBOUND-SLOT
;;; message: unbound in the object
(defclass has-slot () ((a :accessor slot-a))) (slot-a (make-instance 'has-slot))

;;;; missing-slot
;;; type: (MISSING-SLOT|SIMPLE-ERROR|.*ERROR)
(slot-value (make-instance 'has-slot) 'b)

;;;; bad-initarg
;;; type: INITARG-ERROR
(make-instance 'has-slot :zzz 1)

;;;; method-lambda-list
;;; type: .*ERROR
(defgeneric congruent (a b)) (defmethod congruent ((a t)) a)

;;;; method-in-a-superclass
;;; type: SIMPLE-ERROR
;;; message: ^in the parent$
(defclass parent () ()) (defclass child (parent) ()) (defmethod work ((p parent)) (error "in the parent")) (defmethod work ((c child)) (list (call-next-method))) (work (make-instance 'child))

;;;; around-method
;;; type: SIMPLE-ERROR
;;; message: ^around$
(defmethod work :around ((c child)) (error "around")) (work (make-instance 'child))

;;;; initialize-instance-fails
;;; type: SIMPLE-ERROR
;;; message: ^not today$
(defclass fails-at-birth () ()) (defmethod initialize-instance :after ((x fails-at-birth) &key) (error "not today")) (make-instance 'fails-at-birth)

;;;; superclass-missing
;;; type: .*ERROR
(defclass orphan (no-parent-class) ()) (make-instance 'orphan)

;;;; circular-class
;;; type: .*ERROR
(defclass circle-a (circle-b) ()) (defclass circle-b (circle-a) ()) (make-instance 'circle-a)

;;;; print-method-fails
;;; type: SIMPLE-ERROR
;;; message: ^no printing$
;;; frame: PRINT-OBJECT
(defclass unprintable () ()) (defmethod print-object ((x unprintable) s) (error "no printing")) (make-instance 'unprintable)

;;;; print-method-fails-in-a-message
;;; type: TYPE-ERROR
;;; message: ^The value #<\.\.\.> is not of type LIST\.$
;;; frame: ^\(CAR #<\.\.\.>\)$
(car (make-instance 'unprintable))

;;;; print-method-fails-in-a-frame
;;; type: SIMPLE-ERROR
(defun takes-one (x) (declare (ignorable x)) (list (error "with an argument that cannot be printed"))) (takes-one (make-instance 'unprintable))

;;;; print-method-throws
;;; type: SIMPLE-CONTROL-ERROR
(defclass throws () ()) (defmethod print-object ((x throws) s) (throw 'out-of-here 1)) (princ-to-string (make-instance 'throws))

;;;; print-method-recurses
;;; type: CONTROL-STACK-EXHAUSTED
(defclass recurses () ()) (defmethod print-object ((x recurses) s) (prin1 x s) (terpri s)) (let ((*print-level* nil)) (princ-to-string (make-instance 'recurses)))

;;;; print-method-recurses-in-a-message
;;; type: TYPE-ERROR
(car (make-instance 'recurses))

;;;; print-method-loops
;;; type: TIMEOUT
;;; limit: 300
(defclass loops () ()) (defmethod print-object ((x loops) s) (loop)) (make-instance 'loops)

;;;; print-method-loops-in-a-message
;;; type: (TYPE-ERROR|TIMEOUT)
;;; limit: 300
(car (make-instance 'loops))

;;;; print-method-prints-for-ever
;;; type: TYPE-ERROR
(defclass endless () ()) (defmethod print-object ((x endless) s) (loop (write-string "and so on " s))) (car (make-instance 'endless))

;;;; struct-without-a-required-slot
;;; type: SIMPLE-ERROR
;;; message: ^x is required$
(defstruct needs (x (error "x is required"))) (make-needs)

;;;; struct-unknown-keyword
;;; type: (UNKNOWN-KEYWORD-ARGUMENT|.*ERROR)
(make-needs :y 1)

;;;; copy-of-a-constant-structure
;;; type: .*ERROR
(copy-structure 5)

;;;; change-class
;;; type: .*ERROR
(change-class 5 'has-slot)

;;;; setf-of-a-missing-slot
;;; type: (MISSING-SLOT|.*ERROR)
(defclass typed () ((n :initarg :n :type fixnum))) (let ((x (make-instance 'typed :n 1))) (setf (slot-value x 'm) 1))

;;;; generic-function-over-a-function
;;; type: .*ERROR
(defun plain-function (x) x) (defmethod plain-function ((x integer)) x)

;;;; error-in-a-finalizer's-closure
;;; type: SIMPLE-ERROR
(sb-ext:finalize (list 1) (lambda () (error "finalizer"))) (sb-ext:gc :full t) (error "after the collection")
