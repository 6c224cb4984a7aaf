;;;; Print how many MB of private memory SBCL needs beside a heap of 64 MB, whether it uses them or not. None: 0.
;;;; Where SBCL protects pages, of its heap or of symbols, native memory leaves room for them (prelude/guard.lisp), a part of which
;;;; counts already.

(defun protected-bytes ()
  (let ((features (find-symbol "+INTERNAL-FEATURES+" "SB-IMPL"))
        (start (find-symbol "FIXEDOBJ-SPACE-START" "SB-VM"))
        (end (find-symbol "*FIXEDOBJ-SPACE-FREE-POINTER*" "SB-VM")))
    (cond ((not (find :soft-card-marks (if features (symbol-value features) *features*))) (sb-kernel:dynamic-usage))
          ((and start end) (eval `(- (sb-sys:sap-int ,end) ,start)))
          (t 0))))

(with-open-file (status "/proc/self/status")
  (loop for line = (read-line status)
        when (eql (mismatch "VmData:" line) 7)
          do (let ((megabytes (ceiling (parse-integer line :start 7 :junk-allowed t) 1024)))
               (format t "~D~%" (+ (max 0 (- megabytes 64)) (ceiling (protected-bytes) (* 1024 1024))))
               (sb-ext:exit))))
