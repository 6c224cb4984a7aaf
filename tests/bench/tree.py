"""A tree of processes that use a known amount of CPU time, for processes_test.py:

    tree.py SECONDS

At the first line of input, the process, a child that stays, the child's child that ends, and that one's child that ends before it use so
many seconds each. Then it says how many seconds that are in all, and waits for the end of its input.
"""
import os
import sys
import threading
import time

seconds = float(sys.argv[1])


def use():
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def ends(inside=None):
    """A process that uses CPU time and ends."""
    pid = os.fork()
    if pid == 0:
        if inside:
            inside()
        use()
        os._exit(0)
    os.waitpid(pid, 0)


def stays(done):
    """A process that uses CPU time and waits for the end of its parent, with processes below it that end."""
    pid = os.fork()
    if pid == 0:
        ends(ends)
        use()
        os.write(done, b".")
        sys.stdin.read()
        os._exit(0)


done, by = os.pipe()
print("ready", flush=True)
sys.stdin.readline()
stays(by)
thread = threading.Thread(target=use)  # a thread that ended counts, too
thread.start()
thread.join()
os.read(done, 1)
print(4 * seconds, flush=True)
sys.stdin.read()
