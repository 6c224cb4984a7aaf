;;;; Text of objects that we know nothing about. A print method of the user's may fail, loop, print for ever or
;;;; exhaust the stack: a print of ours is cut at a limit and never fails.

(in-package "MISHAP-PRELUDE")

(defvar *failing* nil
  "While a text is printed for a report: the catch tag that a failure throws to. Else NIL.")
(defvar *hurried* nil
  "True once a text for a report took so long that the evaluation was interrupted: the others are left out.")
(defvar *scratch* (make-instance 'capture :name "a text that is printed"))
(defvar *scratch-used* nil)

(defmacro with-plain-printing ((&key (length 30) (level 8) pretty) &body body)
  "Print independently of the user's print variables."
  `(let ((*print-array* t) (*print-base* 10) (*print-case* :upcase) (*print-circle* nil) (*print-escape* t)
         (*print-gensym* t) (*print-length* ,length) (*print-level* ,level) (*print-lines* nil)
         (*print-miser-width* nil) (*print-pretty* ,pretty) (*print-radix* nil) (*print-readably* nil)
         (*print-right-margin* nil))
     ,@body))

(defun print-bounded (function limit mark)
  "What FUNCTION writes to the stream that it is given. After LIMIT characters it is stopped, and MARK put behind them.
The second value is true then."
  (let* ((stream (if *scratch-used* (make-instance 'capture) *scratch*))
         (*scratch-used* t)
         (full (list nil)))
    (reset stream limit full)
    (catch full (funcall function stream))
    (values (kept stream mark) (slot-value stream 'lost))))

(defun call-protected (function)
  "The value of FUNCTION, and T; NIL and NIL if it fails in any way."
  (let ((tag (list nil)))
    (catch tag
      (let ((*failing* tag))
        (return-from call-protected
          (handler-case (values (funcall function) t)
            (serious-condition () (values nil nil))))))
    (values nil nil)))

(defun print-safely (function limit mark)
  "As PRINT-BOUNDED, but NIL if FUNCTION fails in any way."
  (unless *hurried*
    (values (call-protected (lambda () (print-bounded function limit mark))))))

;;; -- values ----------------------------------------------------------------------------------------

(defun circular-p (object)
  "True if OBJECT, made of conses, vectors and structures, contains itself. Beyond 10,000 of them the answer is false."
  (let ((path (make-hash-table :test 'eq)) (left 10000))
    (labels ((enter (object)
               (when (gethash object path) (return-from circular-p t))
               (when (minusp (decf left)) (return-from circular-p nil))
               (setf (gethash object path) t))
             (visit (object depth)
               (when (> depth 1000) (return-from circular-p nil))
               (typecase object
                 ;; The list is walked in a loop: only its elements make the recursion deeper.
                 (cons (loop for rest = object then (cdr rest)
                             while (consp rest)
                             do (enter rest)
                                (visit (car rest) (1+ depth))
                             finally (visit rest (1+ depth)))
                  (loop for rest = object then (cdr rest) while (consp rest) do (remhash rest path)))
                 (simple-vector
                  (enter object)
                  (loop for element across object do (visit element (1+ depth)))
                  (remhash object path))
                 ((and structure-object (not pathname) (not hash-table) (not package))
                  (enter object)
                  (dolist (slot (sb-mop:class-slots (class-of object)))
                    (visit (ignore-errors (slot-value object (sb-mop:slot-definition-name slot))) (1+ depth)))
                  (remhash object path)))))
      (visit object 0)
      nil)))

(defun print-value (value limit)
  "VALUE as `=> ` shows it, with the print variables of the session where they do no harm. It may fail."
  (let* ((*print-pretty* nil) (*print-readably* nil) (*print-escape* t) (*print-right-margin* nil)
         (*print-circle* (or *print-circle* (and (typep value '(or cons simple-vector structure-object)) (circular-p value))))
         (*print-level* (or *print-level* 500)))
    (if (typep value 'fixnum)
        (let ((*print-level* nil)) (princ-to-string value))
        (multiple-value-bind (text cut) (print-bounded (lambda (stream) (prin1 value stream)) limit "... (cut)")
          (if (and cut (not *print-circle*) (typep value '(or cons array structure-object standard-object)))
              ;; Perhaps it has no end because it contains itself.
              (let ((*print-circle* t))
                (values (print-bounded (lambda (stream) (prin1 value stream)) limit "... (cut)")))
              text)))))

;;; -- arguments in frames ---------------------------------------------------------------------------

(defvar *hidden* (make-symbol "HIDDEN") "Stands for an argument that is not shown.")

(defun printed-argument (argument &optional (limit +argument-limit+))
  "ARGUMENT on one line, cut with three dots; `#<...>` if it cannot be printed."
  (let ((hidden (load-time-value (internal "SB-DEBUG" "UNPRINTABLE-OBJECT"))))
    (one-line
     (or (cond ((or (eq argument *hidden*) (and hidden (typep argument hidden))) nil)
               ((and (stringp argument) (> (length argument) limit))
                (print-safely (lambda (stream) (prin1 (subseq argument 0 limit) stream)) (- limit 3) "..."))
               (t (print-safely (lambda (stream) (prin1 argument stream)) (- limit 3) "...")))
         "#<...>"))))

(defun one-line (text)
  "TEXT with each line feed, and the blanks around it, made one space."
  (declare (type string text))
  (if (not (find-if (lambda (c) (member c '(#\Newline #\Return #\Page))) text))
      (string-trim " " text)
      (let ((result (make-string (length text))) (filled 0) (broken nil))
        (loop for c across text do
          (cond ((member c '(#\Newline #\Return #\Page))
                 (loop while (and (plusp filled) (member (schar result (1- filled)) '(#\Space #\Tab))) do (decf filled))
                 (setf broken t))
                ((and broken (member c '(#\Space #\Tab))))
                (t (when (and broken (plusp filled))
                     (setf (schar result filled) #\Space)
                     (incf filled))
                   (setf broken nil
                         (schar result filled) c)
                   (incf filled))))
        (string-trim " " (subseq result 0 filled)))))
