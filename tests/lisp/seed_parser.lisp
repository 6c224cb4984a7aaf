;;;; The seed's own parser and checks of a condition report, run over the responses of a corpus.
;;;;
;;;;     sbcl --script seed_parser.lisp RESPONSES
;;;;
;;;; RESPONSES is a file with one list (name is-error text) for each response.

(defvar *responses* (make-hash-table :test 'equal))

(defun evaluate-lisp (name) (gethash name *responses*))
(defun error-response-p (response) (first response))
(defun response-text (response) (second response))

(defun extract-section (text from to)
  (let* ((start (+ (search from text) (length from)))
         (end (or (search to text :start2 start) (length text))))
    (string-trim '(#\Newline) (subseq text start end))))

;;; -- as the seed has it ----------------------------------------------------------------------------

(defun parse-error-response (text)
  "Parse error response into structured components. Returns NIL if malformed."
  (let ((sections (make-hash-table :test 'equal)))
    ;; Look for optional stdout section
    (when (search "[stdout]" text)
      (setf (gethash :stdout sections)
            (extract-section text "[stdout]" "[ERROR]")))

    ;; Look for required ERROR section
    (unless (search "[ERROR]" text)
      (return-from parse-error-response nil))

    (let* ((error-start (search "[ERROR]" text))
           (error-line-end (position #\Newline text :start error-start))
           (type-part (subseq text (+ error-start 8) error-line-end)))
      (when (zerop (length (string-trim " " type-part)))
        (return-from parse-error-response nil))
      (setf (gethash :type sections) (string-trim " " type-part)))

    ;; Extract message (between type and backtrace)
    (let* ((msg-start (position #\Newline text :start (search "[ERROR]" text)))
           (bt-start (search "[Backtrace]" text)))
      (unless bt-start
        (return-from parse-error-response nil))
      (setf (gethash :message sections)
            (string-trim '(#\Newline #\Space)
                        (subseq text msg-start bt-start))))

    ;; Extract backtrace
    (let ((bt-start (search "[Backtrace]" text)))
      (setf (gethash :backtrace sections)
            (subseq text (+ bt-start 11))))

    sections))

(defun verify-structured-error-response (error-code)
  (let ((response (evaluate-lisp error-code)))
    ;; Must be error response
    (assert (error-response-p response))

    (let ((text (response-text response))
          (parsed (parse-error-response (response-text response))))

      ;; Must be parseable
      (assert parsed
              nil
              "Error response not parseable: ~A" text)

      ;; Must have all required sections
      (assert (gethash :type parsed)
              nil
              "Missing condition type in: ~A" text)

      (assert (gethash :message parsed)
              nil
              "Missing message in: ~A" text)

      (assert (gethash :backtrace parsed)
              nil
              "Missing backtrace in: ~A" text)

      ;; Type must be non-empty
      (assert (plusp (length (gethash :type parsed)))
              nil
              "Empty condition type in: ~A" text)

      ;; Message must be non-empty
      (assert (plusp (length (gethash :message parsed)))
              nil
              "Empty message in: ~A" text)

      ;; Backtrace must contain frame markers
      (assert (search "0:" (gethash :backtrace parsed))
              nil
              "Backtrace malformed (no frame 0) in: ~A" text))))

(defun verify-format-invariants (error-responses)
  (dolist (response error-responses)
    (let ((text (response-text response)))
      ;; [ERROR] appears before [Backtrace]
      (assert (< (search "[ERROR]" text)
                 (search "[Backtrace]" text)))

      ;; Condition type on same line as [ERROR]
      (let* ((error-pos (search "[ERROR]" text))
             (newline-pos (position #\Newline text :start error-pos)))
        (assert (> newline-pos (+ error-pos 8))))

      ;; Backtrace contains numbered frames
      (let ((bt-section (subseq text (search "[Backtrace]" text))))
        (assert (search "0:" bt-section))
        (assert (search "(" bt-section)))  ; at least one frame

      ;; If stdout present, it comes first
      (when (search "[stdout]" text)
        (assert (< (search "[stdout]" text)
                   (search "[ERROR]" text)))))))

;;; -- over the responses ----------------------------------------------------------------------------

(let ((failures 0) (count 0))
  (with-open-file (in (first (last sb-ext:*posix-argv*)) :external-format :utf-8)
    (loop for entry = (read in nil)
          while entry
          do (destructuring-bind (name is-error text) entry
               (setf (gethash name *responses*) (list is-error text))
               (incf count)
               (handler-case (progn (verify-structured-error-response name)
                                    (verify-format-invariants (list (evaluate-lisp name))))
                 (error (condition)
                   (incf failures)
                   (format t "~A: ~A~%" name condition))))))
  (format t "~D responses, ~D malformed~%" count failures)
  (sb-ext:exit :code (if (or (plusp failures) (zerop count)) 1 0)))
