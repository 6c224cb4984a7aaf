"""What hostile code tries in a session of Lisp (tests/worker/rows.py says what a row is). docs/lisp.md has the same table."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "worker"))
import rows  # noqa: E402
from rows import LAYERS, NUMBERS, Attempt  # noqa: E402,F401

# What the attempts are written with. An int is negative if it failed; a call that needs a privilege is made with nonsense, and was
# permitted if the system finds fault with that and not with the caller.
WORDS = r"""
(use-package "SB-ALIEN")
(defun at (name) (concatenate 'string *folder* "/" name))
(defun refused (&optional (why (get-errno))) (error "It was refused: ~A" why))
(defun must (result) (if (minusp result) (refused) result))
(defun permitted (result) (if (and (minusp result) (member (get-errno) '(1 13 38))) (refused) result))
(defmacro native (name &rest arguments)
  `(alien-funcall (extern-alien ,name (function int ,@(mapcar #'first arguments))) ,@(mapcar #'second arguments)))
(defmacro pointer (name &rest arguments)
  `(let ((found (alien-funcall (extern-alien ,name (function unsigned-long ,@(mapcar #'first arguments)))
                               ,@(mapcar #'second arguments))))
     (if (member found (list 0 (1- (expt 2 64)))) (refused) found)))
(defun kernel (number &optional (a 0) (b 0) (c 0) (d 0) (e 0) (f 0))
  (alien-funcall (extern-alien "syscall" (function long long long long long long long long)) number a b c d e f))
(defun bytes (&rest parts)
  (coerce (loop for part in parts append (if (stringp part) (map 'list #'char-code part) (list part))) '(vector (unsigned-byte 8))))
(defmacro with-bytes ((address bytes) &body body)
  "BYTES are copied to memory outside of the heap: where the collector has write-protected a page, the system cannot write to it."
  `(let* ((bytes ,bytes) (copy (make-alien (unsigned 8) (length bytes))) (,address (sb-sys:sap-int (alien-sap copy))))
     (unwind-protect (progn (loop for byte across bytes for i from 0 do (setf (deref copy i) byte))
                            ,@body)
       (free-alien copy))))
(defun add-one (address at) (incf (sb-sys:sap-ref-8 (sb-sys:int-sap address) at)))
(defun zeros (size) (make-array size :element-type '(unsigned-byte 8) :initial-element 0))
(defun at-port () (bytes 2 0 (ash *port* -8) (logand *port* 255) 127 0 0 1 0 0 0 0 0 0 0 0))
(defun new-socket (family kind) (must (native "socket" (int family) (int kind) (int 0))))
(defun connected (family kind address)
  (let ((socket (new-socket family kind)))
    (with-bytes (at address) (must (native "connect" (int socket) (unsigned-long at) (int (length bytes)))))))
(defun opened (path &optional (flags 0)) (must (native "open" (c-string path) (int flags) (int #o600))))
(defun first-line (path) (with-open-file (in path) (read-line in)))
(defmacro across (function)
  `(with-bytes (io (zeros 40))
     (loop for at in '(0 8 16 24)
           for value in (list (+ io 32) 8 *address* 8)
           do (setf (sb-sys:sap-ref-64 (sb-sys:int-sap io) at) value))
     (must (native ,function (int *pid*) (unsigned-long io) (long 1) (unsigned-long (+ io 16)) (long 1) (long 0)))))
(defun proc (name) (format nil "/proc/~D/~A" *pid* name))
"""

ATTEMPTS = [Attempt(*row) for row in [
    # Files, by functions of Lisp
    ("read a file that is not named", "LM", True, '(first-line "/etc/passwd")'),
    ("the same by a path with `..`", "LM", True, '(first-line "../../../../../../../../etc/passwd")'),
    ("the same through /proc/self/root", "LM", True, '(first-line "/proc/self/root/etc/passwd")'),
    ("the same through a symbolic link of its own", "LM", True,
     '(must (native "symlink" (c-string (at "victim")) (c-string "link"))) (first-line "link")'),
    ("list a folder that is not named (DIRECTORY)", "LM", True, '(or (directory (at "*")) (refused))'),
    ("learn whether a file exists (PROBE-FILE)", "M", True, '(or (probe-file (at "victim")) (refused))'),
    ("learn when a file was written (FILE-WRITE-DATE)", "M", True, '(file-write-date (at "victim"))'),
    ("make a file (OPEN)", "LM", True, '(with-open-file (out (at "made") :direction :output) (print 1 out))'),
    ("write over a file", "LM", True, '(with-open-file (out (at "victim") :direction :output :if-exists :overwrite) (print 1 out))'),
    ("append to a file", "LM", True, '(with-open-file (out (at "victim") :direction :output :if-exists :append) (print 1 out))'),
    ("delete a file (DELETE-FILE)", "LM", True, '(delete-file (at "victim"))'),
    ("rename a file (RENAME-FILE)", "LM", True, '(rename-file (at "victim") (at "moved"))'),
    ("make a folder (ENSURE-DIRECTORIES-EXIST)", "LM", True, '(ensure-directories-exist (at "made/"))'),
    ("load a source file that is not allowed (LOAD)", "LM", True, '(load (at "source.lisp"))'),
    ("compile into a file outside (COMPILE-FILE)", "LM", True,
     '(with-open-file (out "own.lisp" :direction :output :if-exists :supersede) (print 1 out)) '
     '(or (compile-file "own.lisp" :output-file (at "made")) (refused))'),
    ("load a shared object from outside", "LM", True, '(load-shared-object (at "library.so"))'),
    ("save its core into a file outside", "*", False, '(save-lisp-and-die (at "made"))'),
    ("the same after undoing the refusal", "LM", False,
     "(without-package-locks (sb-int:unencapsulate 'save-lisp-and-die 'mishap-prelude::mishap)) (save-lisp-and-die (at \"made\"))"),
    ("write to the core that it runs from", "LM", True,
     '(with-open-file (out *core-pathname* :direction :io :if-exists :append) (and out t))'),
    ("open a device", "LM", True, '(with-open-file (in "/dev/zero" :element-type \'(unsigned-byte 8)) (read-byte in))'),
    ("read a setting of the kernel", "LM", True, '(first-line "/proc/sys/kernel/ostype")'),
    # Files, by native calls
    ("open()", "LM", True, '(opened (at "victim"))'),
    ("openat2()", "SLM", True, '(with-bytes (path (bytes (at "victim") 0)) (let ((path path)) (with-bytes (how (zeros 24)) '
     '(must (kernel 437 -100 path how 24)))))'),
    ("creat()", "LM", True, '(must (native "creat" (c-string (at "made")) (int #o600)))'),
    ("truncate()", "SM", True, '(must (native "truncate" (c-string (at "victim")) (long 0)))'),
    ("unlink()", "LM", True, '(must (native "unlink" (c-string (at "victim"))))'),
    ("rename()", "LM", True, '(must (native "rename" (c-string (at "victim")) (c-string (at "moved"))))'),
    ("mkdir()", "LM", True, '(must (native "mkdir" (c-string (at "made")) (int #o700)))'),
    ("link() into the temporary folder", "LM", False, '(must (native "link" (c-string (at "victim")) (c-string "hard"))) (opened "hard")'),
    ("chmod()", "SM", True, '(must (native "chmod" (c-string (at "victim")) (int #o777)))'),
    ("chown()", "SM", True, '(must (native "chown" (c-string (at "victim")) (int -1) (int -1)))'),
    ("utimes()", "SM", True, '(must (native "utimes" (c-string (at "victim")) (long 0)))'),
    ("setxattr()", "SM", False,
     '(must (native "setxattr" (c-string (at "victim")) (c-string "user.x") (c-string "x") (long 1) (int 0)))'),
    ("inotify_add_watch()", "SM", True,
     '(must (native "inotify_add_watch" (int (must (native "inotify_init" ))) (c-string *folder*) (int 2)))'),
    ("opendir() of /proc", "LM", True, '(pointer "opendir" (c-string "/proc"))'),
    ("write its own memory by /proc/self/mem", "LM", True, '(opened "/proc/self/mem" 2)'),
    # Programs and processes
    ("run a program (RUN-PROGRAM)", "SLM", True, '(run-program "/bin/sh" (list "-c" (concatenate \'string ": >" (at "made"))))'),
    ("execv() of a shell", "SLM", False, '(with-bytes (path (bytes "sh" 0)) (must (native "execl" (c-string "/bin/sh") (c-string "sh") '
     '(c-string "-c") (c-string (concatenate \'string ": >" (at "made"))) (long 0))))'),
    ("system()", "SLM", True, '(or (zerop (native "system" (c-string (concatenate \'string ": >" (at "made"))))) (refused))'),
    ("popen()", "S", True, '(pointer "popen" (c-string "cat /etc/passwd") (c-string "r"))'),
    ("posix_spawn()", "SLM", True,
     '(with-bytes (id (zeros 64)) (or (zerop (native "posix_spawn" (unsigned-long id) (c-string "/bin/true") (long 0) (long 0) '
     '(unsigned-long (+ id 32)) (long 0))) (refused)))'),
    ("fork()", "S", True, '(let ((id (must (native "fork")))) (when (zerop id) (native "_exit" (int 0))))'),
    ("clone3()", "S", False, '(permitted (kernel 435 0 0))'),
    ("trace another process (ptrace)", "SLPU", False, '(must (native "ptrace" (int 16) (int *pid*) (long 0) (long 0)))'),
    ("be traced by its parent (ptrace)", "S", False, '(must (native "ptrace" (int 0) (int 0) (long 0) (long 0)))'),
    ("signal another process (kill)", "SPL6", True, '(must (native "kill" (int *pid*) (int 18)))'),
    ("kill the keeper of the workers", "SPL6", False, '(must (native "kill" (int *parent*) (int *signal*)))'),
    ("kill all processes", "SP", False, '(must (native "kill" (int -1) (int 18)))'),
    ("signal another process (tgkill)", "SPL6", True, '(must (native "tgkill" (int *pid*) (int *pid*) (int 18)))'),
    ("signal another process (sigqueue)", "SPL6", True, '(must (native "sigqueue" (int *pid*) (int 18) (long 0)))'),
    ("have the kernel signal it (fcntl F_SETOWN)", "SP", True, '(must (native "fcntl" (int 3) (int 8) (int *pid*)))'),
    ("pidfd_open()", "SP", True, '(must (kernel 434 *pid*))'),
    ("read the memory of another process (process_vm_readv)", "SLPU", False,
     '(across "process_vm_readv")'),
    ("write the memory of another process (process_vm_writev)", "SLPU", False,
     '(across "process_vm_writev")'),
    ("read the memory of another process in /proc", "LMU", False, '(opened (proc "mem"))'),
    ("read the environment of another process", "LMU", True, '(opened (proc "environ"))'),
    ("read the command line of another process", "LM", True, '(first-line (proc "cmdline"))'),
    ("compare its files with those of another process (kcmp)", "SLPU", False,
     '(must (kernel (number-of "kcmp") (native "getpid") *pid* 2 0 0))'),
    ("learn the session of another process (getsid)", "SP", True, '(must (native "getsid" (int *pid*)))'),
    ("slow another process down (setpriority)", "SP", True, '(must (native "setpriority" (int 0) (int *pid*) (int 5)))'),
    ("read the limits of another process (prlimit)", "SP", True,
     '(with-bytes (limit (zeros 16)) (must (native "prlimit" (int *pid*) (int 7) (long 0) (unsigned-long limit))))'),
    ("begin a session (setsid)", "S", False, '(permitted (native "setsid"))'),
    # The network
    ("connect with sb-bsd-sockets", "SNL4", True,
     '(require "SB-BSD-SOCKETS") (funcall (find-symbol "SOCKET-CONNECT" "SB-BSD-SOCKETS") (make-instance (find-symbol "INET-SOCKET" '
     '"SB-BSD-SOCKETS") :type :stream :protocol :tcp) (vector 127 0 0 1) *port*)'),
    ("listen with sb-bsd-sockets", "SL4", True,
     '(require "SB-BSD-SOCKETS") (funcall (find-symbol "SOCKET-BIND" "SB-BSD-SOCKETS") (make-instance (find-symbol "INET-SOCKET" '
     '"SB-BSD-SOCKETS") :type :stream :protocol :tcp) (vector 127 0 0 1) (+ 20000 (random 20000 (make-random-state t))))'),
    ("connect()", "SNL4", True, '(connected 2 1 (at-port))'),
    ("send a datagram", "SN", True, '(let ((socket (new-socket 2 2))) (with-bytes (to (at-port)) '
     '(must (native "sendto" (int socket) (c-string "x") (long 1) (int 0) (unsigned-long to) (int 16)))))'),
    ("make a socket for IPv6", "S", False, '(new-socket 10 1)'),
    ("make a socket for netlink", "S", True, '(new-socket 16 3)'),
    ("make a raw socket", "SUC", False, '(must (native "socket" (int 2) (int 3) (int 1)))'),
    ("make a socket to the host of a virtual machine", "S", False, '(new-socket 40 1)'),
    ("make a pair of sockets", "S", True, '(with-bytes (pair (zeros 8)) (must (native "socketpair" (int 1) (int 1) (int 0) (unsigned-long pair))))'),
    ("connect to a socket by its path", "SM", True, '(connected 1 1 (bytes 1 0 (at "socket") 0))'),
    ("connect to an abstract socket", "SNL6", True, '(connected 1 1 (bytes 1 0 0 *abstract*))'),
    ("send a descriptor over its socket (sendmsg)", "S", True, '(permitted (native "sendmsg" (int 3) (long 0) (int 0)))'),
    # The machine
    ("attach shared memory of others", "SI", True, '(must (native "shmget" (int *key*) (long 0) (int 0)))'),
    ("open a message queue of others", "SI", True, '(must (native "msgget" (int *key*) (int 0)))'),
    ("open semaphores of others", "SI", True, '(must (native "semget" (int *key*) (int 0) (int 0)))'),
    ("learn the name of the host", "H", True, '(if (search *host* (machine-instance)) t (refused "another name"))'),
    ("set the name of the host", "SUC", False, '(permitted (native "sethostname" (c-string "x") (long -1)))'),
    ("mount()", "SLUC", False, '(must (native "mount" (c-string "none") (c-string "/") (c-string "tmpfs") (long 0) (long 0)))'),
    ("umount2()", "SUC", False, '(permitted (native "umount2" (c-string "/") (int 4)))'),
    ("unshare() of its mounts", "SUC", False, '(must (native "unshare" (int #x20000)))'),
    ("unshare() of its user namespace", "S", False, '(permitted (native "unshare" (int #x10000000)))'),
    ("chroot()", "SUC", False, '(must (native "chroot" (c-string "/")))'),
    ("pivot_root()", "SLUC", False, '(with-bytes (path (bytes "/" 0)) (permitted (kernel (number-of "pivot-root") path path)))'),
    ("become another user (setuid)", "SUC", False, '(must (native "setuid" (int 12345)))'),
    ("set its groups", "SUC", False, '(must (native "setgroups" (long 0) (long 0)))'),
    ("raise its priority (nice)", "SUC", False, '(must (native "setpriority" (int 0) (int 0) (int -10)))'),
    ("raise a limit (setrlimit)", "SUC", False,
     '(with-bytes (limit (zeros 16)) (must (native "getrlimit" (int 7) (unsigned-long limit))) (add-one limit 11) (add-one limit 3) '
     '(must (native "setrlimit" (int 7) (unsigned-long limit))))'),
    ("choose its processor", "S", True, '(with-bytes (set (zeros 128)) (must (native "sched_getaffinity" (int 0) (long 128) (unsigned-long set))) '
     '(must (native "sched_setaffinity" (int 0) (long 128) (unsigned-long set))))'),
    ("lock memory", "S", True, '(with-bytes (page (zeros 4096)) (permitted (native "mlock" (unsigned-long page) (long 4096))))'),
    ("hide from its parent (PR_SET_DUMPABLE)", "S", True, '(must (native "prctl" (int 4) (long 0) (long 0) (long 0) (long 0)))'),
    ("outlive its parent (PR_SET_PDEATHSIG)", "S", True, '(must (native "prctl" (int 1) (long 0) (long 0) (long 0) (long 0)))'),
    ("change its personality", "S", True, '(must (native "personality" (long #x40000)))'),
    ("type into a terminal (TIOCSTI)", "S", True, '(permitted (native "ioctl" (int 3) (long #x5412) (long 0)))'),
    ("io_uring", "S", False, '(permitted (kernel 425 8 0))'),
    ("load a program into the kernel (bpf)", "S", False, '(permitted (kernel (number-of "bpf") 0 0 0))'),
    ("load a module into the kernel", "SUC", False, '(permitted (kernel (number-of "init-module") 0 0 0))'),
    ("swap to a file", "SUC", False, '(permitted (native "swapon" (c-string "/nowhere") (int 0)))'),
    ("account processes to a file", "SUC", False, '(permitted (native "acct" (c-string "/nowhere")))'),
    ("read the log of the kernel", "S", False, '(permitted (native "klogctl" (int 10) (long 0) (int 0)))'),
    ("use the keyrings of the kernel", "S", False, '(permitted (kernel (number-of "add-key") 0 0 0 0 0))'),
    ("handle page faults of the kernel (userfaultfd)", "S", False, '(permitted (kernel (number-of "userfaultfd") 1))'),
    ("count events of the processor (perf_event_open)", "S", False, '(permitted (kernel (number-of "perf") 0 0 -1 -1 0))'),
    # Its own process
    ("find a variable in its environment (POSIX-ENVIRON)", "*", False, '(or (remove "SBCL_" (posix-environ) :test (lambda (x y) (eql 0 (search x y)))) (refused))'),
    ("find a descriptor that it was not given", "*", False,
     '(loop for file from 4 to 63 when (>= (native "fcntl" (int file) (int 1)) 0) collect file into found '
     'finally (return (or found (refused))))'),
    ("write to descriptors that it was not given", "*", False,
     '(loop for file from 20 to 63 when (plusp (native "write" (int file) (c-string "x") (long 1))) return t finally (refused))'),
    ("write no message to its socket", "*", False, '(native "write" (int 3) (c-string "garbage") (long 7)) (sleep 60)'),
    ("close its socket", "*", False, '(native "close" (int 3))'),
    ("read memory at any address", "*", False, '(sb-sys:sap-ref-8 (sb-sys:int-sap 4096) 0)'),
    ("write memory at any address", "*", False, '(setf (sb-sys:sap-ref-8 (sb-sys:int-sap 4096) 0) 1)'),
    ("write over its own heap", "*", False,
     '(native "memset" (unsigned-long sb-vm:dynamic-space-start) (int 90) (long 20000000)) (gc :full t)'),
    ("end its process (_exit)", "*", False, '(native "_exit" (int 0))'),
    ("end its process (abort)", "*", False, '(native "abort")'),
    ("end its process (EXIT)", "*", False, '(exit :code 0 :abort t)'),
    # Exhausting
    ("take shared memory without a file", "S", True, '(pointer "mmap" (long 0) (long 1000000) (int 3) (int 33) (int -1) (long 0))'),
    ("make more timers (timer_create)", "*", False, '(with-bytes (id (zeros 8)) (must (native "timer_create" (int 1) (long 0) (unsigned-long id))))'),
    ("install a further filter of system calls (seccomp)", "*", False, "(permitted (kernel #+arm64 277 #+x86-64 317 1 0 0))"),
    ("make a pipe", "S", True, '(with-bytes (ends (zeros 8)) (must (native "pipe" (unsigned-long ends))))'),
    ("take memory with malloc()", "R", True, '(loop repeat 20 do (pointer "malloc" (long 50000000)))'),
    ("take memory with mmap()", "R", True,
     '(loop repeat 20 do (pointer "mmap" (long 0) (long 50000000) (int 3) (int 34) (int -1) (long 0)))'),
    ("fill the heap", "*", False, '(let ((all nil)) (loop (push (make-array 100000) all)))'),
    ("exhaust the stack", "*", False, '(labels ((deeper (x) (+ 1 (deeper (1+ x))))) (deeper 0))'),
    ("open more files than its limit", "R", True, '(loop repeat 100 do (must (native "dup" (int 0))))'),
    ("start threads without end", "RG", True, '(loop repeat 400 do (sb-thread:make-thread (lambda () (sleep 600))))'),
    ("fill the temporary folder with one file", "MR", True,
     '(with-open-file (out "large" :direction :output :element-type \'(unsigned-byte 8) :if-exists :supersede) '
     '(loop repeat 40 do (write-sequence (zeros 1000000) out)))'),
    ("compute for ever", "*", False, '(loop)'),
]]


def lisp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def table():
    return rows.table(ATTEMPTS)


if __name__ == "__main__":
    print("\n".join(table()))
