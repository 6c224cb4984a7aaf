;;;; Print how many MB of private memory SBCL needs beside a heap of 64 MB, whether it uses them or not. None: 0.
;;;; Where SBCL protects pages of its heap, native memory leaves room for what is in use (prelude/guard.lisp), a part of which counts
;;;; already.

(defun protected-megabytes ()
  (let ((features (find-symbol "+INTERNAL-FEATURES+" "SB-IMPL")))
    (if (find :soft-card-marks (if features (symbol-value features) *features*))
        0
        (ceiling (sb-kernel:dynamic-usage) (* 1024 1024)))))

(with-open-file (status "/proc/self/status")
  (loop for line = (read-line status)
        when (eql (mismatch "VmData:" line) 7)
          do (let ((megabytes (ceiling (parse-integer line :start 7 :junk-allowed t) 1024)))
               (format t "~D~%" (+ (max 0 (- megabytes 64)) (protected-megabytes)))
               (sb-ext:exit))))
