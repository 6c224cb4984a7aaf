;;;; What the code of a call writes, kept up to a limit; and the same for a text that we print.

(in-package "MISHAP-PRELUDE")

(defclass capture (sb-gray:fundamental-character-output-stream)
  ((text :initform (make-string 256) :type (simple-array character (*)))
   (filled :initform 0 :type fixnum)
   (column :initform 0 :type fixnum)
   (limit :initform 65000 :type fixnum :initarg :limit)
   (lost :initform nil)          ; true if something did not fit
   (full :initform nil)          ; a catch tag that is thrown to when nothing fits any more
   (closed :initform nil)
   (name :initform "stream" :initarg :name))
  (:documentation "A stream that keeps what is written, up to a limit."))

(defmethod print-object ((stream capture) out)
  (print-unreadable-object (stream out) (format out "captured ~A" (slot-value stream 'name))))

(defun reset (stream limit &optional full)
  (with-slots (text filled column (most limit) lost closed (tag full)) stream
    (when (> (length text) 16384) (setf text (make-string 256)))
    (setf filled 0 column 0 most limit lost nil closed nil tag full)))

(defun keep (stream string start end)
  (declare (type string string) (type fixnum start end))
  (with-slots (text filled column limit lost full closed) stream
    (declare (type (simple-array character (*)) text) (type fixnum filled column limit))
    (when closed (error 'sb-int:closed-stream-error :stream stream))
    (let* ((stop (min end (+ start (max 0 (- limit filled))))) (next (+ filled (- stop start))))
      (declare (type fixnum stop next))
      (when (> next (length text))
        (let ((larger (make-string (min limit (* 2 next)))))
          (setf text (replace larger text :end2 filled))))
      (replace text string :start1 filled :start2 start :end2 stop)
      (let ((feed (position #\Newline string :start start :end stop :from-end t)))
        (setf column (if feed (- stop feed 1) (+ column (- stop start)))
              filled next))
      (when (< stop end)
        (setf lost t)
        (when full (throw full nil))))))

(defmethod sb-gray:stream-write-char ((stream capture) character)
  (let ((string (make-string 1 :initial-element character)))
    (declare (dynamic-extent string))
    (keep stream string 0 1)
    character))

(defmethod sb-gray:stream-write-string ((stream capture) string &optional (start 0) end)
  (keep stream string start (or end (length string)))
  string)

(defmethod sb-gray:stream-line-column ((stream capture))
  (slot-value stream 'column))

(defmethod sb-gray:stream-start-line-p ((stream capture))
  (zerop (slot-value stream 'column)))

(defmethod close ((stream capture) &key abort)
  (declare (ignore abort))
  (setf (slot-value stream 'closed) t))

(defmethod open-stream-p ((stream capture))
  (not (slot-value stream 'closed)))

(defun kept (stream &optional (mark "... (cut)"))
  "The text that STREAM has kept, with MARK at its end if something was lost."
  (with-slots (text filled lost) stream
    (cond (lost (concatenate 'string (subseq text 0 filled) mark))
          ((zerop filled) "")
          (t (subseq text 0 filled)))))

;;; -- the streams of a session ----------------------------------------------------------------------

(defvar *out* (make-instance 'capture :name "standard output"))
(defvar *err* (make-instance 'capture :name "standard error"))
(defvar *in* (make-concatenated-stream))
(defvar *both* (make-two-way-stream *in* *out*))

(defun reset-captures ()
  (reset *out* (limits-output *limits*))
  (reset *err* (limits-output *limits*)))

(defun reset-streams ()
  "Give the standard streams their values again, which the code may have changed."
  (unless (and (open-stream-p *in*) (open-stream-p *both*))
    (setf *in* (make-concatenated-stream)
          *both* (make-two-way-stream *in* *out*)))
  (setf *standard-output* *out*
        *trace-output* *out*
        *error-output* *err*
        *standard-input* *in*
        *terminal-io* *both*
        *query-io* *both*
        *debug-io* *both*))
