;;;; Makes the core: sbcl --non-interactive --no-sysinit --no-userinit --load build.lisp --end-toplevel-options OUTPUT

(let* ((output (first (last sb-ext:*posix-argv*)))
       (here (directory-namestring *load-truename*)))
  ;; Code of a session keeps the arguments of its frames, and is compiled as quickly as possible.
  (handler-bind ((warning (lambda (condition)
                            (unless (typep condition 'style-warning)
                              (format *error-output* "~&~A~%" condition)
                              (finish-output *error-output*)
                              (sb-ext:exit :code 1 :abort t)))))
    (with-compilation-unit ()
      (dolist (file '("package" "json" "wire" "streams" "printing" "report" "guard" "evaluate" "tools" "serve"))
        (load (concatenate 'string here file ".lisp")))))
  (funcall (intern "PREPARE" "MISHAP-PRELUDE") output))
