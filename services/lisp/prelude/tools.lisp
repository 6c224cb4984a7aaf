;;;; The operations. Each takes the arguments of a call and returns two values: the answer as (:OBJECT …) and its text; or
;;;; it returns a report in place of the answer.

(in-package "MISHAP-PRELUDE")

(defvar *operations* (make-hash-table :test 'equal))
(defvar *limit* nil "Seconds that the parent gives this call; NIL: no limit.")
(defvar *folders* '() "Folders that load-file may read from.")

(defmacro define-operation (name (arguments) documentation &body body)
  `(setf (gethash ,name *operations*)
         (sb-int:named-lambda ,(intern (concatenate 'string "OPERATION-" (string-upcase name))) (,arguments)
           (declare (ignorable ,arguments))
           ,documentation
           ,@body)))

(defun seconds-for (arguments)
  "How long a call may take: the least of what its caller, the session and the parent say."
  (let ((asked (member-of arguments "timeout")))
    (reduce #'min (remove-if-not #'realp (list asked (limits-timeout *limits*) *limit*)))))

(defmacro guarded ((arguments &key suspend) &body body)
  "Evaluate BODY as guarded code of the session, in the package that ARGUMENTS name. If it fails, its report is the
result of the operation."
  (let ((value (gensym)) (report (gensym)) (call (gensym)))
    `(multiple-value-bind (,value ,report)
         (let ((,call ,arguments))
           (call-guarded (lambda () (in-package-named (member-of ,call "package") (lambda () ,@body)))
                         (seconds-for ,call) ,suspend))
       (if ,report (throw 'operation ,report) ,value))))

;;; -- texts -----------------------------------------------------------------------------------------

(defparameter *markers* '("stdout]" "stderr]" "ERROR]" "warnings]" "Backtrace]"))

(defun escaped (text)
  "TEXT with one backslash more after the bracket of each section marker in it, so that no content looks like a section."
  (declare (type string text))
  (if (not (find #\[ text))
      text
      (with-output-to-string (out)
        (loop for c across text
              for i from 0
              do (write-char c out)
                 (when (and (char= c #\[)
                            (let ((word (position #\\ text :start (1+ i) :test #'char/=)))
                              (and word
                                   (some (lambda (marker)
                                           (let ((end (+ word (length marker))))
                                             (and (<= end (length text)) (string= marker text :start2 word :end2 end))))
                                         *markers*))))
                   (write-char #\\ out))))))

(defun sections (stdout stderr warnings)
  (with-output-to-string (out)
    (flet ((section (name text)
             (when (plusp (length text))
               (write-char #\[ out) (write-string name out) (write-char #\] out) (terpri out)
               (write-string (escaped text) out)
               (terpri out) (terpri out))))
      (section "stdout" stdout)
      (section "stderr" stderr)
      (section "warnings" (join warnings)))))

(defun join (lines)
  (with-output-to-string (out)
    (loop for (line . more) on lines do (write-string line out) (when more (terpri out)))))

(defun values-text (values)
  (if values
      (join (mapcar (lambda (value) (concatenate 'string "=> " (escaped value))) values))
      "; No values"))

(defun evaluation-answer (values &optional members (lines ""))
  "The answer of an evaluation that succeeded. MEMBERS and LINES are what an operation adds."
  (let ((stdout (kept *out*)) (stderr (kept *err*)) (warnings (warnings-told)))
    (values `(:object "values" (:array ,@values) "stdout" ,stdout "stderr" ,stderr "warnings" (:array ,@warnings)
                      ,@members)
            (if (and (string= stdout "") (string= stderr "") (null warnings) (string= lines ""))
                (values-text values)
                (concatenate 'string (sections stdout stderr warnings) (values-text values) lines)))))

;;; -- evaluating ------------------------------------------------------------------------------------

(define-operation "evaluate" (arguments)
    "Evaluate the forms of `code`. With `suspend` an error keeps the evaluation waiting for `restart`."
  (let ((code (member-of arguments "code" "")))
    (evaluation-answer (guarded (arguments :suspend (member-of arguments "suspend"))
                         (evaluate-and-print code)))))

(defun microseconds ()
  "The time of day: the clock behind GET-INTERNAL-REAL-TIME is coarse."
  (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
    (+ (* 1000000 seconds) microseconds)))

(define-operation "time" (arguments)
    "Evaluate the forms of `code`, and measure it."
  (let* ((code (member-of arguments "code" ""))
         (real (microseconds)) (run (get-internal-run-time))
         (bytes (sb-ext:get-bytes-consed)) (gc sb-ext:*gc-run-time*)
         (values (guarded (arguments) (evaluate-and-print code))))
    (flet ((since (now then) (round (* 1000000 (- now then)) internal-time-units-per-second)))
      (let ((real (- (microseconds) real)) (run (since (get-internal-run-time) run))
            (bytes (- (sb-ext:get-bytes-consed) bytes)) (gc (since sb-ext:*gc-run-time* gc)))
        (evaluation-answer values
                           `("real_us" ,real "run_us" ,run "gc_us" ,gc "bytes" ,bytes)
                           (with-plain-printing ()
                             (format nil "~%~%; ~D microseconds of real time~%; ~D microseconds of run time~%~
                                          ; ~D of them in the garbage collector~%; ~D bytes allocated"
                                     real run gc bytes)))))))

(defun find-source (file)
  "The file that FILE names, by an absolute path or by one in a folder that is allowed; NIL if there is none."
  (flet ((probe (name) (probe-file (sb-ext:parse-native-namestring name))))
    (if (eql (char file 0) #\/)
        (probe file)
        (loop for folder in (reverse *folders*) thereis (probe (concatenate 'string folder file))))))

(define-operation "load" (arguments)
    "Load the source file `file`, which must be in a folder that is allowed."
  (let ((file (member-of arguments "file" "")))
    (evaluation-answer
     (guarded (arguments)
       (setf *form* (list 'load file))
       (let* ((path (find-source file))
              (name (and path (sb-ext:native-namestring path))))
         (cond ((null path)
                (error 'sb-int:simple-file-error :pathname file
                                                 :format-control "There is no file ~S in the folders that files may be ~
                                                                  loaded from. A path may be relative to one of them."
                                                 :format-arguments (list file)))
               ((notany (lambda (folder)
                          (and (> (length name) (length folder)) (string= folder name :end2 (length folder))))
                        *folders*)
                (error 'sb-int:simple-file-error :pathname file
                                                 :format-control "The file ~S is not in the folders that files may be ~
                                                                  loaded from."
                                                 :format-arguments (list file))))
         (handler-bind ((warning #'note-warning) (sb-ext:compiler-note #'muffle-note))
           (list (print-value (load-source path) 1000))))))))

(defun load-source (path)
  "Evaluate the forms of a file as those of a call, but in a package that is restored afterwards."
  (let ((*package* *package*) (*readtable* *readtable*) (*load-truename* path) (*load-pathname* path)
        (end (list nil)))
    (with-open-file (stream path :external-format '(:utf-8 :replacement #\?))
      (loop (let ((form (let ((*reading* t)) (read stream nil end))))
              (when (eq form end) (return t))
              (setf *form* form)
              (evaluate-form form))))))

;;; -- looking at code -------------------------------------------------------------------------------

(define-operation "validate" (arguments)
    "Read `code` without evaluating anything or interning any symbol."
  (let* ((code (member-of arguments "code" "")) (count 0) (line nil) (column nil)
         (problem
           (with-input-from-string (stream code)
             (guarded (arguments)
               (let ((*read-suppress* t) (*read-eval* nil) (end (list nil)) (*reading* t) (start 0)
                     (*readtable* (readtable-without-evaluation)))
                 (handler-case
                     (loop
                       ;; Where the form begins is where an unclosed one is missing its end.
                       (setf start (or (position-if-not (lambda (c) (member c '(#\Space #\Tab #\Newline #\Return)))
                                                        code :start (min (length code) (file-position stream)))
                                       (length code)))
                       (when (at-end-p stream) (return nil))
                       (when (eq (read stream nil end) end) (return nil))
                       (incf count))
                   (error (condition)
                     (multiple-value-setq (line column)
                       (place-in code (if (typep condition 'end-of-file) start (max 0 (1- (file-position stream))))))
                     (list (condition-type condition)
                           (cut-at (message-of condition (condition-type condition)) " Line: ")))))))))
    (if problem
        (values `(:object "valid" nil "forms" ,count "type" ,(first problem) "message" ,(second problem)
                          "line" ,line "column" ,column)
                (with-plain-printing ()
                  (format nil "Not valid, at line ~D, column ~D: ~A" line column (escaped (second problem)))))
        (values `(:object "valid" t "forms" ,count)
                (with-plain-printing () (format nil "Valid: ~D form~:P." count))))))

;;; -- for a person's REPL ---------------------------------------------------------------------------

(define-operation "form" (arguments)
    "Look for the first form of `code`, without evaluating or interning anything. `state` is `form`: there is one, and it ends at
the character `end`; `none`: there are blanks and comments; `partial`: the form goes on; `wrong`: it cannot be read."
  (let* ((code (member-of arguments "code" "")) (end 0)
         (state (with-input-from-string (stream code)
                  (guarded (arguments)
                    (let ((*read-suppress* t) (*read-eval* nil) (*reading* t) (nothing (list nil)))
                      (handler-case
                          (prog1 (if (or (at-end-p stream) (eq (read stream nil nothing) nothing)) "none" "form")
                            (setf end (file-position stream)))
                        (end-of-file () "partial")
                        (error () "wrong")))))))
    (values `(:object "state" ,state "end" ,end) state)))

(defun short-name (package)
  (let ((names (list* (package-name package) (package-nicknames package))))
    (reduce (lambda (a b) (if (< (length b) (length a)) b a)) names)))

(define-operation "prompt" (arguments)
    "What a prompt shows: the current package, and, if an evaluation is suspended, the restarts that it can be given. `asks`:
the restart takes values. `abort` is the index of the one that ends the evaluation."
  (let ((restarts *suspended*))
    (values `(:object "package" ,(short-name *package*) "level" ,*level*
                      "abort" ,(or (position 'abort restarts :key #'restart-name :from-end t)
                                   (max 0 (1- (length restarts))))
                      "restarts" (:array ,@(loop for restart in restarts
                                                 for (name . words) in (restarts-told restarts)
                                                 collect `(:object "name" ,name "description" ,words
                                                                   "asks" ,(and (takes-values-p restart) t)))))
            (short-name *package*))))

(defun takes-values-p (restart)
  (or (member (restart-name restart) '(use-value store-value))
      (let ((reader (load-time-value (internal "SB-KERNEL" "RESTART-INTERACTIVE-FUNCTION"))))
        (and reader (fboundp reader) (funcall reader restart)))))

(defun readtable-without-evaluation ()
  "The current readtable, but `#.` is refused even where nothing is read but the syntax."
  (let ((table (copy-readtable)))
    (set-dispatch-macro-character #\# #\. (lambda (stream character argument)
                                           (declare (ignore character argument))
                                           (error 'sb-int:simple-reader-error
                                                  :stream stream
                                                  :format-control "can't read #. while *READ-EVAL* is NIL"
                                                  :format-arguments '()))
                                  table)
    table))

(defun at-end-p (stream)
  "True if nothing but blanks and comments is left."
  (loop
    (let ((c (peek-char t stream nil nil)))
      (cond ((null c) (return t))
            ((char= c #\;) (read-line stream nil))
            (t (return nil))))))

(defun place-in (text at)
  "Line and column of the character AT of TEXT, from 1."
  (let* ((at (min at (length text))) (feed (position #\Newline text :end at :from-end t)))
    (values (1+ (count #\Newline text :end at)) (- at (or feed -1)))))

(defun read-forms (code)
  (let ((end (list nil)))
    (with-input-from-string (stream code)
      (loop for form = (read-form stream end code) until (eq form end) collect form))))

(define-operation "compile" (arguments)
    "Compile the forms of `code` without running them, for the sake of the warnings."
  (let* ((code (member-of arguments "code" ""))
         (count (guarded (arguments)
                  (handler-bind ((warning #'note-warning) (sb-ext:compiler-note #'muffle-note))
                    (let ((forms (read-forms code)))
                      (dolist (form forms (length forms))
                        (setf *form* form)
                        (compile nil (if (and (consp form) (eq (first form) 'lambda)) form `(lambda () ,form))))))))
         (failed *doubtful*)
         (warnings (mapcar #'car (reverse *warnings*))))
    (values `(:object "forms" ,count "failed" ,failed "warnings" (:array ,@warnings))
            (concatenate 'string (sections "" "" warnings)
                         (cond (failed "; Compiled with failures") (warnings "; Compiled with warnings") (t "; Compiled"))))))

(define-operation "macroexpand" (arguments)
    "Expand the form `code`: once (`depth` \"1\"), until its head is no macro (\"full\"), or everywhere (\"all\")."
  (let* ((code (member-of arguments "code" "")) (depth (member-of arguments "depth" "full"))
         (texts (guarded (arguments)
                  (handler-bind ((warning #'note-warning))
                    (loop for form in (read-forms code)
                          do (setf *form* form)
                          collect (let ((expansion (cond ((string= depth "1") (macroexpand-1 form))
                                                         ((string= depth "all") (expand-all form))
                                                         (t (macroexpand form)))))
                                    (with-plain-printing (:length nil :level nil :pretty t)
                                      (print-bounded (lambda (stream) (prin1 expansion stream))
                                                     (limits-value *limits*) "... (cut)"))))))))
    (values `(:object "expansions" (:array ,@texts)) (escaped (join texts)))))

(defun expand-all (form)
  (let ((walker (or (internal "SB-WALKER" "MACROEXPAND-ALL") (internal "SB-CLTL2" "MACROEXPAND-ALL"))))
    (if (and walker (fboundp walker)) (funcall walker form) (macroexpand form))))

(define-operation "describe" (arguments)
    "What is known of the symbol `symbol`."
  (let* ((name (member-of arguments "symbol" ""))
         (text (guarded (arguments)
                 (setf *form* (list 'describe name))
                 (let ((symbol (known-symbol name)))
                   (with-plain-printing (:pretty t)
                     (print-bounded (lambda (stream) (describe symbol stream)) (limits-output *limits*) "... (cut)"))))))
    (let ((text (string-trim '(#\Newline #\Space) text)))
      (values `(:object "description" ,text) (escaped text)))))

(define-condition no-such-symbol (error)
  ((name :initarg :name :reader symbol-asked-for))
  (:report (lambda (condition stream) (format stream "There is no symbol ~A." (symbol-asked-for condition)))))

(defun known-symbol (name)
  "The symbol that NAME spells, which is not interned for the question."
  (let* ((name (string-upcase (string-trim " '" name)))
         (colon (position #\: name))
         (package (if (and colon (plusp colon)) (package-named (subseq name 0 colon)) *package*))
         (rest (if colon (string-left-trim ":" (subseq name colon)) name)))
    (multiple-value-bind (symbol status) (find-symbol rest (if (eql colon 0) "KEYWORD" package))
      (if status symbol (error 'no-such-symbol :name name)))))

(defun kinds-of (symbol)
  "What SYMBOL names, as words."
  (flet ((class-kind (class)
           (typecase class
             (structure-class "structure")
             (t (if (subtypep class 'condition) "condition" "class")))))
    (remove nil
            (list (cond ((special-operator-p symbol) "special operator")
                        ((macro-function symbol) "macro")
                        ((not (fboundp symbol)) nil)
                        ((typep (fdefinition symbol) 'generic-function) "generic function")
                        (t "function"))
                  (cond ((keywordp symbol) nil)
                        ((not (boundp symbol)) nil)
                        ((constantp symbol) "constant")
                        (t "variable"))
                  (let ((class (find-class symbol nil)))
                    (and class (class-kind class)))
                  (and (not (find-class symbol nil))
                       (ignore-errors (sb-ext:valid-type-specifier-p symbol))
                       "type")))))

(defun spelled (symbol)
  (with-plain-printing () (let ((*package* *package*)) (printed-argument symbol 300))))

(define-operation "apropos" (arguments)
    "Symbols whose name contains `text`, with what they name."
  (let* ((text (member-of arguments "text" "")) (most (member-of arguments "limit" 50)) (total 0)
         (rows (guarded (arguments)
                 (setf *form* (list* 'apropos text (and (member-of arguments "in") (list (member-of arguments "in")))))
                 (let* ((found (sort (remove-duplicates
                                      (if (member-of arguments "in")
                                          (apropos-list text (package-named (member-of arguments "in")))
                                          (remove-if (lambda (symbol)
                                                       (let ((home (symbol-package symbol)))
                                                         (or (null home)
                                                             (and (internal-package-p home)
                                                                  (not (eq :external (nth-value 1 (find-symbol (symbol-name symbol) home))))))))
                                                     (apropos-list text))))
                                     #'string< :key #'spelled)))
                   (setf total (length found))
                   (loop for symbol in found
                         repeat most
                         collect (cons (spelled symbol) (kinds-of symbol)))))))
    (values `(:object "symbols" (:array ,@(loop for (name . kinds) in rows
                                                collect `(:object "name" ,name "kinds" (:array ,@kinds))))
                      "total" ,total)
            (with-plain-printing ()
              (format nil "~:[No symbol contains ~S.~;~:*~{~A~^~%~}~]~@[~%... (~D more)~]"
                      (or (loop for (name . kinds) in rows
                                collect (escaped (format nil "~A~@[ (~{~A~^, ~})~]" name kinds)))
                          nil)
                      (if rows (and (> total (length rows)) (- total (length rows))) text)
                      nil)))))

;;; -- the last error --------------------------------------------------------------------------------

(define-operation "last-error" (arguments)
    "Type, message, form and restarts of the last failure of this session."
  (let ((report *last-report*))
    (if (null report)
        (values '(:object "found" nil) "No evaluation has failed in this session.")
        (values `(:object "found" t "type" ,(report-type report) "message" ,(report-message report)
                          "form" ,(report-form report) "restarts" ,(restarts-array report)
                          "backtrace" (:array ,@(frames-shown report)))
                (with-plain-printing ()
                  (format nil "~A~%~A~%~%Form: ~A~%~%Restarts:~%~{~A~^~%~}"
                          (escaped (report-type report)) (escaped (report-message report)) (escaped (report-form report))
                          (or (loop for (name . words) in (report-restarts report)
                                    for i from 0
                                    collect (escaped (format nil "~D: [~A] ~A" i name words)))
                              '("none"))))))))

(defun restarts-array (report)
  `(:array ,@(loop for (name . words) in (report-restarts report)
                   collect `(:object "name" ,name "description" ,words))))

(define-operation "backtrace" (arguments)
    "The frames of the last failure, `max_frames` of them."
  (let ((report *last-report*) (most (member-of arguments "max_frames" 20)))
    (if (null report)
        (values '(:object "found" nil "backtrace" (:array)) "No evaluation has failed in this session.")
        (let ((frames (frames-shown report most)))
          (values `(:object "found" t "backtrace" (:array ,@frames))
                  (with-plain-printing ()
                    (join (loop for frame in frames
                                for i from 0
                                collect (if (string= frame "...") frame (escaped (format nil "~D: ~A" i frame)))))))))))

;;; -- the session -----------------------------------------------------------------------------------

(defvar *packages-at-start* '())

(define-operation "definitions" (arguments)
    "What the code of this session has defined."
  (let ((rows (guarded ('())
                (loop for package in (list-all-packages)
                      unless (member package *packages-at-start*)
                        append (definitions-in package)))))
    (values `(:object "definitions" (:array ,@(loop for (package name . kinds) in rows
                                                    collect `(:object "package" ,package "name" ,name
                                                                      "kinds" (:array ,@kinds)))))
            (if rows
                (with-plain-printing ()
                  (escaped (format nil "~{~{~A::~A (~@{~A~^, ~})~}~^~%~}" rows)))
                "Nothing is defined."))))

(defun definitions-in (package)
  (let ((rows '()) (name (package-name package)))
    (do-symbols (symbol package)
      (when (eq (symbol-package symbol) package)
        (let ((kinds (kinds-of symbol)))
          (when kinds (push (list* name (symbol-name symbol) kinds) rows)))))
    (sort rows #'string< :key #'second)))

(define-operation "limits" (arguments)
    "Change the limits of this session; what is not named stays."
  (flet ((change (key least most set)
           (let ((value (member-of arguments key)))
             (when (realp value) (funcall set (max least (min most value)))))))
    (change "timeout" 1/1000 600 (lambda (value) (setf (limits-timeout *limits*) value)))
    (change "stdout" 0 65000 (lambda (value) (setf (limits-output *limits*) (floor value))))
    (change "value" 10 65000 (lambda (value) (setf (limits-value *limits*) (floor value))))
    (change "frames" 1 20 (lambda (value) (setf (limits-frames *limits*) (floor value)))))
  (let ((limits *limits*))
    (values `(:object "timeout" ,(limits-timeout limits) "stdout" ,(limits-output limits)
                      "value" ,(limits-value limits) "frames" ,(limits-frames limits))
            (with-plain-printing ()
              (format nil "timeout: ~F seconds~%stdout: ~D characters~%value: ~D characters~%frames: ~D"
                      (limits-timeout limits) (limits-output limits) (limits-value limits) (limits-frames limits))))))

(define-operation "reset" (arguments)
    "A fresh session. Code can change SBCL itself, so nothing but a fresh process is truly clean: this one ends after
its answer, and the next call gets another."
  (values '(:object "reset" t) "The session is fresh." t))
