;;;; A condition as the caller reads it: type, message, backtrace, restarts.

(in-package "MISHAP-PRELUDE")

(defstruct (report (:copier nil))
  type              ; the name of the condition's class
  code              ; the code of the catalog
  message           ; on one line
  frames            ; strings, the innermost first. Objects of the frames are never kept
  restarts          ; (name . description), the innermost first
  form)             ; the form that was evaluated, as text

(defvar *last-report* nil "The last failure of this session.")
(defvar *form* nil "The form that is being evaluated.")
(defvar *thread-failures* '() "Errors that ended threads of the user's: (thread type message).")
(defvar *reading* nil "While a form is read: its text, or T, and where it begins.")

(defun text-being-read ()
  "The beginning of the form that is being read."
  (if (consp *reading*)
      (destructuring-bind (text . start) *reading*
        (let ((start (or (position-if-not (lambda (c) (member c '(#\Space #\Tab #\Newline #\Return))) text
                                          :start (min start (length text)))
                         0)))
          (subseq text start (min (length text) (+ start +argument-limit+)))))
      "..."))

;;; -- type and code ---------------------------------------------------------------------------------

(define-condition exit-refused (error) ()
  (:report "The code asked the process to end, which is refused. The session goes on."))

(define-condition evaluation-interrupted (serious-condition) ()
  (:report "The evaluation was interrupted."))

(define-condition evaluation-timeout (evaluation-interrupted)
  ((seconds :initarg :seconds :reader timeout-seconds))
  (:report (lambda (condition stream)
             (let ((seconds (timeout-seconds condition)))
               (format stream "The evaluation took longer than ~:[~,3F~;~D~] second~:[s~;~]." (integerp seconds) seconds
                       (eql seconds 1))))))

(defun condition-type (condition)
  (typecase condition
    (evaluation-timeout "TIMEOUT")
    (evaluation-interrupted "INTERRUPTED")
    (t (let ((name (ignore-errors (class-name (class-of condition)))))
         (if (and (symbolp name) name (plusp (length (symbol-name name)))) (symbol-name name) "CONDITION")))))

(defun condition-code (condition)
  (typecase condition
    (evaluation-timeout "TIMEOUT")
    (evaluation-interrupted "CANCELLED")
    (undefined-function "UNDEFINED_FUNCTION")
    (unbound-variable "UNBOUND_VARIABLE")
    (division-by-zero "DIVISION_BY_ZERO")
    (reader-error "READER_ERROR")
    (end-of-file (if *reading* "END_OF_FILE" "SIMPLE_ERROR"))
    (package-error "PACKAGE_ERROR")
    (program-error "PROGRAM_ERROR")
    (type-error "TYPE_ERROR")
    (t "SIMPLE_ERROR")))

;;; -- message ---------------------------------------------------------------------------------------

(defun cut-at (text mark)
  "TEXT up to MARK, without the blanks before it."
  (let ((at (search mark text)))
    (if at (string-right-trim " " (subseq text 0 at)) text)))

(defun type-message (datum expected)
  (one-line (or (print-safely (lambda (stream)
                                (format stream "The value ~S is not of type ~S." datum expected))
                              +message-limit+ "")
                (format nil "The value #<...> is not of type ~A." (printed-argument expected)))))

(defun plain-message (condition)
  "The report of CONDITION on one line. Its report function may do anything."
  (let ((text (print-safely (lambda (stream) (princ condition stream)) +message-limit+ "")))
    (cond ((null text)
           (if (typep condition 'type-error)
               (type-message (ignore-errors (type-error-datum condition)) (ignore-errors (type-error-expected-type condition)))
               "The report function of the condition failed."))
          ((typep condition 'sb-int:reference-condition) (cut-at (one-line text) " See also: "))
          (t (one-line text)))))

(defun without-internal-place (text)
  "TEXT without the name of a variable that is not the user's: `when binding SB-KERNEL::X`, or LIST in CAR."
  (let* ((words " when binding ") (at (search words text :from-end t))
         (name (and at (subseq text (+ at (length words))))))
    (if (and name (or (eql 0 (search "SB-" name)) (find-symbol name "COMMON-LISP")))
        (subseq text 0 at)
        text)))

(defun thread-message (condition)
  (let* ((thread (ignore-errors (sb-thread:thread-error-thread condition)))
         (failure (find thread *thread-failures* :key #'first)))
    (setf *thread-failures* (remove failure *thread-failures*))
    (if failure
        (format nil "The thread failed with ~A: ~A" (second failure) (third failure))
        (plain-message condition))))

(defun message-of (condition type)
  "The message on one line, never empty. SBCL's own wording is kept but for what speaks of its insides."
  (let ((text
          (with-plain-printing (:length 100 :pretty t)
            (cond ((and *reading* (typep condition 'end-of-file))
                   "The code ends before the form is complete: a parenthesis or a string is not closed.")
                  ((typep condition 'reader-error)
                   (cut-at (plain-message condition) "Stream: #<"))
                  ((string= type "UNDEFINED-FUNCTION")
                   (one-line (format nil "The function ~S is undefined." (cell-error-name condition))))
                  ((typep condition 'sb-thread:join-thread-error) (thread-message condition))
                  ((string= type "TYPE-ERROR")
                   (let ((text (without-internal-place (plain-message condition))))
                     (if (and (plusp (length text)) (char/= (char text (1- (length text))) #\.))
                         (concatenate 'string text ".")
                         text)))
                  (t (plain-message condition))))))
    (if (find-if-not (lambda (c) (member c '(#\Space #\Tab))) text)
        text
        (concatenate 'string "A condition of type " type " was signalled without a message."))))

;;; -- backtrace -------------------------------------------------------------------------------------

(defparameter *machinery*
  '(error cerror signal warn break invoke-debugger sb-ext:package-lock-violation sb-thread:interrupt-thread)
  "Functions above the point of the error that are how it was signalled, not where.")

(defparameter *shown-packages*
  (mapcar #'find-package '("COMMON-LISP" "SB-EXT" "SB-THREAD" "SB-MOP" "SB-ALIEN")))

(defun internal-package-p (package)
  (or (eq package (load-time-value (find-package "MISHAP-PRELUDE")))
      (let ((name (package-name package)))
        (and (> (length name) 3) (string= name "SB-" :end1 3)))))

(defun base-name (name)
  "The symbol that a function's name is made of: F for (FLET G :IN F), (SETF F), (:METHOD F (T)). NIL if there is none."
  (loop
    (cond ((symbolp name) (return name))
          ((not (consp name)) (return nil))
          ((member (first name) '(flet labels lambda))
           (setf name (second (member :in (ignore-errors (copy-list name))))))
          ((consp (cdr name)) (setf name (second name)))
          (t (return nil)))))

(defparameter *evaluator* (list (internal "SB-IMPL" "EVAL-TLF") (internal "SB-INT" "EVAL-TLF"))
  "Functions with names that look public, and are SBCL's way from a form to its values.")

(defun internal-call-p (call)
  "True for a frame of SBCL's own, or of ours."
  (let ((name (first call)))
    (if (stringp name)
        (not (string= name "undefined function"))
        (let* ((symbol (base-name name)) (package (and symbol (symbol-package symbol))))
          (cond ((null package) nil)
                ((member symbol *evaluator*) t)
                ;; A local function of a function of the language is SBCL's way to write it.
                ((and (consp name) (member (first name) '(flet labels lambda)))
                 (or (internal-package-p package) (eq package (load-time-value (find-package "COMMON-LISP")))))
                ((internal-package-p package)
                 (notany (lambda (shown)
                           (multiple-value-bind (found status) (find-symbol (symbol-name symbol) shown)
                             (and (eq found symbol) (eq status :external))))
                         *shown-packages*)))))))

(defun machinery-p (call)
  (let ((name (base-name (first call))))
    (and name (member name *machinery*) t)))

(defun call-of (frame hidden)
  "FRAME as a list of function and arguments. The variables of SBCL's own functions may hold what is no object at all, and are not
looked at: it would be kept, and end the process with the next collection. HIDDEN: nor are those of this frame."
  (let ((name (sb-di:debug-fun-name (sb-di:frame-debug-fun frame))))
    (cond ((internal-call-p (list name)) (list name))
          (hidden (list name *hidden*))
          (t (multiple-value-bind (call whole)
                 (call-protected (lambda ()
                                   (multiple-value-bind (name arguments)
                                       (sb-debug::frame-call frame :replace-dynamic-extent-objects t)
                                     (cons name arguments))))
               (if whole call (list "unknown")))))))

(defun all-calls (count &optional asynchronous)
  "The frames from here outwards. ASYNCHRONOUS: the condition did not arise where the code signalled it. Then the function that
was running may just have been entered, with nothing in its variables yet, or not even with a frame of its own."
  (let ((calls '()) (running (if asynchronous 2 0)))
    (call-protected (lambda ()
                      (sb-debug::map-backtrace (lambda (frame)
                                                 (let ((call (call-of frame (plusp running))))
                                                   (when (rest call) (decf running))
                                                   (push call calls)))
                                               :count count)))
    (nreverse calls)))

(defun calls-now (&optional asynchronous)
  "The frames of the user's code from here outwards, as lists of function and arguments."
  (let* ((all (all-calls (+ +frames-kept+ 40) asynchronous))
         ;; Below these of our functions is the evaluator.
         (end (position-if (lambda (call) (member (first call) '(evaluate-form read-form print-bounded call-guarded))) all))
         (own (loop for call in all
                    repeat (or end (length all))
                    when (and (consp call) (not (internal-call-p call))) collect call)))
    (loop while (and own (machinery-p (first own))) do (pop own))
    ;; The call of EVAL or READ by those functions is not the user's.
    (when (and end own (eq (caar (last own))
                           (case (first (nth end all)) (evaluate-form 'eval) (read-form 'read) (print-bounded 'prin1))))
      (setf own (butlast own)))
    own))

(defun compiled-toplevel-p (call)
  "True for the function that EVAL has made of a form."
  (and (null (rest call)) (consp (first call)) (eq (first (first call)) 'lambda) (null (second (first call)))))

(defun form-as-call (form)
  "The frame that stands for the form itself."
  (cond (*reading* (list 'read (text-being-read)))
        ((and (consp form) (symbolp (first form)) (ignore-errors (list-length form))) form)
        (t (list 'eval form))))

(defun spelled-calls (calls condition form)
  "CALLS as the user would write them."
  (let ((calls (mapcar (lambda (call)
                         (if (equal (first call) "undefined function")
                             (cons (or (ignore-errors (cell-error-name condition)) (first call)) (rest call))
                             call))
                       calls)))
    (cond ((null calls) (list (form-as-call form)))
          ((compiled-toplevel-p (car (last calls)))
           (append (butlast calls) (list (form-as-call form))))
          (t calls))))

(defun printed-call (call)
  (let ((text (make-string-output-stream)) (length 1))
    (write-char #\( text)
    (loop for part in call
          for first = t then nil
          do (let ((part (cond ((and first (stringp part)) part)
                               (t (printed-argument part)))))
               (unless first (write-char #\Space text))
               (incf length (1+ (length part)))
               (when (> length +frame-limit+)
                 (write-string "..." text)
                 (return))
               (write-string part text)))
    (write-char #\) text)
    (get-output-stream-string text)))

(defun printed-calls (calls)
  (with-plain-printing (:length 10 :level 4)
    (loop for call in calls
          repeat (1+ +frames-kept+)
          collect (printed-call call))))

(defun frames-shown (report &optional (most (limits-frames *limits*)))
  "The first MOST frames of REPORT, and three dots if there are more."
  (let ((frames (report-frames report)) (most (min most +frames-kept+)))
    (if (> (length frames) most)
        (append (subseq frames 0 most) '("..."))
        frames)))

;;; -- restarts --------------------------------------------------------------------------------------

(defun restarts-of (condition)
  (restarts-told (compute-restarts condition)))

(defun restarts-told (restarts)
  "(name . description) of each, of no more than twenty."
  (loop for restart in restarts
        repeat 20
        collect (cons (if (restart-name restart) (symbol-name (restart-name restart)) "RESTART")
                      (with-plain-printing ()
                        (one-line (or (print-safely (lambda (stream) (princ restart stream)) 500 "...") "#<...>"))))))

;;; -- the whole -------------------------------------------------------------------------------------

(defun compile-time-type-error-p (condition)
  "True if the compiler saw the type error coming, and so signals it in its own words."
  (and (eq (type-of condition) 'simple-type-error)
       (let ((name (load-time-value (internal "SB-C" "%COMPILE-TIME-TYPE-ERROR"))))
         (and name (find name (all-calls 12) :key #'first)))))

(defun report-exhaustion (condition)
  "A report without any text: there is next to no stack. FINISH-REPORT does the rest once it is unwound."
  (make-report :type condition :frames (calls-now t) :form *form*))

(defun finish-report (report)
  (let ((condition (report-type report)))
    (when (typep condition 'condition)
      (setf (report-type report) (condition-type condition)
            (report-code report) (condition-code condition)
            (report-message report) (message-of condition (condition-type condition))
            (report-frames report) (printed-calls (spelled-calls (report-frames report) condition (report-form report)))
            (report-restarts report) '(("ABORT" . "End this evaluation."))))
    (setf (report-form report) (with-plain-printing () (printed-argument (report-form report) 1000)))
    report))

(defun report-condition (condition)
  "The report of CONDITION at the point where it was signalled."
  (let* ((early (compile-time-type-error-p condition))
         (type (if early "TYPE-ERROR" (condition-type condition)))
         (calls (spelled-calls (calls-now (typep condition '(or evaluation-interrupted sb-sys:memory-fault-error)))
                               condition *form*)))
    (make-report :type type
                 :code (condition-code condition)
                 :message (if early
                              (with-plain-printing (:length 100)
                                (type-message (type-error-datum condition) (type-error-expected-type condition)))
                              (message-of condition type))
                 :frames (printed-calls calls)
                 :restarts (restarts-of condition)
                 :form *form*)))
