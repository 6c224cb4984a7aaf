;;;; infinite-loop
;;; type: TIMEOUT
;;; message: took longer than
;;; limit: 200
(loop)

;;;; infinite-loop-in-a-function
;;; type: TIMEOUT
;;; limit: 200
;;; frame: SPIN
(defun spin (n) (loop (incf n))) (spin 0)

;;;; infinite-loop-that-handles-everything
;;; type: TIMEOUT
;;; limit: 200
(loop (handler-case (loop) (serious-condition () nil)))

;;;; sleep
;;; type: TIMEOUT
;;; limit: 200
(sleep 1000)

;;;; infinite-output
;;; type: TIMEOUT
;;; limit: 300
;;; stdout: again.*\(cut\)
(loop (write-line "again"))

;;;; infinite-consing
;;; type: TIMEOUT
;;; limit: 300
(loop (make-list 1000))

;;;; infinite-loop-with-cleanup
;;; type: TIMEOUT
;;; limit: 200
;;; stdout: cleaned
(unwind-protect (loop) (princ "cleaned"))

;;;; infinite-compilation
;;; type: .*
;;; limit: 300
(defmacro doubling (n) `(progn (doubling ,(1+ n)) (doubling ,(1+ n)))) (doubling 0)

;;;; infinite-bignum
;;; type: .*
;;; limit: 500
(let ((x 3)) (loop (setf x (* x x)) (when (> (integer-length x) 100000000) (setf x 3))))

;;;; wait-for-a-lock
;;; type: .*
;;; limit: 300
(let ((m (sb-thread:make-mutex))) (sb-thread:grab-mutex m) (sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:grab-mutex m)))))

;;;; deadlock-with-oneself
;;; type: .*ERROR
(let ((m (sb-thread:make-mutex))) (sb-thread:grab-mutex m) (sb-thread:grab-mutex m))

;;;; with-timeout
;;; type: TIMEOUT
(sb-ext:with-timeout 0.1 (sleep 20))

;;;; deadline
;;; type: DEADLINE-TIMEOUT
(sb-sys:with-deadline (:seconds 0.1) (sb-thread:condition-wait (sb-thread:make-waitqueue) (let ((m (sb-thread:make-mutex))) (sb-thread:grab-mutex m) m)))

;;;; stack-exhaustion
;;; type: CONTROL-STACK-EXHAUSTED
;;; frame: ^\(DEEPER #<\.\.\.>\)$
(defun deeper (n) (1+ (deeper (1+ n)))) (deeper 0)

;;;; stack-exhaustion-again
;;; type: CONTROL-STACK-EXHAUSTED
(deeper 0)

;;;; stack-exhaustion-a-third-time
;;; type: CONTROL-STACK-EXHAUSTED
(deeper 0)

;;;; stack-exhaustion-of-two
;;; type: CONTROL-STACK-EXHAUSTED
(defun ping (n) (1+ (pong n))) (defun pong (n) (1+ (ping n))) (ping 0)

;;;; stack-exhaustion-with-handlers
;;; type: CONTROL-STACK-EXHAUSTED
(defun handled (n) (handler-bind ((error #'identity)) (1+ (handled (1+ n))))) (handled 0)

;;;; stack-exhaustion-with-cleanups
;;; type: .*EXHAUSTED
(defun cleaned (n) (unwind-protect (1+ (cleaned (1+ n))) (list n))) (cleaned 0)

;;;; stack-exhaustion-with-allocation
;;; type: .*EXHAUSTED
;;; may-die: SBCL ends if the stack is exhausted inside its allocator
(defun builds (n) (list (builds (list n n)))) (builds 0)

;;;; stack-exhaustion-in-the-printer
;;; may-die: SBCL ends if the stack is exhausted inside its allocator
;;; type: CONTROL-STACK-EXHAUSTED
(let ((l nil)) (dotimes (i 1000000) (setf l (list l))) (let ((*print-level* nil)) (prin1-to-string l)))

;;;; stack-exhaustion-in-equal
;;; type: CONTROL-STACK-EXHAUSTED
(let ((a (list 1)) (b (list 1))) (setf (car a) a (car b) b) (equal a b))

;;;; stack-exhaustion-in-the-reader
;;; may-die: SBCL ends if the stack is exhausted inside its allocator
;;; type: CONTROL-STACK-EXHAUSTED
(read-from-string (make-string 1000000 :initial-element #\())

;;;; stack-exhaustion-in-the-compiler
;;; type: .*
;;; may-die: SBCL ends if the stack is exhausted inside its allocator
(let ((form 1)) (dotimes (i 20000) (setf form `(list ,form))) (compile nil `(lambda () ,form)) (error "compiled"))

;;;; stack-exhaustion-caught-then-error
;;; type: SIMPLE-ERROR
(defun even-deeper (n) (1+ (even-deeper (1+ n)))) (handler-case (even-deeper 0) (storage-condition () (error "after the exhaustion")))

;;;; binding-stack-exhaustion
;;; type: .*EXHAUSTED
(defvar *bound* 0) (defun bind-deeper () (let ((*bound* 1)) (1+ (bind-deeper)))) (bind-deeper)

;;;; alien-stack-exhaustion
;;; type: .*EXHAUSTED
(defun alien-deeper () (sb-alien:with-alien ((a (array sb-alien:char 100000))) (setf (sb-alien:deref a 0) 1) (1+ (alien-deeper)))) (alien-deeper)

;;;; heap-exhaustion-by-one-array
;;; type: HEAP-EXHAUSTED-ERROR
;;; message: Heap exhausted
(make-array (expt 10 10))

;;;; heap-exhaustion-by-one-string
;;; type: HEAP-EXHAUSTED-ERROR
(make-string (expt 10 9))

;;;; heap-exhaustion-by-a-bignum
;;; type: .*
;;; limit: 300
(expt 10 (expt 10 12))

;;;; heap-exhaustion-little-by-little
;;; type: HEAP-EXHAUSTED
;;; message: keeps more than fits
(let ((kept nil)) (loop (push (make-array 1000) kept)))

;;;; heap-exhaustion-by-conses
;;; type: HEAP-EXHAUSTED
(let ((kept nil)) (loop (push 1 kept)))

;;;; heap-exhaustion-by-large-arrays
;;; type: HEAP-EXHAUSTED.*
(let ((kept nil)) (loop (push (make-array 1000000 :element-type '(unsigned-byte 8)) kept)))

;;;; exit
;;; type: EXIT-REFUSED
(sb-ext:exit)

;;;; exit-at-once
;;; type: EXIT-REFUSED
(sb-ext:exit :code 3 :abort t)

;;;; quit
;;; type: EXIT-REFUSED
(sb-ext:quit)

;;;; exit-in-a-cleanup
;;; type: (EXIT-REFUSED|SIMPLE-ERROR)
(unwind-protect (error "first") (sb-ext:exit))

;;;; abort-thread
;;; type: SIMPLE-THREAD-ERROR
(sb-thread:abort-thread)

;;;; abort-thread-and-exit
;;; type: EXIT-REFUSED
(sb-thread:abort-thread :allow-exit t)

;;;; save-the-core
;;; type: EXIT-REFUSED
(sb-ext:save-lisp-and-die "stolen.core")

;;;; exit-behind-our-back
;;; type: .*
;;; dies: the C function ends the process
(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 3)

;;;; kill-oneself
;;; type: .*
;;; dies: SIGKILL cannot be caught
(sb-alien:alien-funcall (sb-alien:extern-alien "raise" (function sb-alien:int sb-alien:int)) 9)

;;;; error-in-another-thread
;;; type: JOIN-THREAD-ERROR
;;; message: ^The thread failed with SIMPLE-ERROR: in the thread$
(sb-thread:join-thread (sb-thread:make-thread (lambda () (error "in the thread"))))

;;;; stack-exhaustion-in-another-thread
;;; type: JOIN-THREAD-ERROR
(defun deeper-elsewhere (n) (1+ (deeper-elsewhere (1+ n)))) (sb-thread:join-thread (sb-thread:make-thread (lambda () (deeper-elsewhere 0))))

;;;; exit-in-another-thread
;;; type: JOIN-THREAD-ERROR
;;; message: EXIT-REFUSED
(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-ext:exit))))

;;;; thread-that-aborts
;;; type: JOIN-THREAD-ERROR
(sb-thread:join-thread (sb-thread:make-thread #'sb-thread:abort-thread))

;;;; interrupt-of-the-main-thread
;;; type: SIMPLE-ERROR
;;; message: ^from a thread$
(let ((main sb-thread:*current-thread*)) (sb-thread:make-thread (lambda () (sb-thread:interrupt-thread main (lambda () (error "from a thread"))))) (sleep 20))

;;;; terminate-the-main-thread
;;; type: .*
(sb-thread:terminate-thread sb-thread:*current-thread*) (sleep 5) (error "still there")

;;;; after-gc-hook
;;; type: SIMPLE-ERROR
(push (lambda () (error "after the collection")) sb-ext:*after-gc-hooks*) (sb-ext:gc) (setf sb-ext:*after-gc-hooks* nil) (error "went on")

;;;; memory-fault
;;; type: MEMORY-FAULT-ERROR
(sb-sys:sap-ref-8 (sb-sys:int-sap 8) 0)

;;;; unsafe-code
;;; type: .*
(defun unsafe (x) (declare (optimize (safety 0) (speed 3))) (car x)) (unsafe (sb-kernel:%make-lisp-obj 1)) (error "survived")
