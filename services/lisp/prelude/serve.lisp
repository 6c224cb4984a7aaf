;;;; The loop: one call after the other, each answered with one message.

(in-package "MISHAP-PRELUDE")

(defconstant +idle+ 1000 "Milliseconds without a call after which the memory is tidied up.")

;;; -- answers ---------------------------------------------------------------------------------------

(defun send-answer (answer text last)
  (begin-message)
  (put-raw "{\"id\":")
  (put-integer *call-id*)
  (put-raw ",\"answer\":")
  (put-json answer)
  (put-raw ",\"text\":")
  (put-text text)
  (when last (put-raw ",\"last\":true"))
  (put-raw "}")
  (send-message))

(defun own-stderr ()
  "What the code wrote to standard error, without what SBCL says when the stack is exhausted: the report says it."
  (let* ((text (kept *err*)) (words "Control stack guard page temporarily disabled: proceed with caution")
         (at (search words text)))
    (if at
        (concatenate 'string (subseq text 0 at) (string-left-trim '(#\Newline) (subseq text (+ at (length words)))))
        text)))

(defun send-failure (report suspended)
  (begin-message)
  (let ((stdout (kept *out*)) (stderr (own-stderr)) (warnings (warnings-told)))
    (put-json `(:object "id" ,*call-id*
                        ;; The server compares it with its own clock.
                        ,@(when (and *seconds* (equal (report-code report) "TIMEOUT"))
                            `("limit_ms" ,(max 1 (round (* 1000 *seconds*)))))
                        "failure"
                        (:object "code" ,(report-code report)
                                 "type" ,(report-type report)
                                 "message" ,(report-message report)
                                 ,@(when (plusp (length stdout)) `("stdout" ,stdout))
                                 "backtrace" (:array ,@(frames-shown report))
                                 "context"
                                 (:object "restarts" ,(restarts-array report)
                                          ,@(when (plusp (length stderr)) `("stderr" ,stderr))
                                          ,@(when warnings `("warnings" (:array ,@warnings)))
                                          ,@(when suspended `("suspended" t)))))))
  (send-message))

(defun send-refusal (code message)
  "A failure that is not one of the user's code."
  (begin-message)
  (put-json `(:object "id" ,*call-id* "failure" (:object "code" ,code "message" ,message)))
  (send-message))

;;; -- calls -----------------------------------------------------------------------------------------

(defvar *announced* nil "True once the server knows that code of the user runs in this process.")

(defun announce-code ()
  "Tell the server that code of the user runs from now on: it takes what this process sends afterwards as the code's. That is
done once, with the first call. The server remembers it, even if the code changes this process."
  (setf *announced* t)
  (begin-message)
  (put-raw "{\"id\":")
  (put-integer *call-id*)
  (put-raw ",\"begins\":true}")
  (send-message))

(defun begin-call (call)
  (setf *call-id* (member-of call "id" 0)
        *limit* (let ((limit (member-of call "limit_ms"))) (and (realp limit) (/ limit 1000)))
        *warnings* '()
        *doubtful* nil)
  (unless *announced* (announce-code))
  (reset-captures)
  (reset-streams)
  (mend-state))

(defun operation-of (call)
  "The last word of the operation's name: `evaluate` of `lisp.evaluate`."
  (let* ((name (member-of call "operation" "")) (dot (position #\. name :from-end t)))
    (if dot (subseq name (1+ dot)) name)))

(defun answer-call (call)
  (begin-call call)
  (let ((operation (gethash (operation-of call) *operations*)))
    (if (null operation)
        (send-refusal (if (string= (operation-of call) "restart") "PRECONDITION" "NOT_IMPLEMENTED")
                      (if (string= (operation-of call) "restart")
                          "No evaluation is suspended."
                          "There is no such operation."))
        (multiple-value-bind (answer text last)
            (catch 'operation (funcall operation (member-of call "arguments")))
          (reset-streams)
          (if (report-p answer)
              (send-failure answer nil)
              (send-answer answer text last))
          (when last (leave 0))))))

;;; -- suspended evaluations -------------------------------------------------------------------------

(defun suspend (report condition)
  "Answer the call with its failure and serve further calls from here, until one of them chooses a restart."
  (let ((restarts (compute-restarts condition)))
    (stop-clock)
    (setf *last-report* report)
    (let ((*guard* nil) (*suspend* nil) (*reading* nil) (*level* (1+ *level*)) (*suspended* restarts))
      (send-failure (finish-report report) t)
      (loop
        (let ((call (next-call)))
          (if (string= (operation-of call) "restart")
              (restart-call call report restarts)
              (answer-call call)))))))

(defun restart-call (call suspended restarts)
  "Invoke the restart `index` with the values of the forms in `values`. This call is then answered by the evaluation that
goes on. SUSPENDED is the report of what made it stop."
  (begin-call call)
  (let* ((arguments (member-of call "arguments")) (index (member-of arguments "index" 0))
         (restart (and (typep index 'unsigned-byte) (nth index restarts)))
         (seconds (seconds-for arguments)))
    (if (null restart)
        (send-refusal "INVALID_ARGUMENT" "There is no restart with this index.")
        (multiple-value-bind (value report)
            (call-guarded (lambda ()
                            (let ((values (loop for form in (read-forms (member-of arguments "values" ""))
                                                append (evaluate-form form))))
                              (apply #'invoke-restart restart values)
                              nil))
                          seconds)
          (declare (ignore value))
          (when report ; the forms of the values failed: there is the same choice as before
            (setf (report-restarts report) (report-restarts suspended)))
          (if report
              (send-failure report t)
              (send-refusal "RUNTIME_ERROR" "The restart returned, and the evaluation is still suspended."))))))

;;; -- waiting ---------------------------------------------------------------------------------------

(defun tidy-up ()
  "Give back the memory that nothing uses."
  (sb-ext:gc :full t)
  (sb-alien:alien-funcall (sb-alien:extern-alien "malloc_trim" (function sb-alien:int sb-alien:unsigned-long)) 0)
  (sb-sys:scrub-control-stack))

(defun next-call ()
  (unless (wait-for-packet +idle+)
    (tidy-up))
  (receive))

(defun read-options ()
  "The program's arguments: --folder PATH for each folder that load-file may read from."
  (loop for (option value) on (rest sb-ext:*posix-argv*)
        when (and (string= option "--folder") value)
          do (let ((path (ignore-errors (probe-file (sb-ext:parse-native-namestring value nil *default-pathname-defaults*
                                                                                    :as-directory t)))))
               (when path (push (sb-ext:native-namestring path) *folders*)))))

(defun stop-finalizer ()
  "The thread that runs finalizers: a session has no use for it, and it costs memory."
  (let ((stop (internal "SB-IMPL" "FINALIZER-THREAD-STOP")))
    (when (and stop (fboundp stop)) (ignore-errors (funcall stop)))))

(defun forget-paths ()
  "Where the core lies on the server is nothing that code of a session is to know."
  (let* ((name (internal "SB-EXT" "*CORE-PATHNAME*"))
         (place (sb-sys:find-foreign-symbol-address "core_string")) ; not every version of the runtime has it
         (path (if place (sb-sys:sap-ref-word (sb-sys:int-sap place) 0) 0)))
    (when name (setf (symbol-value name) #P"mishap-lisp.core"))
    (unless (zerop path)
      (loop for i from 0
            until (zerop (sb-sys:sap-ref-8 (sb-sys:int-sap path) i))
            do (setf (sb-sys:sap-ref-8 (sb-sys:int-sap path) i) 0)))))

(defun set-policy ()
  "Code of a session keeps the arguments of its frames for the backtrace. What else DEBUG brings is undone: tail calls stay tail
calls, and loops are as fast as by default."
  (proclaim '(optimize (debug 2)))
  (loop for (name value) in '(("INSERT-DEBUG-CATCH" 0) ("INSERT-STEP-CONDITIONS" 0) ("LET-CONVERSION" 3))
        do (let ((quality (internal "SB-C" name)))
             (when quality (proclaim `(optimize (,quality ,value)))))))

(defun main ()
  (setf *saving* nil
        *home* (ignore-errors (sb-ext:native-namestring (truename "")))
        *heap-at-start* (sb-kernel:dynamic-usage))
  (forget-paths)
  (allocate-landing)
  (stop-finalizer)
  (set-policy)
  (reset-streams)
  (install-signals)
  (read-options)
  (begin-message)
  (put-raw "{\"ready\":1}")
  (send-message)
  (loop (answer-call (next-call))))

;;; -- the core --------------------------------------------------------------------------------------

(defun prepare (output)
  "Save the core. Nothing of the machine that builds it stays inside."
  (setf *package* (find-package "COMMON-LISP-USER")
        *features* (remove :mishap-prelude *features*)
        *default-pathname-defaults* #P"")
  ;; SB-ALIEN exports common words such as DOUBLE and is locked: (defun double …) would fail.
  (unuse-package "SB-ALIEN" "COMMON-LISP-USER")
  (remember-defaults)
  (setf *packages-at-start* (remove (find-package "COMMON-LISP-USER") (list-all-packages)))
  (install-guards)
  (sb-ext:lock-package "MISHAP-PRELUDE")
  (setf *saving* t)
  (sb-ext:save-lisp-and-die output :toplevel #'main))
