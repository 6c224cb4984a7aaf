;;;; Running code of the user's, which may fail, exit, loop for ever or exhaust the stack. CALL-GUARDED always
;;;; returns: with the values, or with a report.

(in-package "MISHAP-PRELUDE")

(defvar *guard* nil "The catch tag of the innermost guarded call, in the main thread.")
(defvar *saving* nil "True while the core is made.")
(defvar *suspend* nil "True if an error suspends the evaluation instead of unwinding it.")
(defvar *level* 0 "How many evaluations are suspended.")
(defvar *suspended* '() "The restarts of the innermost of them.")
(defvar *call-id* 0 "The id of the call that is to be answered.")
(defvar *interrupted-call* nil "The id of a call that is to be interrupted, and may not have begun yet.")
(defvar *deadline* nil "When the guarded call is over, as internal real time; NIL: never.")
(defvar *seconds* nil "How long it had.")

(declaim (ftype function suspend)) ; serve.lisp

;;; -- failures --------------------------------------------------------------------------------------

(defun stack-exhausted-p (condition)
  (and (typep condition 'storage-condition)
       (not (typep condition (load-time-value (or (internal "SB-KERNEL" "HEAP-EXHAUSTED-ERROR") 'condition))))))

(defun worth-suspending-p (condition)
  "True if a person can choose how the evaluation goes on. Text that cannot be read and a refused exit leave no choice."
  (not (or (typep condition '(or evaluation-interrupted exit-refused))
           (and *reading* (null (rest (compute-restarts condition)))))))

;;; A collection reads the whole stack, so also the page that SBCL protects when the stack is exhausted. SBCL takes this for a
;;; return from there and raises the guard page, on which the code still runs: the process ends. *GC-PENDING* is bound so that the
;;; first allocation after the report asks for the collection again. A collection of another thread waits for this one.

(defmacro without-collection (&body body)
  `(let ((sb-kernel:*gc-inhibit* t) (sb-kernel:*gc-pending* nil))
     ,@body))

(defun let-others-collect ()
  (when sb-kernel:*stop-for-gc-pending*
    (sb-unix::receive-pending-interrupt)))

(defun stop (condition)
  "End the guarded call with a report of CONDITION."
  (if (stack-exhausted-p condition)
      (throw *guard* (without-collection (report-exhaustion condition)))
      (let ((report (report-condition condition)))
        (when (and *suspend* (< *level* 10) (worth-suspending-p condition))
          (suspend report condition))
        (throw *guard* report))))

(defun call-hook (variable condition)
  "Call the debugger hook in VARIABLE, which the code may have bound, as the debugger would."
  (let ((hook (symbol-value variable)))
    (when (and hook (not (eq hook (load-time-value (internal "SB-DEBUG" "DEBUGGER-DISABLED-HOOK")))))
      (progv (list variable) '(nil)
        (funcall hook condition hook)))))

(defun note-thread-failure (condition)
  "An error that nothing handles in a thread of the user's: it ends that thread."
  (let* ((type (condition-type condition))
         (*hurried* nil)
         (message (message-of condition type)))
    (push (list sb-thread:*current-thread* type message) *thread-failures*)))

(defun instead-of-debugger (debugger condition)
  "What INVOKE-DEBUGGER does in this program: there is no person to talk to."
  (cond (*saving* (funcall debugger condition))
        (*failing* (throw *failing* nil))
        (*guard*
         (call-hook 'sb-ext:*invoke-debugger-hook* condition)
         (call-hook '*debugger-hook* condition)
         (stop condition))
        ((sb-thread:main-thread-p) (leave 70 "an error outside of a call"))
        (t (note-thread-failure condition)
           (sb-thread:abort-thread))))

(defun refuse-exit (function &rest arguments)
  (if *saving*
      (apply function arguments)
      (error 'exit-refused)))

(defvar *home* nil "The path of the folder that the process was started in.")

(defun own-home (function &optional user)
  "A session has no user's home, and ASDF does not load without one: it is the folder that the session can write to."
  (if (or *saving* user (null *home*))
      (funcall function user)
      *home*))

(define-condition heap-exhausted (storage-condition) ()
  (:report "The heap is exhausted: the code keeps more than fits into it."))

(defvar *heap-at-start* 0 "Bytes in use when the process began: they are never copied.")
(defvar *heap-looked-at* 0 "Bytes in use after the last full collection that was made for a full heap.")

(defun heap-in-danger-p ()
  "True if there may not be room for a copy of what is in use, which a full collection can need."
  (let ((used (sb-kernel:dynamic-usage)) (size (sb-ext:dynamic-space-size)))
    (> (- (* 2 (+ used (sb-ext:bytes-consed-between-gcs))) *heap-at-start*) (* 9/10 size))))

(defun heap-filled ()
  "Called in the main thread: end the evaluation if it keeps so much, while there is still room to say so."
  (when (and *guard* (heap-in-danger-p))
    ;; This collection must not lead here again.
    (setf *heap-looked-at* most-positive-fixnum)
    (sb-ext:gc :full t)
    (setf *heap-looked-at* (sb-kernel:dynamic-usage))
    (when (heap-in-danger-p)
      (sb-sys:with-interrupts (stop (make-condition 'heap-exhausted))))))

;;; When a thread exhausts its stack, SBCL lowers the guard page at the end of it, and protects the page before that, so that it
;;; notices when the stack is left again. A throw out of there touches neither. SBCL gives the stack of a thread that has ended to
;;; the next one as it is. On arm64 MAKE-THREAD clears it, faults at the protected page, and leaves signals blocked: no later
;;; interrupt arrives. On x86-64 it clears less; a thread that comes to the protected page finds SBCL in doubt, which ends the
;;; process.

(defun raise-guard-page ()
  "Touch the page that SBCL watches. Called at the bottom of the stack of a thread that ends."
  (let* ((start (sb-kernel:get-lisp-obj-address sb-vm:*control-stack-start*))
         (end (sb-kernel:get-lisp-obj-address sb-vm:*control-stack-end*))
         (here (sb-sys:sap-int (sb-kernel:current-sp)))
         (page (sb-alien:extern-alien "os_vm_page_size" sb-alien:unsigned-long))
         (upward (< (- here start) (- end here))))
    (setf (sb-sys:sap-ref-8 (sb-sys:int-sap (if upward (- end (* 3 page)) (+ start (* 2 page)))) 0) 0)))

(defmacro raising-guard-page (tags &body body)
  "The values of BODY, after RAISE-GUARD-PAGE. A throw to one of TAGS is stopped and done again: its cleanup forms run on top of the
stack that it leaves, so that they are too early."
  (if tags
      (let ((done (gensym)) (tag `(load-time-value (internal "SB-THREAD" ,(first tags)))))
        `(block ,done
           (throw ,tag
             (multiple-value-prog1 (catch ,tag (return-from ,done (raising-guard-page ,(rest tags) ,@body)))
               (raise-guard-page)))))
      `(multiple-value-prog1 (progn ,@body) (raise-guard-page))))

(defun make-tidy-thread (make function &rest options)
  "MAKE-THREAD, but the thread leaves its stack as SBCL expects it to be."
  (flet ((run (&rest arguments)
           (sb-sys:without-interrupts
             (raising-guard-page ("%ABORT-THREAD" "%RETURN-FROM-THREAD")
               (sb-sys:with-local-interrupts (apply function arguments))))))
    (apply make (if (or (functionp function) (and (symbolp function) (fboundp function))) #'run function) options)))

(defvar *post-gc* nil "What SBCL itself does after a collection.")

(defvar *collections* 0 "After how many collections the heap was looked at.")

(defun look-at-heap ()
  (incf *collections*)
  (when (and (heap-in-danger-p)
             (> (sb-kernel:dynamic-usage) (+ *heap-looked-at* (floor (sb-ext:dynamic-space-size) 50))))
    (sb-thread:interrupt-thread (sb-thread:main-thread) #'heap-filled)))

(defun watch-heap ()
  "Called after each collection in place of POST-GC. If the heap is filled too fast for this, the process ends."
  (prog1 (funcall (the function *post-gc*))
    (look-at-heap)))

(defun collect (gc &rest options)
  "SB-EXT:GC, and then WATCH-HEAP's look at the heap. On x86-64 functions of SBCL's own core call each other directly, so that GC
does not come to WATCH-HEAP."
  (let ((before *collections*))
    (prog1 (apply gc options)
      (when (= before *collections*) (look-at-heap)))))

;;; The system counts private memory that can be written to, and SBCL ends the process if a page of the heap cannot be made writable
;;; again. Pages that SBCL protects to see who writes to them count only from then on: those of the whole heap (2.2 on arm64), or
;;; those of symbols and the like, which have a space of their own (2.2 on x86-64). So native memory leaves room for all of them.

(defvar *protected-bytes* nil
  "A function: how many bytes SBCL may have protected. NIL: it protects none.")

(defun find-protected-bytes ()
  (let ((start (internal "SB-VM" "FIXEDOBJ-SPACE-START"))
        (end (internal "SB-VM" "*FIXEDOBJ-SPACE-FREE-POINTER*")))
    (cond ((not (find :soft-card-marks (symbol-value (or (internal "SB-IMPL" "+INTERNAL-FEATURES+") '*features*))))
           #'sb-kernel:dynamic-usage)
          ((and start end)
           (compile nil `(lambda () (- (sb-sys:sap-int ,end) ,start)))))))

(defun room-for-native-memory-p (bytes)
  "True if the system would give so much beside all pages that may be protected."
  (let* ((size (+ bytes 65536 (funcall (the function *protected-bytes*)))) ; malloc() takes some more
         (place (sb-alien:alien-funcall
                 (sb-alien:extern-alien "mmap" (function sb-alien:unsigned-long sb-alien:unsigned-long sb-alien:unsigned-long sb-alien:int
                                                         sb-alien:int sb-alien:int sb-alien:long))
                 0 size 3 #x22 -1 0))) ; can be read and written; private, of no file
    (when (< place (- (expt 2 64) 4096))
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "munmap" (function sb-alien:int sb-alien:unsigned-long sb-alien:unsigned-long)) place size)
      t)))

(defun make-alien-with-room (make bytes)
  "%MAKE-ALIEN, but it fails while the heap can still be written to."
  (if (room-for-native-memory-p bytes)
      (funcall make bytes)
      (error (internal "SB-KERNEL" "SIMPLE-STORAGE-CONDITION")
             :format-control "Cannot allocate memory: malloc() of ~D bytes failed." :format-arguments (list bytes))))

(defun install-guards ()
  "Done once, when the core is made."
  (sb-ext:without-package-locks
    (sb-int:encapsulate 'invoke-debugger 'mishap #'instead-of-debugger)
    (let ((home (internal "SB-IMPL" "USER-HOMEDIR-NAMESTRING")))
      (when (and home (fboundp home)) (sb-int:encapsulate home 'mishap #'own-home)))
    ;; The runtime calls POST-GC by a static definition. On arm64 that must be a plain function: ENCAPSULATE installs a closure,
    ;; with which the core cannot even be saved.
    (let ((post-gc (internal "SB-KERNEL" "POST-GC")))
      (when (and post-gc (fboundp post-gc))
        (setf *post-gc* (fdefinition post-gc)
              (fdefinition post-gc) #'watch-heap)))
    (sb-int:encapsulate 'sb-ext:gc 'mishap #'collect)
    (let ((make-alien (internal "SB-ALIEN" "%MAKE-ALIEN")))
      (setf *protected-bytes* (find-protected-bytes))
      (when (and make-alien (fboundp make-alien) *protected-bytes*)
        (proclaim `(notinline ,make-alien))
        (sb-int:encapsulate make-alien 'mishap #'make-alien-with-room)))
    (sb-int:encapsulate 'sb-thread:make-thread 'mishap #'make-tidy-thread)
    (sb-int:encapsulate 'sb-ext:exit 'mishap #'refuse-exit)
    (sb-int:encapsulate 'sb-ext:save-lisp-and-die 'mishap #'refuse-exit)))

;;; -- interruption ----------------------------------------------------------------------------------
;;;
;;; SIGINT comes from the parent; SIGVTALRM from a timer of ours (SIGALRM belongs to SBCL's timers, which code may use; SBCL
;;; defers this signal where a collection must not be interrupted, as it does not with SIGUSR1). The
;;; timer fires again every second: code that refuses to unwind is interrupted again in its cleanup forms.

(defconstant +sigint+ 2)
(defconstant +sigvtalrm+ 26)
(defconstant +si-queue+ -1)

(defun deadline-passed-p ()
  "The two clocks may differ by some milliseconds."
  (and *deadline*
       (>= (+ (get-internal-real-time) (floor internal-time-units-per-second 50)) *deadline*)))

(defvar *stopping* nil "Since when an interruption is being reported, as internal real time; NIL: none is.")

(defun just-stopped-p ()
  "The timer and the parent say at the same time that the time is over: the second must not disturb the report."
  (and *stopping* (< (- (get-internal-real-time) *stopping*) (floor internal-time-units-per-second 2))))

(defun interrupted ()
  "Called in the main thread, wherever it is."
  (when (and (or *guard* *failing*) (not (just-stopped-p)))
    (setf *interrupted-call* nil)
    (sb-sys:with-interrupts
      (if *failing*
          (progn (setf *hurried* t)
                 (throw *failing* nil))
          (let ((*stopping* (get-internal-real-time)))
            (stop (if (deadline-passed-p)
                      (make-condition 'evaluation-timeout :seconds *seconds*)
                      (make-condition 'evaluation-interrupted))))))))

(defun expired ()
  (when (deadline-passed-p)
    (interrupted)))

(defun on-interrupt (signal info context)
  (declare (ignore signal context))
  ;; A signal that was sent for an earlier call names that call; one for a call that was not read yet is kept for it.
  (let ((call (if (= (sb-sys:signed-sap-ref-32 info 8) +si-queue+) (sb-sys:signed-sap-ref-32 info 24) *call-id*)))
    (when (>= call *call-id*) (setf *interrupted-call* call))
    (when (= call *call-id*)
      (sb-thread:interrupt-thread (sb-thread:main-thread) #'interrupted))))

(defun on-timer (signal info context)
  (declare (ignore signal info context))
  (sb-thread:interrupt-thread (sb-thread:main-thread) #'expired))

(defvar *timer* nil "The kernel's timer; NIL if there is none.")

(defun make-timer ()
  (sb-alien:with-alien ((event (array sb-alien:int 16)) (id sb-alien:unsigned-long))
    (dotimes (i 16) (setf (sb-alien:deref event i) 0))
    (setf (sb-alien:deref event 2) +sigvtalrm+)
    (when (zerop (sb-alien:alien-funcall
                  (sb-alien:extern-alien "timer_create" (function sb-alien:int sb-alien:int sb-alien:system-area-pointer
                                                                  sb-alien:system-area-pointer))
                  1 (sb-alien:alien-sap event) (sb-alien:alien-sap (sb-alien:addr id))))
      (setf *timer* id))))

(defun refuse-timers ()
  "The system counts timers for the whole user: code of a session must not take those of others. A further filter of system calls
refuses more of them; the sandbox permits a process to install one (docs/sandbox.md). It refuses further filters as well: each is
memory of the system, in no limit of the process, and each thread can have thousands."
  (let ((timer-create #+arm64 107 #+x86-64 222 #-(or arm64 x86-64) nil)
        (seccomp #+arm64 277 #+x86-64 317 #-(or arm64 x86-64) nil))
    (when timer-create
      (sb-alien:with-alien ((code (array (sb-alien:unsigned 64) 5)) (program (array (sb-alien:unsigned 64) 2)))
        (flet ((instruction (i operation jump k)
                 (setf (sb-alien:deref code i) (logior operation (ash jump 16) (ash k 32)))))
          (instruction 0 #x20 0 0)                ; the number of the call
          (instruction 1 #x15 #x001 timer-create) ; if it is this one, skip the next line
          (instruction 2 #x15 #x100 seccomp)      ; if it is another one, skip the next line
          (instruction 3 #x06 0 #x00050001)       ; EPERM
          (instruction 4 #x06 0 #x7fff0000))      ; allowed
        (setf (sb-alien:deref program 0) 5
              (sb-alien:deref program 1) (sb-sys:sap-int (sb-alien:alien-sap code)))
        (sb-alien:alien-funcall
         (sb-alien:extern-alien "syscall" (function sb-alien:long sb-alien:long sb-alien:long sb-alien:long
                                                    sb-alien:system-area-pointer))
         seccomp 1 0 (sb-alien:alien-sap program))))))

(defun set-timer (seconds)
  "Let the timer fire in SECONDS, a real; 0 stops it."
  (when *timer*
    (multiple-value-bind (whole rest) (floor (min seconds 1000000000))
      (sb-alien:with-alien ((time (array (sb-alien:signed 64) 4)))
        (setf (sb-alien:deref time 0) (if (zerop seconds) 0 1)
              (sb-alien:deref time 1) 0
              (sb-alien:deref time 2) whole
              (sb-alien:deref time 3) (floor (* rest 1000000000)))
        (sb-alien:alien-funcall
         (sb-alien:extern-alien "timer_settime" (function sb-alien:int sb-alien:unsigned-long sb-alien:int
                                                          sb-alien:system-area-pointer sb-alien:system-area-pointer))
         *timer* 0 (sb-alien:alien-sap time) (sb-sys:int-sap 0))))))

(defun start-clock (seconds)
  "Give the guarded call SECONDS; NIL: no limit."
  (setf *seconds* seconds
        *deadline* (and seconds (+ (get-internal-real-time)
                                   (floor (* seconds internal-time-units-per-second)))))
  (when seconds (set-timer (max seconds 1/1000))))

(defun stop-clock ()
  (when *deadline*
    (setf *deadline* nil)
    (set-timer 0)))

;;; SBCL stops the other threads of a process for a collection with SIGUSR2. On x86-64 the kernel writes the frame of that signal
;;; below the stack of Lisp. Where no room is left, because the stack is exhausted, it cannot, and sends SIGSEGV instead: SIGUSR2
;;; is lost, and the thread that collects waits for ever, and with it the next one that wants to. The handler only waits and runs
;;; no Lisp, so it can have the alternate stack, on which SBCL handles SIGSEGV. The collector finds registers and the stack pointer
;;; of a stopped thread in the saved context, wherever that lies. On arm64 the stack of Lisp is another one than that of signals.

(defconstant +sigusr2+ 12)
(defconstant +sa-onstack+ #x08000000)
(defconstant +flags-of-action+ 34 "Where `struct sigaction` of x86-64 has its flags, in units of four bytes.")

(defun stop-on-alternate-stack ()
  #+x86-64
  (sb-alien:with-alien ((action (array (sb-alien:unsigned 32) 64)))
    (flet ((call (new old)
             (sb-alien:alien-funcall
              (sb-alien:extern-alien "sigaction" (function sb-alien:int sb-alien:int sb-alien:system-area-pointer
                                                           sb-alien:system-area-pointer))
              +sigusr2+ new old)))
      (when (zerop (call (sb-sys:int-sap 0) (sb-alien:alien-sap action)))
        (setf (sb-alien:deref action +flags-of-action+) (logior (sb-alien:deref action +flags-of-action+) +sa-onstack+))
        (call (sb-alien:alien-sap action) (sb-sys:int-sap 0))))))

(defun install-signals ()
  (stop-on-alternate-stack)
  (sb-sys:enable-interrupt +sigint+ #'on-interrupt)
  (sb-sys:enable-interrupt +sigvtalrm+ #'on-timer)
  (make-timer)
  (refuse-timers))

;;; -- the guard -------------------------------------------------------------------------------------

(defun aborted-report ()
  (make-report :type "ABORT" :code "CANCELLED" :message "The code aborted its evaluation."
               :frames (printed-calls (spelled-calls '() nil *form*))
               :form *form*))

(defun call-guarded (function seconds &optional suspend)
  "Call FUNCTION. Two values: its value, and NIL; or NIL and a report."
  (let* ((tag (list nil))
         (*form* nil)
         (report
           (catch tag
             (let ((*guard* tag) (*suspend* suspend) (*failing* nil) (*hurried* nil))
               (start-clock seconds)
               ;; SBCL's own way out of everything.
               (catch 'sb-impl::%end-of-the-world
                 (restart-case
                     (let ((value (progn
                                    (when (eql *interrupted-call* *call-id*) (interrupted))
                                    (funcall function))))
                       (setf *guard* nil)
                       (stop-clock)
                       (return-from call-guarded (values value nil)))
                   (abort () :report "End this evaluation.")))
               (aborted-report)))))
    (let-others-collect)
    (stop-clock)
    (let ((*guard* nil) (*hurried* nil))
      (setf report (finish-report report)
            *heap-looked-at* 0
            *last-report* report)
      (values nil report))))
