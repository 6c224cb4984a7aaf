;;;; Print how many MB of private memory SBCL has when it starts, whether it uses them or not, beside a heap of 64 MB. None: 0.

(with-open-file (status "/proc/self/status")
  (loop for line = (read-line status)
        when (eql (mismatch "VmData:" line) 7)
          do (let ((megabytes (ceiling (parse-integer line :start 7 :junk-allowed t) 1024)))
               (format t "~D~%" (max 0 (- megabytes 64)))
               (sb-ext:exit))))
