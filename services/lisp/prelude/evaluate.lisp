;;;; Reading and evaluating forms. Code runs in the global environment, without bindings of ours around it, so that
;;;; what it sets stays set: definitions, the package, print variables. What would break the session is mended
;;;; between calls.

(in-package "MISHAP-PRELUDE")

(defvar *warnings* '() "Warnings of this call, the last first.")
(defvar *doubtful* nil "True if one of them is more than a matter of style.")
(defconstant +warnings+ 50 "Warnings that are kept of one call.")

;;; -- warnings --------------------------------------------------------------------------------------

(defun undefined-names (condition)
  "The names that the compiler says are undefined, if CONDITION says so: (kind name …)."
  (when (typep condition 'simple-condition)
    (let ((control (ignore-errors (princ-to-string (simple-condition-format-control condition))))
          (arguments (simple-condition-format-arguments condition)))
      (when (and control (search "undefined" control) (member (first arguments) '(:function :variable)))
        (if (listp (second arguments)) (list* (first arguments) (second arguments))
            (list (first arguments) (second arguments)))))))

(defun note-warning (condition)
  "Keep the text of a warning, and go on without printing it. That something is defined anew is what sessions are for."
  (when (typep condition (load-time-value (or (internal "SB-KERNEL" "REDEFINITION-WARNING") nil)))
    (muffle-note condition))
  (unless (typep condition 'style-warning) (setf *doubtful* t))
  (when (and (< (length *warnings*) +warnings+) (find-restart 'muffle-warning condition))
    (let* ((undefined (undefined-names condition))
           (text (with-plain-printing (:pretty t)
                   (if undefined
                       (format nil "undefined ~(~A~): ~{~S~^, ~}" (first undefined) (rest undefined))
                       (plain-message condition)))))
      (push (cons (format nil "~A: ~A" (condition-type condition) (if (string= text "") "A warning." text))
                  undefined)
            *warnings*)))
  (muffle-note condition))

(defun muffle-note (condition)
  (let ((restart (find-restart 'muffle-warning condition)))
    (when restart (invoke-restart restart))))

(defun warnings-told ()
  "The texts of the warnings of this call. What was undefined when a form was compiled, and is defined now, is no
warning."
  (let ((texts (loop for (text kind . names) in (reverse *warnings*)
                     unless (and names
                                 (every (lambda (name)
                                          (and (symbolp name)
                                               (case kind (:function (fboundp name)) (:variable (boundp name)))))
                                        names))
                       collect text)))
    (loop while *thread-failures*
          do (destructuring-bind (thread type message) (pop *thread-failures*)
               (setf texts (append texts (list (format nil "The thread ~S ended with ~A: ~A"
                                                       (sb-thread:thread-name thread) type message))))))
    texts))

;;; -- the state between calls -----------------------------------------------------------------------

(defun sane-p (variable)
  (and (boundp variable)
       (let ((value (symbol-value variable)))
         (case variable
           (*package* (and (packagep value) (package-name value) t))
           (*readtable* (readtablep value))
           ((*print-base* *read-base*) (typep value '(integer 2 36)))
           (*print-case* (member value '(:upcase :downcase :capitalize)))
           ((*print-length* *print-level* *print-lines* *print-right-margin*) (typep value '(or null unsigned-byte)))
           (*read-default-float-format*
            (member value '(single-float double-float short-float long-float rational)))
           (*macroexpand-hook* (or (functionp value) (and (symbolp value) (fboundp value))))
           (sb-ext:*evaluator-mode* (member value '(:compile :interpret)))
           (*features* (and (listp value) (ignore-errors (list-length value))))
           (*default-pathname-defaults* (pathnamep value))
           (*gensym-counter* (typep value 'unsigned-byte))
           (*random-state* (random-state-p value))
           (t t)))))

(defvar *defaults* '() "(variable . value) of what must make sense, as the session began.")

(defun remember-defaults ()
  (setf *defaults*
        (loop for variable in '(*package* *readtable* *print-base* *read-base* *print-case* *print-length* *print-level*
                                *print-lines* *print-right-margin* *read-default-float-format* *macroexpand-hook*
                                sb-ext:*evaluator-mode* *features* *default-pathname-defaults* *gensym-counter*
                                *random-state* *break-on-signals*)
              collect (cons variable (symbol-value variable)))))

(defun user-package ()
  "The package that a session begins in. Code may have deleted it; SBCL remembers the package of a constant name."
  (declare (notinline find-package))
  (or (find-package "COMMON-LISP-USER")
      (make-package "COMMON-LISP-USER" :nicknames '("CL-USER")
                                       :use '("COMMON-LISP" "SB-ALIEN" "SB-DEBUG" "SB-EXT" "SB-GRAY" "SB-PROFILE"))))

(defun mend-state ()
  "Give each variable that makes no sense its first value again, and say so."
  (setf *break-on-signals* nil
        *debugger-hook* nil
        sb-ext:*invoke-debugger-hook* nil)
  (unless (package-name (cdr (assoc '*package* *defaults*)))
    (setf (cdr (assoc '*package* *defaults*)) (user-package)))
  (loop for (variable . value) in *defaults*
        unless (sane-p variable)
          do (setf (symbol-value variable) value)
             (push (list (format nil "~A had no usable value and was reset." (symbol-name variable))) *warnings*)))

;;; -- evaluating ------------------------------------------------------------------------------------

(declaim (notinline read-form))
(defun read-form (stream end text)
  "The next form of STREAM, which reads TEXT; END where there is none. `#.` is refused."
  (let ((*read-eval* nil) (*reading* (cons text (file-position stream))))
    (read stream nil end)))

(declaim (notinline evaluate-form))
(defun evaluate-form (form)
  "The values of FORM as a list. A backtrace ends at this function."
  (setf - form)
  (let ((values (multiple-value-list (eval form))))
    (setf +++ ++ ++ + + form
          /// // // / / values
          *** ** ** * * (first values))
    values))

(defun evaluate-text (code)
  "Read and evaluate the forms of CODE, each before the next is read. The values of the last one."
  (declare (type string code))
  (let ((end (load-time-value (list nil))) (values '()))
    (handler-bind ((warning #'note-warning)
                   (sb-ext:compiler-note #'muffle-note))
      (with-input-from-string (stream code)
        (loop
          (let ((form (read-form stream end code)))
            (when (eq form end) (return values))
            (setf *form* form
                  values (evaluate-form form))))))))

(defun evaluate-and-print (code)
  "The values of CODE as texts."
  (let ((values (evaluate-text code)) (left (* 2 (limits-value *limits*))))
    (mend-state)
    (handler-bind ((warning #'note-warning))
      (loop for value in values
            collect (if (plusp left)
                        (let ((text (print-value value (min left (limits-value *limits*)))))
                          (decf left (length text))
                          text)
                        "... (cut)")))))

(defun package-named (name)
  "The package that a caller names."
  (or (find-package name)
      (find-package (string-upcase name))
      (error 'sb-kernel:simple-package-error
             :package name
             :format-control "There is no package named ~S."
             :format-arguments (list name))))

(defun in-package-named (name function)
  "Call FUNCTION with the package NAME current; with the package of the session if NAME is NIL."
  (if name
      (let ((*package* (progn (setf *form* (list 'in-package name))
                              (package-named name))))
        (funcall function))
      (funcall function)))
