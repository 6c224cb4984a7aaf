;;;; The socket of the protocol (docs/worker-protocol.md): packets on descriptor 3.

(in-package "MISHAP-PRELUDE")

(defconstant +socket+ 3)
(defconstant +packet+ 65536)
(defconstant +eintr+ 4)
(defconstant +epipe+ 32)
(defconstant +message-in+ (* 9 1024 1024))

(defvar *packet* (make-array +packet+ :element-type '(unsigned-byte 8)))
(declaim (type octets *packet*))

;;; The kernel writes packets to memory outside of the heap. Pages of the heap may be write-protected by the collector, on arm64
;;; they often are: a system call that writes there fails with EFAULT, and the packet is lost.
(defvar *landing* nil "The memory that packets are read into. It is allocated when the process starts: a core does not keep it.")

(defun allocate-landing ()
  (setf *landing* (sb-alien:alien-sap (sb-alien:make-alien (sb-alien:unsigned 8) +packet+))))

(defun leave (status &optional words)
  "End the process at once, without hooks and without unwinding. WORDS are for the operator; a STATUS other than 0 is one of
mishap/exits.h."
  (when words
    (let ((line (map 'octets #'char-code (concatenate 'string "mishap-lisp: " words '(#\Newline)))))
      (sb-sys:with-pinned-objects (line)
        (sb-unix:unix-write 2 (sb-sys:vector-sap line) 0 (length line)))))
  (sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) status))

(defun receive-packet ()
  "The number of octets of the next packet, which is in *PACKET*."
  (loop
    (multiple-value-bind (count failure) (sb-unix:unix-read +socket+ *landing* +packet+)
      (cond ((and count (plusp count))
             (sb-kernel:copy-ub8-from-system-area *landing* 0 *packet* 0 count)
             (return count))
            (count (leave 0))
            ((/= failure +eintr+) (leave 74 (format nil "the socket cannot be read: errno ~D" failure)))))))

(defun receive ()
  "The next message, as JSON that has been read."
  (let ((text nil) (filled 0))
    (declare (type (or null octets) text) (type index filled))
    (loop
      (let* ((count (receive-packet)) (kind (aref *packet* 0)))
        (flet ((start () (setf text (make-array (* 4 +packet+) :element-type '(unsigned-byte 8)) filled 0))
               (add ()
                 (when (null text) (leave 70 "a message to it has no beginning"))
                 (when (> (+ filled count) (length text))
                   (when (> filled +message-in+) (leave 70 "a message to it is too long"))
                   (let ((larger (make-array (* 2 (length text)) :element-type '(unsigned-byte 8))))
                     (setf text (replace larger text :end2 filled))))
                 (replace text *packet* :start1 filled :start2 1 :end2 count)
                 (incf filled (1- count))))
          (case (code-char kind)
            (#\= (replace *packet* *packet* :start1 0 :start2 1 :end2 count)
             (return (read-json *packet* (1- count))))
            (#\< (start) (add))
            (#\- (add))
            (#\> (add) (return (read-json text filled)))
            (t (leave 70 "a packet to it is none"))))))))

(defun send-packet (start end kind)
  "The octets of *BUFFER* from START to END, with KIND written over the octet before them."
  (setf (aref *buffer* (1- start)) (char-code kind))
  (loop
    (multiple-value-bind (count failure)
        (sb-sys:with-pinned-objects (*buffer*)
          (sb-unix:unix-write +socket+ (sb-sys:vector-sap *buffer*) (1- start) (1+ (- end start))))
      (cond (count (return))
            ((= failure +epipe+) (leave 0)) ; the other side has left
            ((/= failure +eintr+) (leave 74 (format nil "the socket cannot be written to: errno ~D" failure)))))))

(defun send-message ()
  "Send what BEGIN-MESSAGE and the functions after it have written."
  (let ((piece (1- +packet+)) (end *filled*))
    (if (<= (1- end) piece)
        (send-packet 1 end #\=)
        (loop for start = 1 then next
              for next = (min end (+ start piece))
              do (send-packet start next (cond ((= start 1) #\<) ((= next end) #\>) (t #\-)))
              until (= next end)))))

(defun wait-for-packet (milliseconds)
  "True if there is something to read before MILLISECONDS have passed."
  (sb-alien:with-alien ((descriptor (array sb-alien:int 2)))
    (setf (sb-alien:deref descriptor 0) +socket+
          (sb-alien:deref descriptor 1) 1) ; POLLIN; what happened is in the upper half
    (/= 0 (sb-alien:alien-funcall
           (sb-alien:extern-alien "poll" (function sb-alien:int sb-alien:system-area-pointer sb-alien:unsigned sb-alien:int))
           (sb-alien:alien-sap descriptor) 1 milliseconds))))
